package db

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// head is what readers take for the head of p, and whether its row says so too.
func (r race) head() (offset int64, settled bool) {
	r.t.Helper()
	require.NoError(r.t, r.db.Pool.QueryRow(context.Background(),
		"SELECT head_offset, settled FROM queen.partition_head WHERE name = 'p'").Scan(&offset, &settled))
	return offset, settled
}

func (r race) wantsHead(offset int64, settled bool) {
	r.t.Helper()
	gotOffset, gotSettled := r.head()
	require.Equal(r.t, offset, gotOffset, "the head")
	require.Equal(r.t, settled, gotSettled, "settled")
}

// Design 3.2 rules 2 and 3: the settler against a push that leaves the row
// alone. The settler never waits; a push that waited for it must see that the
// row is settled now and write it, though it was not when the push began.
func TestSettleAgainstASkippingPush(t *testing.T) {
	t.Parallel()
	t.Run("push first", func(t *testing.T) {
		r := newRace(t, pushNext, keepFresh)
		r.a.Exec(t, begin)
		r.wants(r.a, pushNext, int64(1))
		r.wants(r.b, settleNow, int32(0))
		r.a.Exec(t, commit)
		r.wantsHead(1, false)
		r.wants(r.b, settleNow, int32(1))
		r.wantsHead(1, true)
		r.check()
	})
	for end, settled := range map[string]bool{commit: true, rollBack: false} {
		t.Run("settle first/"+end, func(t *testing.T) {
			r := newRace(t, pushNext, keepFresh, pushNext, pushNext)
			r.a.Exec(t, begin)
			r.wants(r.a, settleNow, int32(1))
			r.blocked(r.b, pushNext)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, int64(3))
			r.wantsHead(3, false)
			last := scalar[int64](t, r.db, "SELECT last_offset FROM queen.log_partitions")
			require.Equal(t, settled, last == 3, "rule 2: written only when the row was settled under the lock, last_offset %d", last)
			r.wants(r.a, pushNext, int64(4))
			r.check()
		})
	}
	t.Run("push in the same second after a settle", func(t *testing.T) {
		r := newRace(t, pushNext, keepFresh, pushNext)
		r.wants(r.a, settleNow, int32(1))
		r.wantsHead(1, true)
		r.wants(r.b, pushNext, int64(2))
		r.wantsHead(2, false)
		r.wants(r.a, pushNext, int64(3))
		r.wantsHead(3, false)
		r.check()
	})
	t.Run("a snapshot from before the settle", func(t *testing.T) {
		r := newRace(t, pushNext, keepFresh, pushNext)
		const heads = "SELECT head_offset FROM queen.partition_head"
		r.a.Exec(t, "BEGIN ISOLATION LEVEL REPEATABLE READ")
		r.wants(r.a, heads, int64(1))
		r.wants(r.b, settleNow, int32(1))
		r.wants(r.b, pushNext, int64(2))
		r.wants(r.a, heads, int64(1)) // rule 4: row and tail in one statement
		r.a.Exec(t, commit)
		r.wants(r.a, heads, int64(2))
	})
	t.Run("two settlers", func(t *testing.T) {
		r := newRace(t, pushNext, "SELECT queen.push_v1('q', '1', 'r')")
		r.a.Exec(t, begin)
		r.wants(r.a, "SELECT worked FROM queen.log_settle_heads_step_v1(1, 3, clock_timestamp() + interval '1 hour')", int32(1))
		r.wants(r.b, settleNow, int32(1))
		r.wants(r.b, settleNow, int32(0))
		r.a.Exec(t, rollBack)
		r.wants(r.b, settleNow, int32(1))
		r.check()
	})
	t.Run("a delete", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.wants(r.b, settleNow, int32(0))
		r.a.Exec(t, commit)
		r.wants(r.b, settleNow, int32(0))
		r.check()
	})
}

// Design 3.2 rules 3 and 5: all of a log goes beside a push, in both orders,
// from every state of the row.
func TestTotalDeletionAgainstAPush(t *testing.T) {
	t.Parallel()
	for name, before := range map[string][]string{
		"settled":        {pushNext, pushNext, pushNext, settleNow},
		"row is written": {pushNext, pushNext, pushNext},
		"row is skipped": {pushNext, keepFresh, pushNext, pushNext},
	} {
		t.Run(name+"/deletion first", func(t *testing.T) {
			for _, end := range []string{commit, rollBack} {
				t.Run(end, func(t *testing.T) {
					r := newRace(t, before...)
					r.a.Exec(t, begin)
					r.a.Exec(t, lockLane)
					r.a.Exec(t, dropUpTo, int64(100))
					r.got(r.a, int64(3))
					r.blocked(r.b, pushNext)
					r.a.Exec(t, end)
					r.done(r.b)
					r.got(r.b, int64(3))
					r.exec("SELECT queen._reclaim_prefix($1, 100)", r.lane())
					r.check()
					want := map[string]int64{commit: 1, rollBack: 4}[end]
					require.Equal(t, want, scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_segments"))
					r.wants(r.a, pushNext, int64(4))
					r.check()
				})
			}
		})
		t.Run(name+"/push first, up to the head that was", func(t *testing.T) {
			r := newRace(t, before...)
			r.a.Exec(t, begin)
			r.wants(r.a, pushNext, int64(3))
			r.b.Exec(t, begin)
			r.blocked(r.b, lockLane)
			r.a.Exec(t, commit)
			r.done(r.b)
			r.b.Exec(t, dropUpTo, int64(3))
			r.got(r.b, int64(3))
			r.b.Exec(t, commit)
			r.exec("SELECT queen._reclaim_prefix($1, 100)", r.lane())
			r.wantsHead(3, false)
			require.Equal(t, []int64{3}, column[int64](t, r.db, "SELECT base_offset FROM queen.log_segments"), "the push that came between stays")
			r.check()
		})
		t.Run(name+"/push first, all", func(t *testing.T) {
			r := newRace(t, before...)
			r.a.Exec(t, begin)
			r.wants(r.a, pushNext, int64(3))
			r.b.Exec(t, begin)
			r.blocked(r.b, lockLane)
			r.a.Exec(t, commit)
			r.done(r.b)
			r.b.Exec(t, dropUpTo, int64(100))
			r.got(r.b, int64(4))
			r.b.Exec(t, commit)
			r.wantsHead(3, true)
			r.exec("SELECT queen._reclaim_prefix($1, 100)", r.lane())
			r.wantsHead(3, true)
			r.check()
			r.wants(r.a, pushNext, int64(4))
			r.check()
		})
	}
}

// Design 3.2 rule 5: rows that are reclaimed outside of the lock, beside pushes
// and pops, are never seen as the tail or delivered.
func TestReclaimBesidePushAndPop(t *testing.T) {
	r := newRace(t, pushNext, pushNext, pushNext)
	lane := r.lane()
	r.exec(dropUpTo, int64(100))
	r.a.Exec(t, begin)
	r.a.Exec(t, "DELETE FROM queen.log_segments WHERE partition_id = $1", lane)
	r.wants(r.b, popAll)
	r.wants(r.b, pushNext, int64(3))
	r.wants(r.b, popAll, int64(3))
	r.a.Exec(t, rollBack)
	r.wants(r.b, pushNext, int64(4))
	r.check()
}

// Design 3.2 in one mix: pushes that roll back or hold, settling and deletions
// of everything, at once; the invariants hold at the end and no call fails.
func TestSettleMix(t *testing.T) {
	r := newRace(t, pushNext)
	together(t, r.db, 6, 1, func(conn *pgx.Conn, client, _ int) error {
		ctx := context.Background()
		for i := range 60 {
			var err error
			switch {
			case client == 0:
				_, err = conn.Exec(ctx, "SELECT queen.log_settle_heads_step_v1(500, 3, clock_timestamp() + interval '1 minute')")
			case client == 1:
				err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
					if _, err := tx.Exec(ctx, lockLane); err != nil {
						return err
					}
					_, err := tx.Exec(ctx, dropUpTo, int64(1000)*int64(i%2)+3*int64(i))
					return err
				})
			case i%5 == 4:
				_, err = conn.Exec(ctx, "BEGIN; "+pushNext+"; ROLLBACK")
			default:
				_, err = conn.Exec(ctx, pushNext)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, nil)
	offset, _ := r.head()
	require.Equal(t, int64(4*48), offset, "every push that committed has an offset, none that did not")
	r.check()
}
