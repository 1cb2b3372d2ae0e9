/*
 * Purpose:     what goes wrong with single queues: groups that stand still and keep consumed messages from being deleted,
 *              windows without the switch, retention that is late or held by a stamp from the future, growth that nothing bounds, segments that compaction has
 *              emptied.
 * Locks:       none.  Isolation: any; one statement each.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      partitions x groups of the queues that delete what is consumed, two key probes of segments each; a week of
 *              hourly sizes a queue; the segment rows of partitions that compaction has rewritten.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      issue 5, spec 6.1, design 5, F081, F089, F123.
 */
CREATE OR REPLACE FUNCTION queen._doctor_groups(
    p_tenant_id uuid,
    p_stuck interval
) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        'stuck group', 'warning', format('group %s on queue %s', g.consumer_group, g.queue),
        format('idle since %s; it keeps %s of %s from being deleted as consumed. If it is gone, delete it; if it only stands still, start it',
            queen._utc(g.active_at), queen._counted(g.behind, 'message'), queen._counted(g.partitions, 'partition')),
        format('SELECT queen.delete_consumer_group_v1(%L, %L);', g.consumer_group, g.queue)
    FROM (
        SELECT
            q.id, q.name AS queue, c.consumer_group, q.group_idle_seconds,
            count(*) AS partitions, sum(h.head_offset - greatest(c.committed, h.log_start - 1)) AS behind,
            coalesce(min(a.last_active_at), max(greatest(c.created_at, c.lease_acquired_at))) AS active_at,
            greatest(max(c.lease_expires_at), min(a.leased_until)) AS leased_until
        FROM queen.queues q
        JOIN queen.partition_head h ON h.queue_id = q.id
        JOIN queen.log_consumers c ON c.partition_id = h.id
        CROSS JOIN LATERAL (
            SELECT max(x.last_active_at) AS last_active_at, max(x.leased_until) AS leased_until
            FROM queen.group_activity x
            WHERE x.queue_id = q.id AND x.consumer_group = c.consumer_group
        ) a
        WHERE q.deleted_at IS NULL AND (p_tenant_id IS NULL OR q.tenant_id = p_tenant_id)
          AND q.retention_enabled AND q.completed_retention_seconds > 0 AND q.cleanup_policy <> 'compact'
          AND h.oldest_live_at < clock_timestamp() - q.completed_retention_seconds * interval '1 s'
          AND c.committed < h.head_offset
          AND queen._oldest_pending_at(h.id, h.log_start, greatest(c.committed, h.log_start - 1) + 1)
              < clock_timestamp() - q.completed_retention_seconds * interval '1 s'
        GROUP BY q.id, q.name, c.consumer_group
    ) g
    WHERE g.active_at < clock_timestamp() - p_stuck AND coalesce(g.leased_until < clock_timestamp(), true)
      -- A group that is idle for longer than its queue allows holds nothing any more.
      AND NOT (g.group_idle_seconds > 0 AND queen._is_idle(g.id, g.consumer_group, clock_timestamp() - g.group_idle_seconds * interval '1 s', true))
$$;
REVOKE ALL ON FUNCTION queen._doctor_groups(uuid, interval) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_retention(
    p_tenant_id uuid,
    p_late interval
) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        'retention', 'note', format('queue %s', q.name),
        'a window or a limit is set, but retentionEnabled is false: nothing is deleted. The statement deletes what is older',
        format('SELECT queen.configure_queue_v1(%L, ''{"retentionEnabled": true}'', ''merge'');', q.name)
    FROM queen.queues q
    WHERE q.deleted_at IS NULL AND (p_tenant_id IS NULL OR q.tenant_id = p_tenant_id) AND NOT q.retention_enabled
      AND (q.retention_seconds > 0 OR q.completed_retention_seconds > 0 OR q.retention_bytes > 0 OR q.retention_messages > 0)
    UNION ALL
    SELECT
        'retention', 'warning', format('queue %s', q.name),
        format('messages that should be gone for a while are still in %s, the oldest of %s', queen._counted(count(*), 'partition'), queen._utc(min(p.oldest_live_at))),
        'CALL queen.run_maintenance_v1();'
    FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id
    WHERE q.deleted_at IS NULL AND (p_tenant_id IS NULL OR q.tenant_id = p_tenant_id)
      -- A sink that has not copied yet holds them on purpose.
      AND q.retention_enabled AND q.retention_seconds > 0 AND q.cleanup_policy <> 'compact' AND q.retention_sink_hold = ''
      AND p.oldest_live_at < clock_timestamp() - q.retention_seconds * interval '1 s' - p_late
    GROUP BY q.id, q.name
    UNION ALL
    -- Age deletes a prefix, never a hole, so such a stamp holds all that is behind it.
    SELECT
        'retention', 'warning', format('queue %s', q.name),
        format('the first message of %s is from the future, the latest of %s, as a clock that was ahead leaves it: until then nothing behind it goes by age. '
            'The statements delete the first segment of each', queen._counted(count(*), 'partition'), queen._utc(max(p.oldest_live_at))),
        string_agg(format('SELECT queen.log_retention_step_v1(%L, p_age_before => ''infinity'', p_max_rows => 1);', p.id), E'\n' ORDER BY p.id)
    FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id
    WHERE q.deleted_at IS NULL AND (p_tenant_id IS NULL OR q.tenant_id = p_tenant_id)
      AND (q.max_wait_time_seconds > 0
           OR q.retention_enabled AND q.cleanup_policy <> 'compact' AND (q.retention_seconds > 0 OR q.completed_retention_seconds > 0))
      AND p.oldest_live_at > clock_timestamp() + p_late
    GROUP BY q.id, q.name
$$;
REVOKE ALL ON FUNCTION queen._doctor_retention(uuid, interval) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_growth(
    p_tenant_id uuid,
    p_size_bytes bigint,
    p_days integer
) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        'growth', 'warning', format('queue %s', g.name),
        format('it holds %s, grows by %s a day and nothing bounds it: %s in %s. The statement keeps what fits',
            pg_size_pretty(g.bytes), pg_size_pretty((g.slope * 86400)::bigint), pg_size_pretty(p_size_bytes), queen._counted(g.days::numeric, 'day')),
        format('SELECT queen.configure_queue_v1(%L, ''{"retentionEnabled": true, "retentionSeconds": %s}'', ''merge'');',
            g.name, least(greatest(p_size_bytes / g.slope, 3600), 2147483647)::bigint)
    FROM (
        SELECT
            q.name, w.bytes, w.slope, floor(greatest(p_size_bytes - w.bytes, 0) / w.slope / 86400) AS days
        FROM queen.queues q
        CROSS JOIN LATERAL (
            SELECT
                max(h.retained_bytes) FILTER (WHERE h.newest = 1) AS bytes,
                regr_slope(h.retained_bytes, extract(epoch FROM h.hour_at)) AS slope,
                max(h.hour_at) - min(h.hour_at) AS span
            FROM (
                SELECT x.hour_at, x.retained_bytes, row_number() OVER (ORDER BY x.hour_at DESC) AS newest
                FROM queen.queue_size_history x
                WHERE x.queue_id = q.id AND x.hour_at > clock_timestamp() - interval '7 days'
            ) h
        ) w
        WHERE q.deleted_at IS NULL AND (p_tenant_id IS NULL OR q.tenant_id = p_tenant_id)
          AND w.span >= interval '6 hours' AND w.slope > 0
          AND NOT (q.max_wait_time_seconds > 0 OR q.cleanup_policy <> 'compact' AND q.retention_enabled
              AND (q.retention_seconds > 0 OR q.retention_bytes > 0 OR q.retention_messages > 0))
    ) g
    WHERE g.days < p_days
$$;
REVOKE ALL ON FUNCTION queen._doctor_growth(uuid, bigint, integer) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._doctor_emptied(
    p_tenant_id uuid,
    p_rows bigint
) RETURNS SETOF queen.doctor_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        'compaction', 'note', format('queue %s', q.name),
        format('%s of %s segments are empty, for compaction leaves their rows: they cost space and slow down reading from the start. Only a rule that deletes old messages takes them away',
            sum(e.emptied), sum(e.segments)),
        format('SELECT queen.configure_queue_v1(%L, ''{"cleanupPolicy": "compact,delete"}'', ''merge'');', q.name)
    FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id
    CROSS JOIN LATERAL (
        SELECT count(*) AS segments, count(*) FILTER (WHERE s.frames = 0) AS emptied
        FROM queen.log_segments s
        WHERE s.partition_id = p.id AND s.base_offset >= p.log_start
    ) e
    WHERE q.deleted_at IS NULL AND (p_tenant_id IS NULL OR q.tenant_id = p_tenant_id)
      AND p.removed_frames > 0 AND q.cleanup_policy = 'compact'
    GROUP BY q.id, q.name
    HAVING sum(e.emptied) > greatest(p_rows, sum(e.segments) / 2)
$$;
REVOKE ALL ON FUNCTION queen._doctor_emptied(uuid, bigint) FROM PUBLIC;
