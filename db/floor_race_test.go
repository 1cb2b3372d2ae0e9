package db

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The floor of the candidate search, raised by hand: a pop raises it only after
// it passed many partitions.
const (
	raiseFloor = `SELECT queen._raise_floor((SELECT id FROM queen.queues WHERE name = 'q'), 'g')`
	// A mark that no running transaction is older than, whatever other tests do.
	quietMark = `INSERT INTO queen.clock_marks SELECT clock_timestamp(), '3'::xid8`
	// aheadMark makes a floor that all that was written so far lies below.
	aheadMark = `INSERT INTO queen.clock_marks SELECT clock_timestamp() + interval '1 minute', '3'::xid8`
)

// floor is the floor of group g, the epoch when it has none.
func (r race) floor() time.Time {
	r.t.Helper()
	return scalar[time.Time](r.t, r.db, "SELECT coalesce((SELECT last_empty_scan_at FROM queen.consumer_watermarks WHERE consumer_group = 'g'), 'epoch')")
}

func (r race) held() []uuid.UUID {
	r.t.Helper()
	return column[uuid.UUID](r.t, r.db, "SELECT unnest(held) FROM queen.consumer_watermarks WHERE consumer_group = 'g'")
}

// O-10, F144: a push that is open while the floor is raised commits above it,
// however late, and so does one of a prepared transaction (F147).
func TestFloorWaitsForOpenPushes(t *testing.T) {
	t.Parallel()
	for name, end := range map[string][2]string{
		"open":     {"SELECT 1", commit},
		"prepared": {"PREPARE TRANSACTION 'late'", "COMMIT PREPARED 'late'"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, pushNext)
			r.wants(r.b, popWide, int64(0))
			r.exec(`SELECT queen.ack_v1((SELECT id FROM queen.log_partitions), ARRAY[(SELECT id_base::text FROM queen.log_segments)], NULL, 'g')`)
			r.a.Exec(t, begin)
			r.wants(r.a, pushNext, int64(1))
			r.a.Exec(t, end[0])
			stamp := scalar[time.Time](t, r.db, "SELECT clock_timestamp()")
			// Marks whose ids are younger than the open push, far ahead of it.
			r.exec(`INSERT INTO queen.clock_marks SELECT clock_timestamp() + interval '1 minute', pg_current_xact_id()`)
			r.exec(raiseFloor)
			require.True(t, r.floor().Before(stamp), "the floor %v passed the open push", r.floor())
			r.wants(r.b, popWide)
			r.a.Exec(t, end[1])
			r.exec(`UPDATE queen.consumer_watermarks SET updated_at = 'epoch'`)
			r.wants(r.b, popWide, int64(1))
			require.Eventually(t, func() bool { // the transactions of other tests hold it, too
				r.exec(raiseFloor)
				return r.floor().After(stamp)
			}, 30*time.Second, 50*time.Millisecond, "nothing holds the floor any more")
			r.check()
		})
	}
}

// O-10, O-12: what was under a lease, or only not finished, when the floor was
// raised stays a candidate without a new push.
func TestFloorKeepsWhatIsLeased(t *testing.T) {
	r := newRace(t, pushNext, "SELECT queen.push_v1('q', '1', 'r')")
	r.wants(r.a, popAll, int64(0))
	r.exec(aheadMark)
	r.exec(raiseFloor)
	require.Len(t, r.held(), 2)
	r.wants(r.b, popWide, int64(0)) // of r
	r.wants(r.b, popWide)
	r.exec(endLeases)
	r.b.Exec(t, popWide)
	r.got(r.b, int64(0), int64(0))
	r.check()
}

// steppedBack is a mark of before the clock stepped back by an hour.
const steppedBack = `INSERT INTO queen.clock_marks SELECT clock_timestamp() + interval '1 hour', '3'::xid8`

// Design 3.2 rule 6, O-10: the clock steps back below a mark that made a floor, by
// less than a push can tell from its partition. The push honours the mark, also
// when it leaves the partition's row alone, so wide pops find it. Nothing that is
// only not settled needs to be held, however many partitions that are.
func TestPushStampsAboveTheFloor(t *testing.T) {
	const ackAll = `UPDATE queen.log_consumers SET committed = batch_end, batch_end = NULL, worker_id = NULL, lease_expires_at = NULL`
	r := newRace(t, pushNext)
	r.wants(r.b, popWide, int64(0))
	for next, settle := range []string{keepFresh, settleNow} {
		r.exec(ackAll)
		r.exec(settle)
		r.exec(steppedBack)
		r.exec(`UPDATE queen.consumer_watermarks SET updated_at = 'epoch'`)
		r.exec(raiseFloor)
		require.Empty(t, r.held(), "nothing is owed")
		require.True(t, r.floor().After(time.Now().Add(30*time.Minute)), "the floor is the mark")
		r.wants(r.a, pushNext, int64(next+1))
		require.False(t, r.stamps()[next+1].Before(r.floor()), "after %s", settle)
		r.wants(r.b, popWide, int64(next+1))
	}
	r.check()
}

// The same for the floor that a group starts at: when it registers for what
// comes, and when it seeks to the end.
func TestPushStampsAboveTheFirstFloor(t *testing.T) {
	const popNew = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', p_max_partitions => 0, p_subscription_mode => 'new')`
	r := newRace(t, pushNext, keepFresh, steppedBack)
	r.wants(r.b, popNew)
	r.wants(r.a, pushNext, int64(1))
	require.False(t, r.stamps()[1].Before(r.floor()), "registered")
	r.wants(r.b, popNew, int64(1))

	r.exec(`SELECT queen.seek_consumer_group_v1('q', 'g', true)`)
	r.wants(r.a, pushNext, int64(2))
	require.False(t, r.stamps()[2].Before(r.floor()), "at the end")
	r.wants(r.b, popNew, int64(2))
	require.Empty(t, r.held())
	r.check()
}

// O-10: a push right after the mark of a floor leaves the row of its partition
// alone, which then lies up to a second below the floor, and a pop finds it.
func TestFloorLeavesWhatPushesLeaveAlone(t *testing.T) {
	r := newRace(t, pushNext)
	r.wants(r.b, popWide, int64(0))
	for next := int64(1); next <= 3; next++ {
		r.exec(`UPDATE queen.log_consumers SET committed = batch_end, batch_end = NULL, worker_id = NULL, lease_expires_at = NULL`)
		r.exec(`UPDATE queen.consumer_watermarks SET updated_at = 'epoch'`)
		// As if the row had been written so long before the mark that the push has just time for this.
		r.exec(`UPDATE queen.log_partitions SET last_write_at = clock_timestamp() - interval '600 ms', settled = false`)
		r.exec(`INSERT INTO queen.clock_marks SELECT clock_timestamp(), '3'::xid8`)
		r.exec(raiseFloor)
		require.Empty(t, r.held(), "nothing is owed")
		r.wants(r.a, pushNext, next)
		r.wants(r.b, popWide, next)
	}
}

// Design 3.2 rule 6: where nobody notes the clock, whoever raises the floor does,
// says so, and raises it to that mark when all can see it.
func TestFloorNotesTheClock(t *testing.T) {
	r := newRace(t, pushNext)
	r.wants(r.b, popAll, int64(0))
	r.exec("DELETE FROM queen.clock_marks")
	r.exec(raiseFloor)
	first := scalar[time.Time](t, r.db, "SELECT marked_at FROM queen.clock_marks WHERE by_search")
	require.True(t, r.floor().Before(first), "not yet")
	require.Eventually(t, func() bool { // the transactions of other tests hold it, too
		r.exec("UPDATE queen.clock_marks SET marked_at = marked_at - interval '1 second'")
		r.exec("UPDATE queen.consumer_watermarks SET updated_at = 'epoch'")
		r.exec(raiseFloor)
		return r.floor().Unix() > first.Add(-time.Hour).Unix()
	}, 30*time.Second, 50*time.Millisecond, "the floor stays where it was")
	require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.clock_marks WHERE NOT by_search"))
	r.check()
}

// One raises the floor, the other skips it; a pop never waits for either.
func TestFloorIsRaisedByOne(t *testing.T) {
	r := newRace(t, pushNext)
	r.wants(r.b, popWide, int64(0)) // registers
	r.exec(endLeases)
	r.exec(aheadMark)
	r.a.Exec(t, begin)
	r.a.Exec(t, raiseFloor)
	r.b.Exec(t, raiseFloor)
	r.wants(r.b, popWide, int64(0))
	r.a.Exec(t, rollBack)
	require.Zero(t, r.floor().Unix(), "rolled back")
	r.check()
}

// Design 3.3: whoever would raise the floor does not wait for a deletion of the
// queue, whether there is a floor already or not.
func TestFloorIsNotRaisedDuringDeletion(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"a first floor": "SELECT 1", "a next floor": raiseFloor} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, pushNext)
			r.wants(r.a, popWide, int64(0)) // registers
			r.exec(aheadMark)
			r.exec(before)
			r.exec("UPDATE queen.consumer_watermarks SET held = '{}', last_empty_scan_at = 'epoch'")
			r.exec("UPDATE queen.consumer_watermarks SET updated_at = 'epoch'")
			r.exec(`SELECT queen.delete_queue_v1('q')`)
			r.b.Exec(t, begin)
			r.b.Exec(t, reclaimAll)
			r.a.Exec(t, "SET lock_timeout = '1ms'")
			r.a.Exec(t, raiseFloor)
			r.b.Exec(t, rollBack)
			r.a.Exec(t, raiseFloor)
			require.Len(t, r.held(), 1, "raised by the next one")
			r.check()
		})
	}
}

// O-13, design 3.3: a push of a new partition that is open while the group
// registers is delivered from its beginning; a group at new whose search starts
// at a floor finds it, too (F035).
func TestNewPartitionDuringRegistration(t *testing.T) {
	r := newRace(t, pushNext, quietMark)
	r.a.Exec(t, begin)
	r.a.Exec(t, "SELECT queen.push_v1('q', '1', 'r')")
	r.a.Exec(t, pushNext)
	const popNew = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', p_max_partitions => 0, p_subscription_mode => 'new')`
	r.wants(r.b, popNew)
	require.NotZero(t, r.floor().Unix(), "registered with a floor")
	r.a.Exec(t, commit)
	r.b.Exec(t, popNew)
	require.ElementsMatch(t, [][]any{{int64(0)}, {int64(1)}}, r.b.Rows())
	r.check()
}
