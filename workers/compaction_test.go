package workers_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
	"regent.local/regent/workers"
)

// compactable fills two partitions of a compacted queue and one of a plain one
// with 25 segments, each a newer value of the key k.
const compactable = `
	DO $$ BEGIN
		PERFORM queen.configure_queue_v1('latest', '{"cleanupPolicy": "compact"}');
		FOR i IN 1 .. 25 LOOP
			PERFORM queen.push_v1('latest', i::text::json, 'a', NULL, 'k'), queen.push_v1('latest', i::text::json, 'b', NULL, 'k'),
				queen.push_v1('plain', i::text::json, 'a', NULL, 'k');
		END LOOP;
	END $$`

// keptFrames counts what is left: of partition a, of b, of the plain queue.
const keptFrames = `
	SELECT sum(s.frames) FILTER (WHERE q.name = 'latest' AND p.name = 'a'), sum(s.frames) FILTER (WHERE q.name = 'latest' AND p.name = 'b'),
	       sum(s.frames) FILTER (WHERE q.name = 'plain')
	FROM queen.log_segments s JOIN queen.log_partitions p ON p.id = s.partition_id JOIN queen.queues q ON q.id = p.queue_id`

// TestCompactionLoop: the loop keeps the newest value of a key; a partition that somebody holds is passed over and
// does not keep the others waiting; and what psql calls does the same.
func TestCompactionLoop(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t)
	ctx := t.Context()
	left := func() (kept [3]int) {
		require.NoError(t, d.Pool.QueryRow(ctx, keptFrames).Scan(&kept[0], &kept[1], &kept[2]))
		return kept
	}
	_, err := d.Pool.Exec(ctx, compactable)
	require.NoError(t, err)
	holder := d.Conn(t)
	_, err = holder.Exec(ctx, `BEGIN; SELECT FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
		WHERE q.name = 'latest' AND p.name = 'a' FOR NO KEY UPDATE OF p`, pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	stop := workers.Start(ctx, workers.Compaction(db.New(d.Pool), 50*time.Millisecond, quiet))
	defer stop()
	require.Eventually(t, func() bool { return left() == [3]int{25, 1, 25} }, 30*time.Second, 20*time.Millisecond)
	_, err = holder.Exec(ctx, "ROLLBACK")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return left() == [3]int{1, 1, 25} }, 30*time.Second, 20*time.Millisecond)
	stop()
	_, err = d.Pool.Exec(ctx, compactable)
	require.NoError(t, err)
	_, err = d.Pool.Exec(ctx, "CALL queen.run_maintenance_v1()")
	require.NoError(t, err)
	require.Equal(t, [3]int{1, 1, 50}, left())
	due, err := db.New(d.Pool).CompactDue(ctx, 10, [16]byte{})
	require.NoError(t, err)
	require.Empty(t, due, "F113: idle afterwards")
}
