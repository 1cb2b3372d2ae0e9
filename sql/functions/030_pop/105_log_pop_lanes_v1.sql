/*
 * Purpose:     claim messages for pops of one partition each that ask for the same, from partitions of which the caller was told
 *              that something came or that they are free again: what log_pop_v1 with p_apart does, without its search.
 *              Answers nothing where anything is out of the common (a queue with gates or a minPopWaitTime, a group that is not
 *              registered or conflates), and where none of the partitions has something: log_pop_v1 then searches.
 * Locks:       as _pop_lane and _pop_apart: consumer rows, SKIP LOCKED; it never waits.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the first 1024 partitions given; p_max_partitions of them give, each up to p_batch frames (within 1 and 10,000);
 *              no partition more behind 16 MiB.
 * Idempotency: none: a second call is a new claim.
 * Raises:      QN400 for an array that is no list or another isolation level; QN403 as _tenant.
 * Source:      O-6, O-8, O-9, O-49, design 6 (parked pops); perf 4 (end to end, push and take and ack at once).
 */
CREATE OR REPLACE FUNCTION queen.log_pop_lanes_v1(
    p_queue text,
    p_partition_ids uuid[],
    p_consumer_group text DEFAULT NULL,
    p_batch integer DEFAULT 200,
    p_max_partitions integer DEFAULT 1,
    p_lease_seconds integer DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    r_found record;
    v_tenant uuid;
    v_group text := coalesce(p_consumer_group, '__QUEUE_MODE__');
    v_ids uuid[];
BEGIN
    PERFORM queen._require_read_committed();
    IF NOT queen._is_list(p_partition_ids) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_partition_ids');
    END IF;
    IF cardinality(p_partition_ids) = 1 THEN
        RETURN QUERY SELECT * FROM queen._pop_lane(p_queue, p_partition_ids[1], v_group, least(greatest(p_batch, 1), 10000), p_lease_seconds, p_tenant_id);
        RETURN;
    END IF;
    v_tenant := queen._tenant(p_tenant_id);
    SELECT q AS queue, queen._lease_seconds(p_lease_seconds, q.lease_time) AS lease_seconds INTO r_found
    FROM queen.queues q
    JOIN queen.consumer_groups_metadata m
      ON m.tenant_id = v_tenant AND m.consumer_group = v_group AND m.queue_id = q.id
     AND m.partition_name = '' AND m.namespace = '' AND m.task = '' AND NOT m.conflation
    WHERE q.tenant_id = v_tenant AND q.name = p_queue AND q.deleted_at IS NULL
      AND coalesce(q.window_buffer, 0) <= 0 AND coalesce(q.delayed_processing, 0) <= 0 AND coalesce(q.min_pop_wait_time, 0) <= 0;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    PERFORM queen._touch_group((r_found.queue).id, v_group, r_found.lease_seconds);
    v_ids := ARRAY(
        SELECT u.id
        FROM unnest(p_partition_ids[: 1024]) u (id)
        CROSS JOIN LATERAL (
            -- The limits keep them probes for each row, whatever the statistics say.
            SELECT x.head_offset FROM queen.partition_head x WHERE x.id = u.id AND x.queue_id = (r_found.queue).id LIMIT 1
        ) h
        LEFT JOIN LATERAL (
            SELECT x.committed, x.worker_id, x.lease_expires_at FROM queen.log_consumers x
            WHERE x.partition_id = u.id AND x.consumer_group = v_group
            LIMIT 1
        ) c ON true
        WHERE h.head_offset > coalesce(c.committed, -1) AND (c.worker_id IS NULL OR coalesce(c.lease_expires_at <= clock_timestamp(), true)));
    IF v_ids <> '{}' THEN
        RETURN QUERY SELECT * FROM queen._pop_apart(v_ids, greatest(p_max_partitions, 1), r_found.queue, v_group,
            least(greatest(p_batch, 1), 10000), r_found.lease_seconds, 'registered', NULL);
    END IF;
END $$;
COMMENT ON FUNCTION queen.log_pop_lanes_v1(text, uuid[], text, integer, integer, integer, uuid) IS
'Claim the next messages of the given partitions of a queue for a consumer group, each under a lease of its own, if they have any.';
REVOKE ALL ON FUNCTION queen.log_pop_lanes_v1(text, uuid[], text, integer, integer, integer, uuid) FROM PUBLIC;

/*
 * Purpose:     the same for one partition, in two statements where all is ordinary: one claims the cursor and looks at the
 *              queue's options, which that lock does not guard; one, in _lease_slice, does the rest. Else _pop_partition does it.
 * Locks:       the consumer row FOR UPDATE SKIP LOCKED; see also _touch_group. It never waits.
 * Isolation:   READ COMMITTED: the second statement must see what committed before the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_budget frames; as _pop_partition.
 * Idempotency: none.
 * Raises:      QN403 as _tenant.
 * Source:      O-25..O-35, design 3.4; perf 4 (end to end).
 */
CREATE OR REPLACE FUNCTION queen._pop_lane(
    p_queue text,
    p_partition_id uuid,
    p_group text,
    p_budget integer,
    p_lease_seconds integer,
    p_tenant_id uuid
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_claim record;
    r_out queen.pop_row;
    v_now timestamptz := clock_timestamp();
BEGIN
    SELECT q AS queue, q.id, c.committed, l.seconds, EXISTS (
        SELECT FROM queen.group_activity a
        WHERE a.queue_id = q.id AND a.consumer_group = p_group AND a.last_active_at > v_now - interval '1 second'
          AND a.leased_until > v_now + make_interval(secs => l.seconds - 1)) AS active
    INTO r_claim
    FROM queen.log_consumers c
    JOIN queen.partition_head h ON h.id = c.partition_id AND h.head_offset > c.committed
    JOIN queen.queues q ON q.id = h.queue_id
    JOIN queen.consumer_groups_metadata m
      ON m.tenant_id = q.tenant_id AND m.consumer_group = p_group AND m.queue_id = q.id
     AND m.partition_name = '' AND m.namespace = '' AND m.task = '' AND NOT m.conflation
    CROSS JOIN LATERAL (SELECT queen._lease_seconds(p_lease_seconds, q.lease_time) AS seconds) l
    WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
      AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= v_now)
      AND q.tenant_id = queen._tenant(p_tenant_id) AND q.name = p_queue AND q.deleted_at IS NULL
      AND coalesce(q.window_buffer, 0) <= 0 AND coalesce(q.delayed_processing, 0) <= 0 AND coalesce(q.min_pop_wait_time, 0) <= 0
    FOR UPDATE OF c SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    ELSIF NOT r_claim.active THEN
        PERFORM queen._touch_group(r_claim.id, p_group, r_claim.seconds);
    END IF;
    r_out := queen._lease_slice(p_partition_id, p_group, r_claim.committed, p_budget, r_claim.seconds);
    IF r_out.payloads IS NOT NULL THEN
        RETURN NEXT r_out;
    ELSE
        RETURN QUERY SELECT * FROM queen._pop_partition(p_partition_id, r_claim.queue, p_group, p_budget, NULL, r_claim.seconds, false, 'registered', NULL);
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._pop_lane(text, uuid, text, integer, integer, uuid) FROM PUBLIC;
