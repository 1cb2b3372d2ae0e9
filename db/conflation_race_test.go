package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	popLast = `SELECT "offset" FROM queen.pop_v1('q', 100, 'g', 'p', p_conflation => true)`
	ackLast = `SELECT conflated FROM queen.ack_v1((SELECT id FROM queen.log_partitions WHERE name = 'p'),
		(SELECT array_agg(transaction_id) FROM queen.read_v1('q', 'p', $1, 1)), NULL, 'g')`
	policy = `SELECT conflation::text || coalesce(nullif(conflation_conflict, false)::text, '') FROM queen.log_pop_v1('q', NULL, 'g', p_subscription_mode => 'all', p_conflation => $1)`
)

// O-55, F117: a claim never covers what it did not see, so after the last push at
// least one delivery starts after that push committed.
func TestConflationNeverCommitsPastWhatItSaw_O55(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before the claim", "beside the claim", "beside the ack"} {
		t.Run(when, func(t *testing.T) {
			r := newRace(t, pushNext, pushNext)
			r.a.Exec(t, begin)
			r.b.Exec(t, begin)
			if when == "before the claim" {
				r.wants(r.b, pushNext, int64(2))
			}
			r.wants(r.a, popLast, int64(1))
			if when == "beside the claim" {
				r.wants(r.b, pushNext, int64(2))
			}
			r.a.Exec(t, commit)
			r.a.Exec(t, begin)
			if when == "beside the ack" {
				r.wants(r.b, pushNext, int64(2))
			}
			r.a.Exec(t, ackLast, int64(1))
			r.got(r.a, int64(1))
			r.b.Exec(t, commit)
			r.a.Exec(t, commit)
			require.Equal(t, int64(1), r.cursor())
			r.wants(r.a, popLast, int64(2))
			r.check()
		})
	}
}

// O-52, O-13: of two first pops with contrary wishes one decides, and the other is
// told; it does not wait, and delivers nothing while that is not committed.
func TestFirstRegistrationDecides_O52(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]bool{"conflating": true, "ordinary": false} {
		t.Run(name, func(t *testing.T) {
			r := newRace(t, pushNext, pushNext)
			r.a.Exec(t, begin)
			r.a.Exec(t, policy, first)
			r.b.Exec(t, policy, !first)
			require.Zero(t, scalar[int](t, r.db, "SELECT count(*)::int FROM queen.consumer_groups_metadata"))
			if first {
				require.Empty(t, r.b.Rows(), "an ordinary pop says nothing")
			} else {
				r.got(r.b, "true")
			}
			r.a.Exec(t, commit)
			r.exec("UPDATE queen.log_consumers SET worker_id = NULL, lease_expires_at = NULL, batch_end = NULL")
			r.b.Exec(t, policy, !first)
			require.Equal(t, map[bool]string{true: "truetrue", false: "falsetrue"}[first], r.b.Rows()[0][0])
			r.check()
		})
	}
}
