package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
)

// What a server without a key knows of which queues are encrypted, so that it keeps
// nothing of theirs on its disk when the database goes away. It hears of them when it
// looks, twice a second; when a call of its own is refused or tells so; and from the
// database, which notifies when a queue becomes encrypted, whoever switched it.
//
// What it hears takes a turn of its own. Only a look that began later takes it back:
// one that was under way may have been answered before.

// looksHold is how much older than what the database answered last, or did not
// answer, the last look may be. It is there for looks that fail while other calls do
// not, and for servers that seldom look: while all is well, half a second is.
const looksHold = 30 * time.Second

// maxSealDoubts bounds the queues that are in doubt.
const maxSealDoubts = 10_000

// errUntold refuses what may be for an encrypted queue.
var errUntold = &Error{Text: "the database is away, and this server has no encryption key and has not heard yet which queues are encrypted", Code: "QN503", Retryable: true, status: http.StatusServiceUnavailable}

// errUnsure refuses what may be for a queue that was encrypted lately.
var errUnsure = &Error{Text: "this server has no encryption key and could not ask the database whether the queue is encrypted by now", Code: "QN503", Retryable: true, status: http.StatusServiceUnavailable}

// sealKnowledge is which queues are encrypted, as far as this server heard.
type sealKnowledge struct {
	answered atomic.Int64 // unix nanoseconds of the last answer of the database

	mu      sync.RWMutex
	sealed  map[queueKey]uint64  // encrypted when last heard of, and the turn of that
	doubts  map[string]sealDoubt // may be encrypted, by sealHash
	turn    uint64
	listed  uint64    // the turn of the last look; 0 before the first
	learned int       // how many of sealed the last look did not tell of
	loose   int       // open calls that switch queues for which doubts had no room
	forgot  uint64    // the turn when some were forgotten; a later look knows them all
	looked  time.Time // when the last look that was answered began
	missed  time.Time // when the first one since that was not answered began
	tried   time.Time // when the last one that was not answered ended
}

// sealDoubt is a queue that may be encrypted since the turn, which is 0 where it
// is not, or while calls that switch it are open.
type sealDoubt struct {
	turn uint64
	open int
}

// sealLook is a look that began.
type sealLook struct {
	turn uint64
	at   time.Time
}

// sealHash stands for a queue where the database tells that it is encrypted now.
func sealHash(tenant uuid.UUID, queue string) string {
	sum := sha256.Sum256([]byte(tenant.String() + " " + queue))
	return hex.EncodeToString(sum[:8])
}

// expects says whether the queue was encrypted when last heard of.
func (k *sealKnowledge) expects(queue queueKey) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	_, sealed := k.sealed[queue]
	return sealed
}

// plain is why a queue may not be taken for one that is not encrypted; nil where it may.
func (k *sealKnowledge) plain(queue queueKey) error {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if _, sealed := k.sealed[queue]; sealed {
		return errNoKey
	}
	if k.listed <= k.forgot || k.loose > 0 {
		return errUntold
	}
	if k.overtaken() || k.missed.Sub(k.looked) > looksHold {
		return errUnsure
	}
	if len(k.doubts) > 0 {
		if _, doubtful := k.doubts[sealHash(queue.tenant, queue.queue)]; doubtful {
			return errUnsure
		}
	}
	return nil
}

// overtaken reports whether the database answered other calls long after the last
// look; the caller holds the lock.
func (k *sealKnowledge) overtaken() bool {
	return time.Unix(0, k.answered.Load()).Sub(k.looked) > looksHold
}

// blind reports whether the last look failed, and whether that was lately.
func (k *sealKnowledge) blind() (failing, lately bool) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	failing = !k.missed.IsZero()
	return failing, failing && time.Since(k.tried) < switchesEvery
}

// retry lets the next look be at once.
func (k *sealKnowledge) retry() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tried = time.Time{}
}

// now is the turn of the last that was heard.
func (k *sealKnowledge) now() uint64 {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.turn
}

// listedSince reports whether a look that began after the turn was answered.
func (k *sealKnowledge) listedSince(turn uint64) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.listed > turn
}

// begin is called before a look.
func (k *sealKnowledge) begin() sealLook {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn++
	return sealLook{k.turn, time.Now()}
}

// miss notes a look that was not answered.
func (k *sealKnowledge) miss(look sealLook) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.missed.IsZero() {
		k.missed = look.at
	}
	k.tried = time.Now()
}

// list takes over what the database answered to a look. What was heard since the
// look began stays.
func (k *sealKnowledge) list(rows []db.EncryptedQueueRow, look sealLook) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for queue, turn := range k.sealed {
		if turn <= look.turn {
			delete(k.sealed, queue)
		}
	}
	for hash, d := range k.doubts {
		if d.turn <= look.turn {
			d.turn = 0
			k.note(hash, d)
		}
	}
	k.learned = len(k.sealed)
	k.turn++
	for _, r := range rows {
		k.sealed[queueKey{r.TenantID, r.Queue}] = k.turn
	}
	k.listed, k.missed = max(k.listed, look.turn), time.Time{}
	if look.at.After(k.looked) {
		k.looked = look.at
	}
}

// learn notes that the functions refused payloads that were sent sealed, or not.
func (k *sealKnowledge) learn(queue queueKey, sent bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if sent {
		delete(k.sealed, queue)
		return
	}
	k.turn++
	if _, known := k.sealed[queue]; !known {
		if k.learned++; k.learned > maxOwners {
			k.sealed, k.forgot, k.learned = map[queueKey]uint64{}, k.turn, 1
		}
	}
	k.sealed[queue] = k.turn
}

// doubt notes that a queue may be encrypted by now, until a look that begins later
// says that it is not.
func (k *sealKnowledge) doubt(hash string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.turn++
	d, known := k.doubts[hash]
	if !known && len(k.doubts) >= maxSealDoubts {
		k.forgot = k.turn // a look decides about all
		return
	}
	d.turn = k.turn
	k.doubts[hash] = d
}

// note keeps a doubt while there is a reason for it; the caller holds the lock.
func (k *sealKnowledge) note(hash string, d sealDoubt) {
	if k.doubts[hash] = d; d == (sealDoubt{}) {
		delete(k.doubts, hash)
	}
}

// switching begins a call that may encrypt a queue, which is in doubt until end is
// called. Where the statement may have left this server it stays so until the next
// look, however the call ended.
func (k *sealKnowledge) switching(hash string) (end func(left bool)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d, known := k.doubts[hash]
	if !known && len(k.doubts) >= maxSealDoubts {
		k.loose++ // all are in doubt
		return k.tighten
	}
	d.open++
	k.doubts[hash] = d
	return func(left bool) { k.decided(hash, left) }
}

// decided ends a call that switching noted.
func (k *sealKnowledge) decided(hash string, left bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	d := k.doubts[hash]
	d.open--
	if left {
		k.turn++
		d.turn = k.turn
	}
	k.note(hash, d)
}

// tighten ends a call that switching had no room for.
func (k *sealKnowledge) tighten(left bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.loose--
	if left {
		k.turn++
		k.forgot = k.turn
	}
}
