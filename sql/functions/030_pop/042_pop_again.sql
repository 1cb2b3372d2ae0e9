/*
 * Purpose:     what a session that keeps taking from one partition needs: the next slice of the segment there that the
 *              cursor stands in, when that one alone fills p_budget and the queue has no gates, claimed as _pop_partition
 *              would. NULL, and nothing leased, when anything is out of the common; the search of log_pop_v1 then begins, and
 *              the session does not come back here before one segment filled a budget again.
 * Locks:       the consumer row of the partition that the session took from last, when it is of this queue, FOR UPDATE SKIP
 *              LOCKED; kept also when the answer is NULL. It never waits.
 * Isolation:   READ COMMITTED: the segment is looked at in the statement after the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one segment.
 * Idempotency: none.
 * Raises:      QN403 as _tenant.
 * Source:      O-6, O-25..O-34, design 3.4; perf 4 (take and ack).
 */
CREATE OR REPLACE FUNCTION queen._pop_again(
    p_queue text,
    p_group text,
    p_budget integer,
    p_lease_seconds integer,
    p_auto_ack boolean,
    p_tenant_id uuid
) RETURNS queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane uuid;
    v_tenant uuid;
    r_queue record;
    r_cur queen.log_consumers;
    r_seg record;
    v_first bigint;
    v_last bigint;
    v_attempt integer;
    v_lease_id text := '';
    v_now timestamptz := clock_timestamp();
    v_until timestamptz;
BEGIN
    -- Now and then everybody searches, so that no partition is last for ever.
    IF random() < 0.1 OR NOT coalesce(current_setting('queen.lane', true) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[+]$', false)
       OR current_setting('transaction_isolation') <> 'read committed' THEN
        RETURN NULL;
    END IF;
    v_lane := left(current_setting('queen.lane'), 36)::uuid;
    v_tenant := queen._tenant(p_tenant_id);
    SELECT q.id, s.lease_seconds, EXISTS (
        SELECT FROM queen.group_activity a
        WHERE a.queue_id = q.id AND a.consumer_group = p_group AND a.last_active_at > v_now - interval '1 second'
          AND (p_auto_ack OR a.leased_until > v_now + make_interval(secs => s.lease_seconds - 1))) AS active
    INTO r_queue
    FROM queen.queues q
    JOIN queen.consumer_groups_metadata m
      ON m.tenant_id = v_tenant AND m.consumer_group = p_group AND m.queue_id = q.id
     AND m.partition_name = '' AND m.namespace = '' AND m.task = '' AND NOT m.conflation
    CROSS JOIN LATERAL (SELECT queen._lease_seconds(p_lease_seconds, q.lease_time) AS lease_seconds) s
    WHERE q.tenant_id = v_tenant AND q.name = p_queue AND q.deleted_at IS NULL
      AND p_budget BETWEEN 1 AND 1000 AND coalesce(q.window_buffer, 0) <= 0 AND coalesce(q.delayed_processing, 0) <= 0 AND coalesce(q.min_pop_wait_time, 0) <= 0;
    IF NOT FOUND THEN
        PERFORM queen._keep_lane(v_lane, 0);
        RETURN NULL;
    ELSIF NOT r_queue.active THEN
        PERFORM queen._touch_group(r_queue.id, p_group, CASE WHEN NOT p_auto_ack THEN r_queue.lease_seconds END);
    END IF;
    SELECT c.* INTO r_cur
    FROM queen.log_consumers c
    JOIN queen.log_partitions p ON p.id = c.partition_id AND p.queue_id = r_queue.id
    WHERE c.partition_id = v_lane AND c.consumer_group = p_group
      AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= v_now)
    FOR UPDATE OF c SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM queen._keep_lane(v_lane, 0);
        RETURN NULL;
    END IF;
    -- The slices are cut here, so that each array is fetched and decompressed once.
    SELECT p.name, s.created_at, s.id_base, s.base_offset, w.lo, s.frames, s.offsets IS NOT NULL AS compacted,
           s.payloads[w.lo : w.hi] AS payloads, s.transaction_ids[w.lo : w.hi] AS transaction_ids, s.keys[w.lo : w.hi] AS keys,
           s.trace_ids[w.lo : w.hi]::text[] AS trace_ids, s.producer_subs[w.lo : w.hi] AS producer_subs
    INTO r_seg
    FROM queen.log_partitions p
    CROSS JOIN LATERAL (
        SELECT x.* FROM queen.log_segments x
        WHERE x.partition_id = v_lane AND x.base_offset >= p.log_start AND x.base_offset <= greatest(r_cur.committed + 1, p.log_start)
        ORDER BY x.base_offset DESC
        LIMIT 1
    ) s
    CROSS JOIN LATERAL (
        SELECT l.lo, l.lo + p_budget - 1 AS hi
        FROM (SELECT least(greatest(r_cur.committed + 1, p.log_start) - s.base_offset + 1, 1001)::integer AS lo) l
    ) w
    WHERE p.id = v_lane;
    IF NOT queen._is_ordinary(r_seg.payloads, r_seg.lo, r_seg.frames, r_seg.compacted, p_budget) THEN
        PERFORM queen._keep_lane(v_lane, 0);
        RETURN NULL;
    END IF;
    v_first := r_seg.base_offset + r_seg.lo - 1;
    v_last := v_first + p_budget - 1;
    IF p_auto_ack THEN
        v_attempt := 1;
        UPDATE queen.log_consumers c
        SET committed = greatest(c.committed, v_last), batch_end = NULL, worker_id = NULL, lease_expires_at = NULL,
            lease_acquired_at = NULL, lease_conflated = false, total_consumed = c.total_consumed + p_budget
        WHERE c.partition_id = v_lane AND c.consumer_group = p_group;
    ELSE
        v_attempt := CASE WHEN r_cur.attempt_offset = v_first THEN r_cur.attempt_count + 1 ELSE 1 END;
        v_lease_id := queen._draw_lease_id(v_lane);
        v_now := clock_timestamp();
        v_until := v_now + make_interval(secs => r_queue.lease_seconds);
        UPDATE queen.log_consumers c
        SET batch_end = v_last, worker_id = v_lease_id, lease_expires_at = v_until, lease_acquired_at = v_now,
            lease_conflated = false, attempt_offset = v_first, attempt_count = v_attempt
        WHERE c.partition_id = v_lane AND c.consumer_group = p_group;
    END IF;
    RETURN ROW(v_lane, r_seg.name, v_lease_id, v_until, v_attempt, r_seg.created_at, r_seg.id_base, r_seg.base_offset, v_first, v_last,
        r_seg.payloads, r_seg.transaction_ids, r_seg.keys, r_seg.trace_ids, r_seg.producer_subs, NULL, NULL, NULL)::queen.pop_row;
END $$;
REVOKE ALL ON FUNCTION queen._pop_again(text, text, integer, integer, boolean, uuid) FROM PUBLIC;
