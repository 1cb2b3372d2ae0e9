/*
 * Purpose:     write the counts to queen.stats: one row a queue, then the roll-ups of them.
 * Locks:       rows of stats in the order of queue ids, as the lane does; the caller holds the advisory lock of the task.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      a row a queue, a row a label and tenant.
 * Idempotency: yes, but for the rates, which are over the time since the last call.
 * Raises:      nothing.
 * Source:      S-18, S-19, S-23 to S-27, S-34, F127.
 */
-- Change a second since an earlier reading. Windows under three seconds, readings that shrank and a clock that went back
-- give 0: a division by almost nothing would make a peak of a handful of messages.
CREATE OR REPLACE FUNCTION queen._rate(
    p_new bigint,
    p_old bigint,
    p_at timestamptz,
    p_old_at timestamptz
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN extract(epoch FROM p_at - queen._shown_time(p_old_at)) >= 3 AND p_new > p_old
        THEN (p_new - p_old) / extract(epoch FROM p_at - queen._shown_time(p_old_at))::double precision
        ELSE 0
    END
$$;
REVOKE ALL ON FUNCTION queen._rate(bigint, bigint, timestamptz, timestamptz) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._store_queue_stats(
    p_at timestamptz,
    OUT updated integer,
    OUT changed integer
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_counts queen.queue_count_row[];
BEGIN
    SELECT coalesce(array_agg(c), '{}') INTO r_counts FROM queen._count_queues(p_at) c;
    INSERT INTO queen.stats (stat_type, stat_key, tenant_id, queue_id)
    SELECT 'queue', q.id::text, q.tenant_id, q.id
    FROM queen.queues q
    WHERE q.deleted_at IS NULL AND NOT EXISTS (SELECT FROM queen.stats s WHERE s.queue_id = q.id)
    ORDER BY q.id
    ON CONFLICT DO NOTHING;
    -- Counted before, so that these locks are short.
    PERFORM FROM queen.stats s WHERE s.stat_type = 'queue' ORDER BY s.queue_id FOR UPDATE;
    DELETE FROM queen.stats s
    WHERE s.stat_type = 'queue' AND NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = s.queue_id AND q.deleted_at IS NULL);
    SELECT count(*) INTO changed
    FROM queen.stats s
    JOIN unnest(r_counts) c ON c.queue_id = s.queue_id
    WHERE s.stat_type = 'queue'
      AND (s.child_count, s.total_messages, s.pending_messages, s.processing_messages, s.completed_messages, s.dead_letter_messages)
          <> (c.partitions, c.total, c.pending, c.processing, c.completed, c.dead);
    UPDATE queen.stats s
    SET child_count = c.partitions,
        total_messages = c.total,
        pending_messages = c.pending,
        processing_messages = c.processing,
        completed_messages = c.completed,
        dead_letter_messages = c.dead,
        retained_bytes = s.retained_bytes,
        segment_count = s.segment_count,
        oldest_pending_at = c.oldest_pending_at,
        newest_message_at = NULL,
        avg_lag_seconds = a.seconds,
        max_lag_seconds = a.seconds,
        median_lag_seconds = a.seconds,
        avg_offset_lag = c.pending,
        max_offset_lag = c.pending,
        ingested_per_second = queen._rate(c.total, s.prev_total_messages, p_at, s.prev_snapshot_at),
        processed_per_second = queen._rate(c.completed, s.prev_completed_messages, p_at, s.prev_snapshot_at),
        prev_total_messages = c.total,
        prev_completed_messages = c.completed,
        prev_snapshot_at = p_at,
        last_computed_at = p_at
    FROM unnest(r_counts) c
    CROSS JOIN LATERAL (
        SELECT coalesce(floor(greatest(extract(epoch FROM p_at - queen._shown_time(c.oldest_pending_at)), 0)), 0)::bigint AS seconds
    ) a
    WHERE s.stat_type = 'queue' AND s.queue_id = c.queue_id;
    GET DIAGNOSTICS updated = ROW_COUNT;
END $$;
REVOKE ALL ON FUNCTION queen._store_queue_stats(timestamptz) FROM PUBLIC;

-- Roll-ups of the rows of queues; those of labels and tenants that are no more go.
CREATE OR REPLACE FUNCTION queen._roll_up_stats(p_at timestamptz) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    WITH one AS (
        SELECT s.*, coalesce(q.namespace, '') AS namespace, coalesce(q.task, '') AS task
        FROM queen.stats s
        JOIN queen.queues q ON q.id = s.queue_id
        WHERE s.stat_type = 'queue' AND q.deleted_at IS NULL
    ),
    member AS (
        SELECT g.kind, g.label, g.tenant, o.*
        FROM one o
        CROSS JOIN LATERAL (VALUES
            ('namespace', o.namespace, o.tenant_id),
            ('task', o.task, o.tenant_id),
            ('tenant', o.tenant_id::text, o.tenant_id)) g (kind, label, tenant)
        WHERE g.label <> ''
        UNION ALL
        -- There is always a row of the whole, even without any queue.
        SELECT 'system', 'global', '00000000-0000-0000-0000-000000000000', o.*
        FROM (VALUES (1)) whole (one)
        LEFT JOIN one o ON true
    )
    INSERT INTO queen.stats AS s (stat_type, stat_key, tenant_id, child_count, total_messages, pending_messages,
        processing_messages, completed_messages, dead_letter_messages, retained_bytes, segment_count, oldest_pending_at,
        avg_lag_seconds, max_lag_seconds, median_lag_seconds, avg_offset_lag, max_offset_lag,
        ingested_per_second, processed_per_second, prev_total_messages, prev_completed_messages, prev_snapshot_at, last_computed_at)
    SELECT
        m.kind, m.label COLLATE "C", m.tenant,
        CASE WHEN m.kind IN ('namespace', 'task') THEN count(m.queue_id) ELSE coalesce(sum(m.child_count), 0) END,
        coalesce(sum(m.total_messages), 0),
        coalesce(sum(m.pending_messages), 0),
        coalesce(sum(m.processing_messages), 0),
        coalesce(sum(m.completed_messages), 0),
        coalesce(sum(m.dead_letter_messages), 0),
        coalesce(sum(m.retained_bytes), 0),
        coalesce(sum(m.segment_count), 0),
        min(m.oldest_pending_at),
        coalesce(round(avg(m.avg_lag_seconds)), 0),
        coalesce(max(m.max_lag_seconds), 0),
        coalesce(round(percentile_cont(0.5) WITHIN GROUP (ORDER BY m.avg_lag_seconds)), 0),
        coalesce(round(avg(m.pending_messages)), 0),
        coalesce(max(m.pending_messages), 0),
        coalesce(sum(m.ingested_per_second), 0),
        coalesce(sum(m.processed_per_second), 0),
        coalesce(sum(m.total_messages), 0),
        coalesce(sum(m.completed_messages), 0),
        p_at,
        p_at
    FROM member m
    GROUP BY m.kind, m.label, m.tenant
    ORDER BY m.kind, m.label, m.tenant
    ON CONFLICT ON CONSTRAINT stats_pkey DO UPDATE
    SET child_count = EXCLUDED.child_count,
        total_messages = EXCLUDED.total_messages,
        pending_messages = EXCLUDED.pending_messages,
        processing_messages = EXCLUDED.processing_messages,
        completed_messages = EXCLUDED.completed_messages,
        dead_letter_messages = EXCLUDED.dead_letter_messages,
        retained_bytes = EXCLUDED.retained_bytes,
        segment_count = EXCLUDED.segment_count,
        oldest_pending_at = EXCLUDED.oldest_pending_at,
        avg_lag_seconds = EXCLUDED.avg_lag_seconds,
        max_lag_seconds = EXCLUDED.max_lag_seconds,
        median_lag_seconds = EXCLUDED.median_lag_seconds,
        avg_offset_lag = EXCLUDED.avg_offset_lag,
        max_offset_lag = EXCLUDED.max_offset_lag,
        -- The whole keeps its rate over a short window; a label's is the sum of those of its queues.
        ingested_per_second = CASE
            WHEN s.stat_type <> 'system' THEN EXCLUDED.ingested_per_second
            WHEN p_at - s.prev_snapshot_at < interval '3 seconds' THEN s.ingested_per_second
            ELSE queen._rate(EXCLUDED.total_messages, s.prev_total_messages, p_at, s.prev_snapshot_at) END,
        processed_per_second = CASE
            WHEN s.stat_type <> 'system' THEN EXCLUDED.processed_per_second
            WHEN p_at - s.prev_snapshot_at < interval '3 seconds' THEN s.processed_per_second
            ELSE queen._rate(EXCLUDED.completed_messages, s.prev_completed_messages, p_at, s.prev_snapshot_at) END,
        prev_total_messages = EXCLUDED.prev_total_messages,
        prev_completed_messages = EXCLUDED.prev_completed_messages,
        prev_snapshot_at = p_at,
        last_computed_at = p_at;
    DELETE FROM queen.stats s WHERE s.stat_type <> 'queue' AND s.last_computed_at IS DISTINCT FROM p_at;
END $$;
REVOKE ALL ON FUNCTION queen._roll_up_stats(timestamptz) FROM PUBLIC;
