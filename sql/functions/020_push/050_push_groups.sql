/*
 * Purpose:     resolve, create what is missing, and store each group in partition id order.
 * Locks:       as log_push_v1.  Isolation: as log_push_v1.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the call given.  Idempotency: as log_push_v1.
 * Raises:      as log_push_v1.
 * Source:      P-4, P-11..P-15, design 3.3, L-8, F029.
 */
CREATE OR REPLACE FUNCTION queen._push_groups(
    p_queues text[],
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_nonces bigint[],
    p_skip_locked boolean,
    p_tenant_id uuid,
    p_trace_ids text[],
    p_producer_subs text[]
) RETURNS SETOF queen.push_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_lanes record;
    r_out queen.push_row;
    v_groups integer := cardinality(p_queues);
    v_ends integer[];
    v_from integer;
    v_to integer;
    v_i integer;
BEGIN
    IF coalesce(v_groups, 0) = 0 THEN
        RETURN;
    END IF;
    PERFORM queen._check_push(p_queues, p_partitions, p_counts, p_payloads, p_ids, p_keys, p_trace_ids, p_producer_subs, p_nonces);
    SELECT * INTO r_lanes FROM queen._resolve_lanes(p_queues, p_partitions, p_tenant_id);
    IF array_position(r_lanes.ids, NULL) IS NOT NULL THEN
        PERFORM queen._provision(p_queues, p_partitions, p_tenant_id);
        SELECT * INTO r_lanes FROM queen._resolve_lanes(p_queues, p_partitions, p_tenant_id);
        IF array_position(r_lanes.ids, NULL) IS NOT NULL THEN
            PERFORM queen._raise('40001', 'a queue was deleted meanwhile; retry the call');
        END IF;
    END IF;
    IF v_groups = 1 AND NOT r_lanes.encrypted[1] THEN
        RETURN QUERY SELECT * FROM queen._push_group(0, r_lanes.ids[1], r_lanes.windows[1], p_payloads, p_ids, p_keys,
            p_trace_ids, p_producer_subs, p_nonces[1], p_skip_locked);
        RETURN;
    END IF;
    SELECT array_agg(c.upto ORDER BY c.ord) INTO v_ends
    FROM (SELECT n.ord, sum(n.cnt) OVER (ORDER BY n.ord)::integer AS upto FROM unnest(p_counts) WITH ORDINALITY n (cnt, ord)) c;

    -- A loop, so that partitions are locked in id order whatever the plan (set-based forms deadlocked).
    FOR v_i IN SELECT u.ord FROM unnest(r_lanes.ids) WITH ORDINALITY u (id, ord) ORDER BY u.id, u.ord
    LOOP
        v_to := v_ends[v_i];
        v_from := v_to - p_counts[v_i] + 1;
        CONTINUE WHEN v_to < v_from;
        IF r_lanes.encrypted[v_i] AND NOT queen._are_envelopes(p_payloads[v_from : v_to]) THEN
            r_out.grp := v_i - 1;
            r_out.status := 'failed';
            r_out.code := 'QN409';
            r_out.error := 'the queue is encrypted: only envelopes of the server may be stored in it';
            RETURN NEXT r_out;
        ELSE
            RETURN QUERY SELECT * FROM queen._push_group(v_i - 1, r_lanes.ids[v_i], r_lanes.windows[v_i],
                p_payloads[v_from : v_to], queen._unless_all_null(p_ids[v_from : v_to]), p_keys[v_from : v_to],
                p_trace_ids[v_from : v_to], p_producer_subs[v_from : v_to], p_nonces[v_i], p_skip_locked);
        END IF;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._push_groups(text[], text[], integer[], text[], text[], text[], bigint[], boolean, uuid, text[], text[]) FROM PUBLIC;

/*
 * Purpose:     partition ids, dedup windows and encryption flags of (queue, partition) pairs, in input order; NULL where missing.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE, so that a second call sees what was just created.
 * Bounds:      two key probes a pair.  Idempotency: reads only.  Raises: nothing.
 * Source:      P-11, E-5.
 */
CREATE OR REPLACE FUNCTION queen._resolve_lanes(
    p_queues text[],
    p_partitions text[],
    p_tenant_id uuid,
    OUT ids uuid[],
    OUT windows integer[],
    OUT encrypted boolean[]
)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF cardinality(p_queues) = 1 THEN
        SELECT ARRAY[p.id], ARRAY[q.dedup_window_seconds], ARRAY[q.encryption_enabled]
        INTO ids, windows, encrypted
        FROM queen.queues q
        JOIN queen.log_partitions p ON p.queue_id = q.id AND p.name = p_partitions[1]
        WHERE q.tenant_id = p_tenant_id AND q.name = p_queues[1] AND q.deleted_at IS NULL;
        ids := coalesce(ids, ARRAY[NULL::uuid]);
        RETURN;
    END IF;
    SELECT array_agg(p.id ORDER BY g.ord),
           array_agg(q.dedup_window_seconds ORDER BY g.ord),
           array_agg(q.encryption_enabled ORDER BY g.ord)
    INTO ids, windows, encrypted
    FROM unnest(p_queues, p_partitions) WITH ORDINALITY g (queue, part, ord)
    LEFT JOIN queen.queues q ON q.tenant_id = p_tenant_id AND q.name = g.queue AND q.deleted_at IS NULL
    LEFT JOIN queen.log_partitions p ON p.queue_id = q.id AND p.name = g.part;
END $$;
REVOKE ALL ON FUNCTION queen._resolve_lanes(text[], text[], uuid) FROM PUBLIC;
