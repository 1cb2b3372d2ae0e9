package db

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const (
	seekBack    = `SELECT (queen.seek_consumer_group_v1('q', 'g', p_timestamp => '2020-01-01')->>'partitionsUpdated')::bigint`
	seekPart    = `SELECT (queen.seek_consumer_group_v1('q', 'g', p_timestamp => '2020-01-01', p_partition => 'p')->>'updated')::boolean`
	seekEnd     = `SELECT (queen.seek_consumer_group_v1('q', 'g', true)->>'partitionsUpdated')::bigint`
	deleteGroup = `SELECT (queen.delete_consumer_group_v1('g')->>'deletedPartitions')::bigint`
	// ackFirst finishes offset 0 of p under the lease in $1.
	ackFirst = `SELECT coalesce(error, 'ok') FROM queen.ack_v1((SELECT id FROM queen.log_partitions WHERE name = 'p'),
		ARRAY[(SELECT id_base::text FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id WHERE p.name = 'p' AND base_offset = 0)], $1, 'g')`
)

// a seek waits for a claim or an ack that is open, and then has the last
// word; what comes later finds its lease gone. A pop never waits for a seek.
func TestSeekAgainstPopAndAck(t *testing.T) {
	t.Parallel()
	for name, seek := range map[string]struct {
		sql  string
		want any
	}{"queue": {seekBack, int64(1)}, "partition": {seekPart, true}} {
		t.Run(name+" after an open claim", func(t *testing.T) {
			r := newRace(t, pushNext)
			r.a.Exec(t, begin)
			r.a.Exec(t, popLease)
			lease := r.a.Rows()[0][0]
			r.blocked(r.b, seek.sql)
			r.a.Exec(t, commit)
			r.done(r.b)
			r.got(r.b, seek.want)
			r.a.Exec(t, ackFirst, lease)
			r.got(r.a, "invalid or expired lease")
			r.wants(r.a, popWide, int64(0))
			r.check()
		})
		t.Run(name+" before a claim", func(t *testing.T) {
			r := newRace(t, pushNext)
			r.wants(r.a, popWide, int64(0))
			r.b.Exec(t, begin)
			r.wants(r.b, seek.sql, seek.want)
			r.wants(r.a, popWide)
			r.wants(r.a, popAll)
			r.b.Exec(t, commit)
			r.wants(r.a, popAll, int64(0))
			r.check()
		})
		t.Run(name+" after an open ack", func(t *testing.T) {
			r := newRace(t, pushNext)
			r.a.Exec(t, popLease)
			lease := r.a.Rows()[0][0]
			r.a.Exec(t, begin)
			r.a.Exec(t, ackFirst, lease)
			r.got(r.a, "ok")
			r.blocked(r.b, seek.sql)
			r.a.Exec(t, commit)
			r.done(r.b)
			require.Equal(t, int64(-1), r.cursor(), "back, though the ack committed")
			r.wants(r.a, popWide, int64(0))
			r.check()
		})
		t.Run(name+" before an ack", func(t *testing.T) {
			r := newRace(t, pushNext)
			r.a.Exec(t, popLease)
			lease := r.a.Rows()[0][0]
			r.b.Exec(t, begin)
			r.b.Exec(t, seek.sql)
			r.blocked(r.a, ackFirst, lease)
			r.b.Exec(t, commit)
			r.done(r.a)
			r.got(r.a, "invalid or expired lease")
			require.Equal(t, int64(-1), r.cursor(), "only a seek moves back, and an ack not over it")
			r.check()
		})
	}
}

// O-12: no floor that was computed from the cursors before a seek outlives it.
func TestSeekAgainstFloor(t *testing.T) {
	t.Parallel()
	for name, seek := range map[string]string{"queue": seekBack, "partition": seekPart} {
		setup := func(t *testing.T, floored bool) race {
			r := newRace(t, pushNext, aheadMark)
			r.wants(r.a, popWide, int64(0))
			r.exec(seekEnd)
			if !floored {
				r.exec("DELETE FROM queen.consumer_watermarks")
			}
			r.exec("UPDATE queen.consumer_watermarks SET updated_at = 'epoch'")
			return r
		}
		for _, floored := range []bool{false, true} {
			t.Run(name+" waits for who raises it", func(t *testing.T) {
				r := setup(t, floored)
				r.a.Exec(t, begin)
				r.a.Exec(t, raiseFloor)
				r.blocked(r.b, seek)
				r.a.Exec(t, commit)
				r.done(r.b)
				r.wants(r.a, popWide, int64(0))
				r.check()
			})
			t.Run(name+" keeps it from being raised", func(t *testing.T) {
				r := setup(t, floored)
				r.b.Exec(t, begin)
				r.b.Exec(t, seek)
				r.a.Exec(t, raiseFloor)
				r.b.Exec(t, commit)
				r.wants(r.a, popWide, int64(0))
				r.check()
			})
		}
	}
}

// A-36, O-27: a cursor that a seek makes and one that a pop makes never collide.
func TestSeekAgainstFirstContact(t *testing.T) {
	t.Parallel()
	t.Run("the seek is first", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.b.Exec(t, begin)
		r.wants(r.b, seekEnd, int64(1))
		r.wants(r.a, popAll)  // at once
		r.wants(r.a, popWide) // tries to register for a moment
		r.b.Exec(t, commit)
		r.wants(r.a, popAll)
		r.wants(r.a, popWide)
		require.Equal(t, int64(0), r.cursor(), "at the end, where the seek put it")
		r.check()
	})
	for name, pop := range map[string]string{"pinned": popAll, "wide": popWide} {
		t.Run("the pop is first, "+name, func(t *testing.T) {
			r := newRace(t, pushNext)
			r.a.Exec(t, begin)
			r.wants(r.a, pop, int64(0))
			r.blocked(r.b, seekEnd)
			r.a.Exec(t, commit)
			r.done(r.b)
			r.wants(r.a, pop)
			require.Equal(t, int64(0), r.cursor())
			r.check()
		})
	}
}

// what is pushed but not committed while a group seeks to the end comes
// afterwards, in old partitions and in new ones.
func TestSeekAgainstOpenPush(t *testing.T) {
	r := newRace(t, pushNext, quietMark)
	r.a.Exec(t, begin)
	r.wants(r.a, pushNext, int64(1))
	r.a.Exec(t, "SELECT queen.push_v1('q', '1', 'r')")
	r.wants(r.b, seekEnd, int64(1))
	require.NotZero(t, r.floor().Unix(), "the search of a group at the end starts at a floor")
	r.wants(r.b, popWide)
	r.a.Exec(t, commit)
	r.b.Exec(t, popWide)
	require.ElementsMatch(t, [][]any{{int64(0)}, {int64(1)}}, r.b.Rows())
	r.check()
}

// A-36, C-28: a seek against the deletion of its queue leaves no orphan cursor.
func TestSeekAgainstDeleteQueue(t *testing.T) {
	t.Parallel()
	t.Run("the seek is first", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.b.Exec(t, begin)
		r.b.Exec(t, seekEnd)
		r.a.Exec(t, deleteQ)
		r.b.Exec(t, commit)
		r.exec(reclaimAll)
		require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_consumers"))
		r.check()
	})
	t.Run("the deletion is first", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.a.Exec(t, begin)
		r.a.Exec(t, deleteQ)
		r.blocked(r.b, seekEnd)
		r.a.Exec(t, commit)
		r.fails(r.b, "QN404")
		require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_consumers"))
		r.check()
	})
}

// a group that is deleted while it pops begins anew afterwards.
func TestDeleteGroupAgainstPop(t *testing.T) {
	t.Parallel()
	t.Run("an open claim is waited for", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.wants(r.a, popWide, int64(0))
		r.exec(endLeases)
		r.a.Exec(t, begin)
		r.wants(r.a, popAll, int64(0))
		r.blocked(r.b, deleteGroup)
		r.a.Exec(t, commit)
		r.done(r.b)
		r.got(r.b, int64(1))
		r.wants(r.a, popWide, int64(0))
		r.check()
	})
	t.Run("a pop does not wait", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.wants(r.a, popWide, int64(0))
		r.exec(endLeases)
		r.b.Exec(t, begin)
		r.wants(r.b, deleteGroup, int64(1))
		r.wants(r.a, popAll)
		r.wants(r.a, popWide)
		r.b.Exec(t, commit)
		r.wants(r.a, popWide, int64(0))
		r.check()
	})
	t.Run("a registration that is open", func(t *testing.T) {
		r := newRace(t, pushNext)
		r.exec("SELECT queen.pop_v1('q', 1, 'g', 'p')") // a cursor to delete
		r.a.Exec(t, begin)
		r.wants(r.a, popWide) // registers; the message is leased
		r.blocked(r.b, deleteGroup)
		r.a.Exec(t, commit)
		r.done(r.b)
		require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.consumer_groups_metadata"))
		r.wants(r.a, popWide, int64(0))
		r.check()
	})
}

// Seeks, deletes, pops, acks and pushes all at once: no deadlock, no error, and
// in the end a seek back delivers every message once more, in order.
func TestGroupsUnderLoad(t *testing.T) {
	r := newRace(t, `SELECT queen.push_many_v1('q', ARRAY(SELECT '1'::json FROM generate_series(1, 40)), ARRAY(SELECT 'p' || i % 8 FROM generate_series(1, 40) i))`)
	statements := []string{
		seekBack, seekEnd, deleteGroup, raiseFloor, popWide, popWide,
		`SELECT queen.seek_consumer_group_v1('q', 'g', p_timestamp => '2020-01-01', p_partition => 'p3')`,
		`SELECT queen.pop_v1('q', 3, 'g', p_subscription_mode => 'new', p_max_partitions => 4)`,
		`SELECT a.* FROM queen.pop_v1('q', 5, 'g') p CROSS JOIN LATERAL queen.ack_v1(p.partition_id, ARRAY[p.transaction_id], p.lease_id, 'g') a`,
		`SELECT queen.push_many_v1('q', ARRAY['1', '1']::json[], ARRAY['p2', 'fresh' || random()])`,
		`SELECT queen.pop_discovery_v1('q', '', 4, 'g', p_max_partitions => 3)`,
		`SELECT queen.update_subscription_v1('g', '2020-01-01')`,
		`SELECT queen.list_consumer_groups_v1()`,
	}
	together(t, r.db, 8, 12, func(conn *pgx.Conn, client, round int) error {
		for i := range 6 {
			if _, err := conn.Exec(context.Background(), statements[(client*7+round*5+i*3)%len(statements)]); err != nil {
				return err
			}
		}
		return nil
	}, func(int) { r.check() })
	r.exec(seekBack)
	want := column[string](t, r.db, `SELECT p.name || ':' || s.base_offset || '-' || s.end_offset FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id ORDER BY 1`)
	got := column[string](t, r.db, `SELECT partition || ':' || first_offset || '-' || last_offset FROM queen.log_pop_v1('q', NULL, 'g', 10000, 0) ORDER BY 1`)
	require.Equal(t, want, got)
	r.check()
}
