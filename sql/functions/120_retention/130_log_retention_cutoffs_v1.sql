/*
 * Purpose:     what retention may take from each queue now: one row a live queue with all cut-offs and limits by one reading
 *              of the clock, and the groups that are idle. A rule that is off is NULL. SQL holds the policy here and nowhere
 *              else: the steps take what this answers. No stored value makes it fail: negative windows and limits are off,
 *              and a sink's pointer that is missing or unreadable leaves the cap, for that queue alone.
 * Locks:       none.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: reads the clock.
 * Bounds:      one row a queue; a key probe for the pointer of a queue with a sink; for a queue with groupIdleSeconds its
 *              groups, and its cursors when an idle group may hold a long lease.
 * Idempotency: reads only.
 * Raises:      QN400 when p_queue_ids is no list.
 * Source:      R-1, R-2, R-8, R-25, R-42..R-45, design 5 and 7, F082, F093, F103.
 */
CREATE OR REPLACE FUNCTION queen.log_retention_cutoffs_v1(
    p_queue_ids uuid[] DEFAULT NULL,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.retention_cutoff_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
AS $$
DECLARE
    v_now timestamptz := coalesce(p_now, clock_timestamp());
BEGIN
    IF NOT queen._is_list(p_queue_ids) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_queue_ids');
    END IF;
    RETURN QUERY
    SELECT q.tenant_id, q.id, q.name,
        CASE WHEN w.deletes AND q.retention_seconds > 0
             THEN least(v_now - make_interval(secs => q.retention_seconds), h.hold_before) END,
        CASE WHEN w.deletes AND q.completed_retention_seconds > 0
             THEN least(v_now - make_interval(secs => q.completed_retention_seconds), h.hold_before) END,
        CASE WHEN q.max_wait_time_seconds > 0 THEN v_now - make_interval(secs => q.max_wait_time_seconds) END,
        v_now - make_interval(secs => greatest(q.dedup_window_seconds, q.completed_retention_seconds, 900)),
        CASE WHEN w.deletes AND q.retention_bytes > 0 THEN q.retention_bytes END,
        CASE WHEN w.deletes AND q.retention_messages > 0 THEN q.retention_messages END,
        i.idle_before,
        CASE WHEN i.idle_before IS NOT NULL AND w.deletes AND q.completed_retention_seconds > 0
             THEN queen._idle_groups(q.id, i.idle_before, v_now) END,
        h.hold_before,
        CASE WHEN h.hold_before IS NULL THEN '' WHEN h.hold_before = h.pointer_before THEN 'pointer' ELSE 'cap' END,
        v_now
    FROM queen.queues q
    CROSS JOIN LATERAL (
        SELECT q.retention_enabled AND q.cleanup_policy LIKE '%delete%' AS deletes
    ) w
    LEFT JOIN LATERAL (
        SELECT k.pointer_before, greatest(k.pointer_before, v_now - make_interval(secs => greatest(q.retention_sink_hold_max_seconds, 60))) AS hold_before
        FROM (SELECT queen._sink_pointer(q.tenant_id, q.retention_sink_hold, q.name, v_now) - interval '60 seconds' AS pointer_before) k
        WHERE q.retention_sink_hold <> ''
    ) h ON true
    CROSS JOIN LATERAL (
        SELECT CASE WHEN q.group_idle_seconds > 0 THEN v_now - make_interval(secs => q.group_idle_seconds) END AS idle_before
    ) i
    WHERE (q.tenant_id = queen._current_tenant()
           OR (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001'))
      AND q.deleted_at IS NULL AND (p_queue_ids IS NULL OR q.id = ANY (p_queue_ids));
END $$;
COMMENT ON FUNCTION queen.log_retention_cutoffs_v1(uuid[], timestamptz) IS
'What retention may take from each queue now (or from those given): cut-off times, size limits and idle groups, all by one reading of the clock; null is off.';
REVOKE ALL ON FUNCTION queen.log_retention_cutoffs_v1(uuid[], timestamptz) FROM PUBLIC;

/*
 * Purpose:     the groups of a queue that did nothing since p_before and hold no live lease on any of its partitions.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: STABLE.
 * Bounds:      the groups of the queue; its cursors for a group whose last lease may not have ended.
 * Idempotency: yes.  Raises: nothing.
 * Source:      design 5 (groupIdleSeconds).
 */
CREATE OR REPLACE FUNCTION queen._idle_groups(
    p_queue_id uuid,
    p_before timestamptz,
    p_now timestamptz
) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(g.consumer_group ORDER BY g.consumer_group), '{}')
    FROM (
        SELECT a.consumer_group, max(a.leased_until) AS leased_until FROM queen.group_activity a
        WHERE a.queue_id = p_queue_id
        GROUP BY a.consumer_group HAVING max(a.last_active_at) < p_before
    ) g
    WHERE g.leased_until <= p_now OR NOT EXISTS (
        SELECT FROM queen.log_partitions p
        JOIN queen.log_consumers c ON c.partition_id = p.id AND c.consumer_group = g.consumer_group
        WHERE p.queue_id = p_queue_id AND c.worker_id IS NOT NULL AND c.lease_expires_at > p_now)
$$;
REVOKE ALL ON FUNCTION queen._idle_groups(uuid, timestamptz, timestamptz) FROM PUBLIC;

/*
 * Purpose:     how far a sink has copied a queue, from the tenant's value s3:<sink>:<queue>:committed in namespace queen-s3.
 *              NULL when there is none, when it ended, or when it is anything but {"tEnd": an RFC 3339 time}.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      one key probe.  Idempotency: yes.
 * Raises:      nothing: whatever stands there, this queue is held by the cap and no other is touched.
 * Source:      R-42, R-44, R-45, F103.
 */
CREATE OR REPLACE FUNCTION queen._sink_pointer(
    p_tenant_id uuid,
    p_sink text,
    p_queue text,
    p_now timestamptz
) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_value jsonb := (
        SELECT k.value FROM queen.kv k
        WHERE k.tenant_id = p_tenant_id AND k.namespace = 'queen-s3' AND k.key = queen._sink_key(p_sink, p_queue)
          AND (k.expires_at IS NULL OR k.expires_at > p_now));
    v_text text := CASE WHEN jsonb_typeof(v_value) = 'object' AND jsonb_typeof(v_value -> 'tEnd') = 'string' THEN v_value ->> 'tEnd' END;
BEGIN
    IF v_text COLLATE "C" ~ '^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$' THEN
        RETURN v_text::timestamptz;
    END IF;
    RETURN NULL;
-- Not a hot path: only queues with a sink come here. A day or an hour that does not exist passes the pattern.
EXCEPTION WHEN data_exception THEN
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION queen._sink_pointer(uuid, text, text, timestamptz) FROM PUBLIC;

-- The queue's name percent-encoded as in a URL (all but A-Z a-z 0-9 - . _ ~), so that its colons do not end it.
CREATE OR REPLACE FUNCTION queen._sink_key(
    p_sink text,
    p_queue text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 's3:' || p_sink || ':' || coalesce(string_agg(
        CASE WHEN c.ch COLLATE "C" ~ '^[A-Za-z0-9._~-]$' THEN c.ch
             ELSE regexp_replace(upper(encode(convert_to(c.ch, 'UTF8'), 'hex')), '(..)', '%\1', 'g') END, '' ORDER BY c.n), '') || ':committed'
    FROM regexp_split_to_table(p_queue, '') WITH ORDINALITY c (ch, n)
    WHERE c.ch <> ''
$$;
REVOKE ALL ON FUNCTION queen._sink_key(text, text) FROM PUBLIC;
