package db

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// recount says where the views for people differ from a count by hand, one
// message at a time: S-11 to S-17, design 3.2 rule 7. No helper of the engine but
// the head is used.
const recount = `
WITH part AS (
    SELECT p.queue_id, p.id, p.log_start, h.head_offset,
           coalesce((SELECT min(c.committed) FROM queen.log_consumers c WHERE c.partition_id = p.id AND c.consumer_group <> '__QUEUE_MODE__'),
               (SELECT min(c.committed) FROM queen.log_consumers c WHERE c.partition_id = p.id), -1) AS worst
    FROM queen.log_partitions p JOIN queen.partition_head h USING (id) JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
), frame AS (
    SELECT p.id, s.created_at, coalesce(f."offset", s.base_offset + f.ord - 1) AS at,
           octet_length(f.payload) + coalesce(octet_length(f.txn), 0) + coalesce(octet_length(f.key), 0) AS bytes
    FROM part p JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset >= p.log_start
    CROSS JOIN unnest(s.payloads, s.transaction_ids, s.keys, s.offsets) WITH ORDINALITY f (payload, txn, key, "offset", ord)
), owed AS (
    SELECT p.*, f.*
    FROM part p CROSS JOIN LATERAL (
        SELECT count(*) AS messages, coalesce(sum(x.bytes), 0) AS size_bytes, max(x.created_at) AS newest_at,
               count(*) FILTER (WHERE x.at > p.worst) AS pending, min(x.created_at) FILTER (WHERE x.at > p.worst) AS oldest_at
        FROM frame x WHERE x.id = p.id) f
), counted AS (
    SELECT o.*,
           least(o.pending, (SELECT count(*) FROM queen.log_consumers c JOIN frame f ON f.id = c.partition_id AND f.at > c.committed AND f.at <= c.batch_end
               WHERE c.partition_id = o.id AND c.lease_expires_at > statement_timestamp())) AS processing,
           (SELECT count(*) FROM queen.log_dlq d WHERE d.partition_id = o.id) AS dead_letters
    FROM owed o
)
SELECT concat_ws(' ', 'partition', s.queue, s.partition, 'shows', s.messages, s.pending, s.processing, s.ready, s.completed, s.dead_letters, s.size_bytes, s.oldest_pending_at, s.newest_message_at,
    'counted', c.messages, c.pending, c.processing, c.dead_letters, c.size_bytes, c.oldest_at, c.newest_at)
FROM counted c FULL JOIN queen.list_partition_status_v1() s ON s.partition_id = c.id
WHERE (s.messages, s.pending, s.processing, s.ready, s.completed, s.dead_letters, s.size_bytes, s.oldest_pending_at, s.newest_message_at) IS DISTINCT FROM
    (c.messages, c.pending, c.processing, c.pending - c.processing, greatest(c.messages - c.pending - c.dead_letters, 0), c.dead_letters, c.size_bytes, c.oldest_at, c.newest_at)
UNION ALL
SELECT concat_ws(' ', 'queue', s.queue, s.partitions, s.messages, s.pending, s.processing, s.dead_letters, s.size_bytes, s.oldest_pending_at)
FROM queen.list_queue_status_v1() s
LEFT JOIN (
    SELECT c.queue_id, count(*) AS partitions, sum(c.messages) AS messages, sum(c.pending) AS pending, sum(c.processing) AS processing, sum(c.dead_letters) AS dead_letters,
           sum(greatest(c.messages - c.pending - c.dead_letters, 0)) AS completed, sum(c.size_bytes) AS size_bytes, min(c.oldest_at) AS oldest_at
    FROM counted c GROUP BY c.queue_id) c USING (queue_id)
WHERE (s.partitions, s.messages, s.pending, s.processing, s.completed, s.dead_letters, s.size_bytes, s.oldest_pending_at) IS DISTINCT FROM
    (coalesce(c.partitions, 0), coalesce(c.messages, 0), coalesce(c.pending, 0), coalesce(c.processing, 0), coalesce(c.completed, 0), coalesce(c.dead_letters, 0), coalesce(c.size_bytes, 0), c.oldest_at)
UNION ALL
SELECT concat_ws(' ', 'group', s.queue, s.consumer_group, s.partitions, s.behind, s.consumed, g.*)
FROM queen.list_group_status_v1() s
JOIN (
    SELECT p.queue_id, c.consumer_group, count(*) AS partitions, sum(c.total_consumed) AS consumed,
           sum((SELECT count(*) FROM frame f WHERE f.id = p.id AND f.at > c.committed)) AS behind
    FROM part p JOIN queen.log_consumers c ON c.partition_id = p.id GROUP BY p.queue_id, c.consumer_group) g USING (queue_id, consumer_group)
WHERE (s.partitions, s.consumed) <> (g.partitions, g.consumed) OR s.behind < g.behind
   OR (s.behind > g.behind AND NOT EXISTS (SELECT FROM queen.consumer_groups_metadata m WHERE m.queue_id = s.queue_id AND m.consumer_group = s.consumer_group))`

// statusBreaches is an error when a view shows another number than a recount.
func statusBreaches(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, recount)
	if err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("recount: %w", err)
	}
	if len(found) > 0 {
		return fmt.Errorf("views and recount differ: %s", strings.Join(found, "\n"))
	}
	return nil
}

// publishedBreaches lets the reconciler count, and is an error when it has
// published another number than the views show.
func publishedBreaches(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, `SELECT queen.log_refresh_all_stats_v1(true)`); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	rows, err := conn.Query(ctx, `
		SELECT concat_ws(' ', v.queue, 'shows', v.partitions, v.messages, v.pending, v.processing, v.completed, v.dead_letters, v.oldest_pending_at, 'published',
			s.child_count, s.total_messages, s.pending_messages, s.processing_messages, s.completed_messages, s.dead_letter_messages, s.oldest_pending_at)
		FROM queen.queue_status v LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.stat_key = v.queue_id::text
		WHERE (v.partitions, v.messages, v.pending, v.processing, v.completed, v.dead_letters, v.oldest_pending_at) IS DISTINCT FROM
			(s.child_count, s.total_messages, s.pending_messages, s.processing_messages, s.completed_messages, s.dead_letter_messages, s.oldest_pending_at)`)
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("views and reconciler differ: %s", strings.Join(found, "\n"))
	}
	return err
}

// The recount sees a number that is wrong. The model test compares after random
// histories.
func TestRecountCanFail(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn := dbtest.New(t).Conn(t)
	for _, sql := range []string{
		`SELECT queen.push_many_v1('q', '{1,2,3,4}')`,
		`SELECT queen.pop_v1('q', 2, 'g', p_subscription_mode => 'all')`,
	} {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err)
	}
	require.NoError(t, statusBreaches(ctx, conn))
	for _, wrong := range []string{
		`UPDATE queen.log_partitions SET removed_frames = 1`,
		`UPDATE queen.log_partitions SET removed_bytes = 1`,
		`UPDATE queen.log_segments SET payloads = '{1,2,3}'`,
	} {
		tx, err := conn.Begin(ctx)
		require.NoError(t, err)
		_, err = tx.Exec(ctx, wrong)
		require.NoError(t, err)
		require.Error(t, statusBreaches(ctx, conn), wrong)
		require.NoError(t, tx.Rollback(ctx))
	}
	require.NoError(t, publishedBreaches(ctx, conn))
}
