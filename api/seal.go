package api

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
)

// Encryption at rest. A queue with encryptionEnabled holds envelopes only, which
// the functions see to; the server seals what goes in and opens what goes out.
//
// Whoever stores payloads: ask sealer.guess whether the queue is encrypted, pass
// each payload through sealer.pack, and send the guess along as p_sealed. It
// decides nothing: the functions refuse a group that was guessed wrong with
// QN409. Then call sealer.learn and send it again. sealer.missing is the error of
// a group that this server has no key for.
//
// Whoever answers with payloads: pass each through sealer.open, or sealer.reveal
// where the answer says isEncrypted.

// The sizes of an envelope. Of the 16 bytes of the iv the first 12 are the nonce.
const (
	sealKeyBytes = 32
	sealIVBytes  = 16
	nonceBytes   = 12
	tagBytes     = 16
	maxKeyID     = 64
)

// envelope is the stored form of a sealed payload. Its base64 is padded.
type envelope struct {
	Encrypted string `json:"encrypted"`
	IV        string `json:"iv"`
	AuthTag   string `json:"authTag"`
	KeyID     string `json:"kid"`
}

// sealKey is one AES-256-GCM key and what envelopes call it.
type sealKey struct {
	id   string
	aead cipher.AEAD
}

// sealer holds the keys of a server. It never shows a key or a payload.
type sealer struct {
	current *sealKey            // seals; nil: pushes to encrypted queues are refused
	keys    map[string]*sealKey // open, by id
	log     *slog.Logger
	warned  atomic.Int64 // unix nanoseconds of the last complaint

	sealKnowledge
}

// errNoKey refuses what would otherwise be stored as plaintext.
var errNoKey = &Error{Text: "the queue is encrypted and this server has no usable encryption key", Code: "QN503", Retryable: true, status: http.StatusServiceUnavailable}

var errBadKey = errors.New("is not 64 hexadecimal characters")

// newSealer reads the keys: current is 64 hexadecimal characters or empty, others
// is id:hex,... A bad current key is the same as none, said once; bad others are
// an error, since messages could not be read.
func newSealer(current, others string, log *slog.Logger) (*sealer, error) {
	s := &sealer{keys: map[string]*sealKey{}, log: log}
	s.sealed, s.doubts = map[queueKey]uint64{}, map[string]sealDoubt{}
	names, err := s.addOthers(others)
	if err != nil || current == "" {
		return s, err
	}
	key, err := parseKey(current)
	if err != nil {
		log.Warn("QUEEN_ENCRYPTION_KEY is not usable; pushes to encrypted queues are refused", "error", err)
		return s, nil
	}
	s.current = s.add(names[string(key)], key)
	return s, nil
}

// addOthers reads REGENT_ENCRYPTION_KEYS, and returns the ids by key.
func (s *sealer) addOthers(others string) (map[string]string, error) {
	names := map[string]string{}
	for i, entry := range strings.Split(others, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		id, text, _ := strings.Cut(entry, ":")
		key, err := parseKey(text)
		switch id = strings.TrimSpace(id); {
		case !isKeyID(id):
			return nil, fmt.Errorf("REGENT_ENCRYPTION_KEYS: entry %d must be id:key with an id of letters, digits, '.', '_' and '-'", i+1)
		case err != nil:
			return nil, fmt.Errorf("REGENT_ENCRYPTION_KEYS: the key of entry %d %w", i+1, err)
		case s.keys[id] != nil:
			return nil, fmt.Errorf("REGENT_ENCRYPTION_KEYS: entry %d repeats an id", i+1)
		}
		s.add(id, key)
		names[string(key)] = id
	}
	return names, nil
}

func parseKey(text string) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != sealKeyBytes {
		return nil, errBadKey
	}
	return key, nil
}

func isKeyID(id string) bool {
	return id != "" && len(id) <= maxKeyID && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") == ""
}

// add makes a key known by id and by its fingerprint, which is its id where it
// has no other. So an old key opens what it sealed under whatever id it is kept.
func (s *sealer) add(id string, key []byte) *sealKey {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the length was checked
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(append([]byte("regent key id\x00"), key...))
	print := hex.EncodeToString(sum[:8])
	if id == "" {
		id = print
	}
	k := &sealKey{id: id, aead: aead}
	s.keys[id] = k
	if s.keys[print] == nil {
		s.keys[print] = k
	}
	return k
}

// size is what a payload of n bytes takes in a call, at most.
func (s *sealer) size(n int) int {
	if s.current == nil {
		return n
	}
	return n + n/3 + 128 + len(s.current.id)
}

// guess says whether payloads for the queue are sent sealed.
func (s *sealer) guess(queue queueKey) bool {
	if s.current == nil {
		return false
	}
	return s.expects(queue)
}

// spooling is why payloads of the queue may not be kept on a disk, nil where they
// may: they are sealed with the key, or the queue is not encrypted.
func (s *sealer) spooling(queue queueKey) error {
	if s.current != nil {
		return nil
	}
	return s.plain(queue)
}

// missing is the error of a group of an encrypted queue that was sent as it was,
// nil when there is a key to send it again with.
func (s *sealer) missing() error {
	if s.current != nil {
		return nil
	}
	s.warn("a push to an encrypted queue was refused; QUEEN_ENCRYPTION_KEY is missing or bad")
	return errNoKey
}

// pack is the payload as it is sent. One for a plain queue that is an envelope of
// a key of ours is sealed once more, or it would not come back as it was sent.
func (s *sealer) pack(payload string, sealed bool) string {
	if sealed {
		return s.current.seal(payload)
	}
	if len(s.keys) > 0 {
		if _, key := s.try(payload); key != nil {
			return key.seal(payload)
		}
	}
	return payload
}

// open is a stored payload as it was sent, whatever the queue's flag says now:
// an envelope that none of the keys opens stays one.
func (s *sealer) open(payload string) string {
	if len(s.keys) == 0 {
		return payload
	}
	text, key := s.try(payload)
	if key == nil && isEnvelope(payload) {
		s.warn("a payload that looks sealed was delivered as it is; its key may be missing from REGENT_ENCRYPTION_KEYS")
	}
	return text
}

// reveal is a payload to show and whether it is stored sealed; without one, null.
func (s *sealer) reveal(payload *string) (text string, encrypted bool) {
	if payload == nil {
		return "null", false
	}
	return s.open(*payload), isEnvelope(*payload)
}

// openAll opens payloads in their place.
func (s *sealer) openAll(payloads []string) {
	if len(s.keys) == 0 {
		return
	}
	for i := range payloads {
		payloads[i] = s.open(payloads[i])
	}
}

// warn logs once a minute at most.
func (s *sealer) warn(text string) {
	now, last := time.Now().UnixNano(), s.warned.Load()
	if now-last > int64(time.Minute) && s.warned.CompareAndSwap(last, now) {
		s.log.Warn(text)
	}
}

// isEnvelope says whether a stored payload has the shape of an envelope.
func isEnvelope(payload string) bool {
	_, ok := readEnvelope(payload)
	return ok
}

// readEnvelope reads an object of exactly four strings.
func readEnvelope(payload string) (e envelope, ok bool) {
	if !strings.Contains(payload, `"authTag"`) {
		return e, false
	}
	err := jsonv2.Unmarshal([]byte(payload), &e, jsonv2.RejectUnknownMembers(true))
	return e, err == nil && e.Encrypted != "" && e.IV != "" && e.AuthTag != "" && e.KeyID != ""
}

// try opens an envelope and names the key that did. Without one it returns the
// payload as it is.
func (s *sealer) try(payload string) (string, *sealKey) {
	e, ok := readEnvelope(payload)
	key := s.keys[e.KeyID]
	if !ok || key == nil {
		return payload, nil
	}
	code := base64.StdEncoding.Strict()
	iv, ivErr := code.DecodeString(e.IV)
	tag, tagErr := code.DecodeString(e.AuthTag)
	data, err := code.DecodeString(e.Encrypted)
	if err = errors.Join(ivErr, tagErr, err); err != nil || len(iv) != sealIVBytes || len(tag) != tagBytes {
		return payload, nil
	}
	text, err := key.aead.Open(nil, iv[:nonceBytes], append(data, tag...), nil)
	if err != nil {
		return payload, nil
	}
	return string(text), key
}

// seal encrypts a payload under a nonce of its own.
func (k *sealKey) seal(payload string) string {
	iv := make([]byte, sealIVBytes)
	_, _ = rand.Read(iv) // never fails
	data := k.aead.Seal(make([]byte, 0, len(payload)+tagBytes), iv[:nonceBytes], []byte(payload), nil)
	data, tag := data[:len(payload)], data[len(payload):]
	out := make([]byte, 0, len(payload)*4/3+160)
	out = base64.StdEncoding.AppendEncode(append(out, `{"encrypted":"`...), data)
	out = base64.StdEncoding.AppendEncode(append(out, `","iv":"`...), iv)
	out = base64.StdEncoding.AppendEncode(append(out, `","authTag":"`...), tag)
	return string(append(append(append(out, `","kid":"`...), k.id...), `"}`...))
}
