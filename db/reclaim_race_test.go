package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const hideQ = `SELECT queen.delete_queue_v1('q') ->> 'deleted'`

// remains counts what is left of deleted queues and of rows without a partition.
const remains = `SELECT
	(SELECT count(*) FROM queen.queues WHERE deleted_at IS NOT NULL) +
	(SELECT count(*) FROM queen.log_segments s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_txns s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_dlq s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id)) +
	(SELECT count(*) FROM queen.log_consumers s WHERE NOT EXISTS (SELECT FROM queen.log_partitions p WHERE p.id = s.partition_id))`

// Issue 4 item 8, W-15, F099: whatever was under way when the queue was deleted,
// the delete waits for none of it, a step of the reclaim leaves what is held, and
// once the other has committed or given up, all of the queue goes.
func TestReclaimAgainstWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before []string
		late   string
	}{
		"push":                       {nil, pushNext},
		"push of a new partition":    {nil, `SELECT queen.push_v1('q', '1', 'new')`},
		"bundle":                     {nil, `SELECT queen.log_push_v1('{q,q}', '{p,new}', '{1,1}', '{1,2}', p_skip_locked => true)`},
		"registration":               {nil, popWide},
		"first contact":              {nil, popAll},
		"pop of a known group":       {[]string{popWide, endLeases}, popWide},
		"ack that files a letter":    {[]string{popAll}, `SELECT queen.log_ack_v1(ARRAY[c.partition_id], ARRAY['g'], ARRAY[c.worker_id], ARRAY[1], ARRAY[(SELECT m.transaction_id FROM queen.read_v1('q', 'p') m LIMIT 1)], '{dlq}') FROM queen.log_consumers c`},
		"seek":                       {nil, seekEnd},
		"registration in the future": {[]string{popWide}, `SELECT queen.configure_queue_v1('other')`},
	} {
		for _, end := range []string{commit, rollBack} {
			t.Run(name+"/"+end, func(t *testing.T) {
				r := newRace(t, append([]string{pushNext, `SELECT queen.push_v1('q', '1', 'r')`}, c.before...)...)
				r.a.Exec(t, begin)
				r.a.Exec(t, c.late)
				r.b.Exec(t, "SET lock_timeout = '1ms'")
				r.wants(r.b, hideQ, "true")
				r.b.Exec(t, reclaimAll)
				r.b.Exec(t, reclaimAll)
				r.a.Exec(t, end)
				r.check()
				for range 3 {
					r.b.Exec(t, reclaimAll)
				}
				require.Zero(t, scalar[int64](t, r.db, remains))
				require.Zero(t, scalar[int64](t, r.db, "SELECT count(*) FROM queen.log_partitions"))
				r.check()
			})
		}
	}
}

// A push that found the queue just before the delete, and comes to the partition
// while a step removes it, waits for the step: it finds the partition gone and goes
// to a new queue, or is told to come again; after a step that was broken off it
// stores in the old one, which goes with the next step.
func TestLatePushAgainstReclaim(t *testing.T) {
	t.Parallel()
	const latePush = `SELECT count(*) FROM queen._push_groups('{q}', '{p}', '{1}', '{1}', NULL, NULL, NULL, false, queen._tenant(NULL), NULL, NULL, NULL) r`
	for _, end := range []string{commit, rollBack} {
		t.Run(end, func(t *testing.T) {
			r := newRace(t, pushNext, keepFresh)
			r.b.Exec(t, begin)
			r.exec(`CREATE FUNCTION public.slow_push() RETURNS text LANGUAGE plpgsql AS $$
				DECLARE v_id uuid := (SELECT p.id FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL WHERE q.name = 'q');
				r_part queen.log_partitions;
				BEGIN
					PERFORM pg_advisory_xact_lock(1);
					SELECT * INTO r_part FROM queen.log_partitions p WHERE p.id = v_id FOR NO KEY UPDATE;
					IF NOT FOUND THEN RETURN 'gone'; END IF;
					RETURN ((queen._push_group(0, r_part, 0, '{1}', NULL, NULL, NULL, NULL, NULL))[1]).status; -- however long it waited
				END $$`)
			r.a.Exec(t, begin)
			r.a.Exec(t, "SELECT pg_advisory_xact_lock(1)")
			r.blocked(r.b, "SELECT public.slow_push()") // has resolved
			r.exec(hideQ)
			r.a.Exec(t, reclaimAll)
			r.a.Exec(t, end)
			r.done(r.b)
			r.got(r.b, map[string]any{commit: "gone", rollBack: "queued"}[end])
			r.b.Exec(t, commit)
			r.check()
			r.exec(reclaimAll)
			require.Zero(t, scalar[int64](t, r.db, remains))
			r.wants(r.b, pushNext, int64(0))
			r.wants(r.b, latePush, int64(1))
			r.check()
		})
	}
}

// Two steps at once: the second leaves alone what the first holds.
func TestTwoReclaimers(t *testing.T) {
	r := newRace(t, pushNext, hideQ, `SELECT queen.push_v1('x', '1', 'p')`, `SELECT queen.delete_queue_v1('x')`)
	r.a.Exec(t, begin)
	r.wants(r.a, `SELECT worked FROM queen.log_reclaim_step_v1(1)`, int32(1))
	r.b.Exec(t, "SET lock_timeout = '1ms'")
	r.wants(r.b, reclaimAll, int32(4)) // segment, hash, partition and queue of the other
	r.a.Exec(t, rollBack)
	r.wants(r.b, reclaimAll, int32(4))
	require.Zero(t, scalar[int64](t, r.db, remains))
	require.Equal(t, int64(2), scalar[int64](t, r.db, "SELECT sum(messages_deleted)::bigint FROM queen.retention_history"))
}

// Whoever holds 737001 stops the reclaim as every sweep.
func TestReclaimStopsForTheLock(t *testing.T) {
	r := newRace(t, pushNext, hideQ)
	r.a.Exec(t, begin)
	r.a.Exec(t, "SELECT pg_advisory_xact_lock(737001)")
	r.wants(r.b, reclaimAll, int32(0))
	r.a.Exec(t, commit)
	r.wants(r.b, reclaimAll, int32(4))
}
