package api

import (
	"container/list"
	"context"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"regent.local/regent/db"
)

// watchEvery is how often the database is asked for work that nobody told of,
// while somebody is parked.
const watchEvery = 250 * time.Millisecond

// rearmEvery is how often the groups of parked pops are noted as active. The
// shortest groupIdleSeconds is five minutes.
const rearmEvery = time.Minute

// queueKey names a queue.
type queueKey struct {
	tenant uuid.UUID
	queue  string
}

// hash stands for a queue in notifications: names never travel (F195).
func (k queueKey) hash() string {
	h := fnv.New64a()
	h.Write(k.tenant[:])
	h.Write([]byte(k.queue))
	return strconv.FormatUint(h.Sum64(), 36)
}

// lineKey names what a parked pop waits for.
type lineKey struct {
	queueKey
	partition string
	pinned    bool
	labels    labels // of a pop by discovery, whose queue is discoveryQueue
	group     string
}

// line is the parked pops that wait for the same thing. An event wakes one of
// them. What more was announced is owed: a pop that found something wakes the
// next, one that found nothing ends the chain. So a thousand waiters cost no
// thousand claims, and none is forgotten.
type line struct {
	key     lineKey
	waiters list.List // of *waiter, next to be woken first
	owed    int
	told    uint64 // events so far, to see whether one came during a claim
	// hot are partitions that something came to or that are free again: where a claim
	// looks first. No wake depends on it, for whoever finds nothing there searches.
	hot []uuid.UUID
	// looked is when the last search that ended well began.
	looked time.Time

	// Rechecks by the watcher that found nothing, in a row, and when the next is due.
	misses int
	due    time.Time
}

// waiter is one parked pop. It is enrolled while it claims, too: an event
// between an empty claim and the wait for the signal is kept (F045).
type waiter struct {
	line   *line
	place  *list.Element
	signal chan struct{}
	gone   bool // the queue was deleted
}

// waitroom holds the parked pops of this process. They hold no connection.
type waitroom struct {
	mu     sync.Mutex
	lines  map[lineKey]*line
	queues map[queueKey]map[*line]struct{}
	filled chan struct{} // somebody came into an empty room
}

func newWaitroom() *waitroom {
	return &waitroom{lines: map[lineKey]*line{}, queues: map[queueKey]map[*line]struct{}{}, filled: make(chan struct{}, 1)}
}

// enter enrols a pop; it must leave.
func (r *waitroom) enter(key lineKey) *waiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[key]
	if l == nil {
		l = &line{key: key}
		r.lines[key] = l
		if r.queues[key.queueKey] == nil {
			r.queues[key.queueKey] = map[*line]struct{}{}
		}
		r.queues[key.queueKey][l] = struct{}{}
	}
	w := &waiter{line: l, signal: make(chan struct{}, 1)}
	w.place = l.waiters.PushBack(w)
	select {
	case r.filled <- struct{}{}:
	default:
	}
	return w
}

// leave ends a wait. A signal that was not used goes to the next in line, and so
// does one that is owed when the pop took something.
func (r *waitroom) leave(w *waiter, took bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := w.line
	l.waiters.Remove(w.place)
	if l.waiters.Len() == 0 {
		delete(r.lines, l.key)
		delete(r.queues[l.key.queueKey], l)
		if len(r.queues[l.key.queueKey]) == 0 {
			delete(r.queues, l.key.queueKey)
		}
		return
	}
	if took {
		l.misses, l.due = 0, time.Time{}
	}
	if len(w.signal) > 0 {
		l.wake()
	} else if took && l.owed > 0 {
		l.owed--
		l.wake()
	}
}

// mark is taken before a claim, for nothing. It says, too, whether the queue is gone.
func (r *waitroom) mark(w *waiter) (told uint64, gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return w.line.told, w.gone
}

// deleted ends the waits for the queue with a hash.
func (r *waitroom) deleted(hash string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, lines := range r.queues {
		if key.hash() != hash {
			continue
		}
		for l := range lines {
			l.end()
		}
	}
}

// end sends everybody of a line home.
func (l *line) end() {
	for e := l.waiters.Front(); e != nil; e = e.Next() {
		w := e.Value.(*waiter)
		w.gone = true
		w.notify()
	}
}

// notify gives a pop a signal, unless it has one, and reports whether it did.
func (w *waiter) notify() bool {
	select {
	case w.signal <- struct{}{}:
		return true
	default:
		return false
	}
}

// searched notes a search that ended well, and when it began.
func (r *waitroom) searched(key lineKey, began time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lines[key]; l != nil && began.After(l.looked) {
		l.looked = began
	}
}

// searchedSince reports whether a search that ended well began after a moment.
func (r *waitroom) searchedSince(key lineKey, moment time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[key]
	return l != nil && l.looked.After(moment)
}

// nothing notes a claim that found nothing: what was owed before it is settled.
func (r *waitroom) nothing(w *waiter, mark uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.line.told == mark {
		w.line.owed = 0
	}
}

// wake signals the first in line. One that has a signal already will look after
// this moment, so it counts for this event, and the rest is owed.
func (l *line) wake() {
	l.told++
	first := l.waiters.Front()
	if first == nil {
		return
	}
	if first.Value.(*waiter).notify() {
		l.waiters.MoveToBack(first)
	} else {
		l.owed = min(l.owed+1, l.waiters.Len())
	}
}

// maxHot bounds the partitions that a line remembers; the search finds the others.
const maxHot = 256

// warm notes where the lines of a queue may find something, those of one group or,
// where none is named, of all. It comes before the event that wakes them.
func (r *waitroom) warm(queue queueKey, group string, partition uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.queues[queue] {
		if !l.key.pinned && (group == "" || l.key.group == group) {
			l.warm(partition)
		}
	}
}

func (l *line) warm(partitions ...uuid.UUID) {
	for _, id := range partitions {
		if len(l.hot) < maxHot && !slices.Contains(l.hot, id) {
			l.hot = append(l.hot, id)
		}
	}
}

// takeHot takes up to n of the partitions that a line remembers, oldest first.
func (r *waitroom) takeHot(key lineKey, n int) []uuid.UUID {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[key]
	if l == nil {
		return nil
	}
	n = min(n, len(l.hot))
	taken := slices.Clone(l.hot[:n])
	l.hot = slices.Delete(l.hot, 0, n)
	return taken
}

// giveHot gives back what was taken and not looked at.
func (r *waitroom) giveHot(key lineKey, partitions []uuid.UUID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l := r.lines[key]; l != nil {
		l.warm(partitions...)
	}
}

// event wakes a line for something that did happen.
func (l *line) event() {
	l.misses, l.due = 0, time.Time{}
	l.wake()
}

// pushed wakes the lines that wait for a partition.
func (r *waitroom) pushed(tenant uuid.UUID, queue, partition string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.queues[queueKey{tenant, queue}] {
		if !l.key.pinned || l.key.partition == partition {
			l.event()
		}
	}
	for l := range r.queues[queueKey{tenant, discoveryQueue}] { // any push of the tenant
		l.event()
	}
}

// released wakes the lines of a group: a partition of the queue is free again.
func (r *waitroom) released(queue queueKey, group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for l := range r.queues[queue] {
		if l.key.group == group {
			l.event()
		}
	}
	if queue.queue == discoveryQueue {
		return
	}
	for l := range r.queues[queueKey{queue.tenant, discoveryQueue}] {
		if l.key.group == group {
			l.event()
		}
	}
}

// moved wakes every pop of a group whose cursors were moved, on one queue, or on
// all queues of the tenant when none is given.
func (r *waitroom) moved(tenant uuid.UUID, queue *string, group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, l := range r.lines {
		if key.tenant == tenant && key.group == group && (queue == nil || key.queue == *queue || key.queue == discoveryQueue) {
			l.event()
			l.owed = l.waiters.Len()
		}
	}
}

// told wakes the lines of the queue with a hash, "" for all queues. How much
// there is to find is not known.
func (r *waitroom) told(hash string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, lines := range r.queues {
		if hash != "" && key.hash() != hash && key.queue != discoveryQueue {
			continue
		}
		for l := range lines {
			l.event()
			l.owed = l.waiters.Len()
		}
	}
}

// overdue lists the lines that the watcher asks for now.
func (r *waitroom) overdue(now time.Time) []lineKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	keys := make([]lineKey, 0, len(r.lines))
	for key, l := range r.lines {
		if !l.due.After(now) {
			keys = append(keys, key)
		}
	}
	return keys
}

// recheck wakes a line on the word of the watcher, which may be wrong: after
// some that were, the line is asked for less often.
func (r *waitroom) recheck(key lineKey, interval func(misses int) time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.lines[key]
	if l == nil {
		return
	}
	l.misses++
	l.due = time.Now().Add(interval(l.misses))
	l.wake()
	l.owed = l.waiters.Len()
}

// recheckInterval grows with the number of rechecks in vain (O-50).
func (s *Server) recheckInterval(misses int) time.Duration {
	interval := float64(s.cfg.PopWaitInitial)
	for n := s.cfg.PopWaitThreshold; n < misses && interval < float64(s.cfg.PopWaitMax); n++ {
		interval *= s.cfg.PopWaitFactor
	}
	return min(time.Duration(interval), max(s.cfg.PopWaitMax, s.cfg.PopWaitInitial))
}

// watch asks, while anybody is parked, which lines may have something: messages
// pushed by psql or by a server that could not tell, delays that are over, leases
// that ran out. One query for all lines.
func (s *Server) watch(ctx context.Context) {
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.room.filled:
		}
		armed := time.Now() // by the pops that came
		for pause(ctx, watchEvery) {
			keys := s.room.overdue(time.Now())
			if len(keys) == 0 && s.room.empty() {
				break
			}
			err := s.probe(ctx, keys)
			if err == nil && time.Since(armed) >= rearmEvery {
				armed = time.Now()
				err = s.rearm(ctx, s.room.waiting())
			}
			if err != nil && !failing && ctx.Err() == nil {
				s.log.WarnContext(ctx, "parked pops cannot be rechecked", "error", clip(err.Error(), 300))
			}
			failing = err != nil
		}
	}
}

// parked counts the parked pops of each queue; those by discovery are of none.
func (r *waitroom) parked() map[queueKey]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := make(map[queueKey]int, len(r.queues))
	for key, lines := range r.queues {
		for l := range lines {
			count[key] += l.waiters.Len()
		}
	}
	return count
}

func (r *waitroom) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.lines) == 0
}

// probe asks for the lines and wakes those that may have something.
func (s *Server) probe(ctx context.Context, keys []lineKey) error {
	if len(keys) == 0 {
		return nil
	}
	queues, discoveries := pendingArguments(keys)
	return s.ask(ctx, func(ctx context.Context, q querier) error {
		if s.switches.stale() {
			if err := s.look(ctx, q); err != nil {
				return err
			}
		}
		if len(queues.keys) > 0 {
			found, err := q.Pending(ctx, queues.args)
			if err != nil {
				return err
			}
			s.found(queues.keys, found)
		}
		if len(discoveries.keys) == 0 {
			return nil
		}
		found, err := q.PendingDiscovery(ctx, discoveries.args)
		if err != nil {
			return err
		}
		s.found(discoveries.keys, found)
		return nil
	})
}

// waiting lists all lines.
func (r *waitroom) waiting() []lineKey {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.lines))
}

// rearm notes that the groups of the lines are active, which a pop that is
// parked does not do by itself.
func (s *Server) rearm(ctx context.Context, keys []lineKey) error {
	if len(keys) == 0 {
		return nil
	}
	var p db.TouchGroupsParams
	for _, key := range keys {
		queue := &key.queue
		if key.queue == discoveryQueue {
			queue = nil
		}
		p.Queues, p.ConsumerGroups, p.TenantIds = append(p.Queues, queue), append(p.ConsumerGroups, key.group), append(p.TenantIds, key.tenant)
		p.Namespaces, p.Tasks = append(p.Namespaces, key.labels.namespace), append(p.Tasks, key.labels.task)
	}
	return s.ask(ctx, func(ctx context.Context, q querier) error { return q.TouchGroups(ctx, p) })
}

// found rechecks the lines at the given places.
func (s *Server) found(keys []lineKey, places []int32) {
	for _, i := range places {
		s.room.recheck(keys[i], s.recheckInterval)
	}
}

// pending is a probe with the lines that it asks for.
type pending[T any] struct {
	keys []lineKey
	args T
}

func pendingArguments(keys []lineKey) (queues pending[db.PendingParams], discoveries pending[db.PendingDiscoveryParams]) {
	for _, key := range keys {
		if key.queue == discoveryQueue {
			d := &discoveries.args
			discoveries.keys = append(discoveries.keys, key)
			d.Namespaces, d.Tasks = append(d.Namespaces, key.labels.namespace), append(d.Tasks, key.labels.task)
			d.ConsumerGroups, d.TenantIds = append(d.ConsumerGroups, key.group), append(d.TenantIds, key.tenant)
			continue
		}
		q := &queues.args
		queues.keys = append(queues.keys, key)
		q.Queues, q.ConsumerGroups, q.TenantIds = append(q.Queues, key.queue), append(q.ConsumerGroups, key.group), append(q.TenantIds, key.tenant)
		var partition *string
		if key.pinned {
			partition = &key.partition
		}
		q.Partitions = append(q.Partitions, partition)
	}
	return queues, discoveries
}
