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
    p_producer_subs text[],
    p_sealed boolean[]
) RETURNS queen.push_row[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows queen.push_row[];
    v_wide queen.push_row[];
    r_lanes record;
    r_part queen.log_partitions;
    r_out queen.push_row;
    v_ends integer[];
    v_groups integer[]; -- to be stored, by partition id
    v_held integer[];   -- of these, the ones whose partition is locked
    v_at integer := 1;  -- in v_wide
    v_from integer;
    v_to integer;
    v_i integer;
BEGIN
    IF coalesce(cardinality(p_queues), 0) + coalesce(cardinality(p_payloads), 0) + coalesce(cardinality(p_counts), 0) = 0 THEN
        RETURN NULL;
    ELSIF NOT queen._check_push(p_queues, p_partitions, p_counts, p_payloads, p_ids, p_keys, p_trace_ids, p_producer_subs, p_nonces,
        p_sealed) THEN
        RETURN NULL;
    END IF;
    r_lanes := queen._resolve_lanes(p_queues, p_partitions, p_tenant_id);
    IF array_position(r_lanes.ids, NULL) IS NOT NULL THEN
        IF p_skip_locked THEN
            PERFORM queen._provision_unless_busy(p_queues, p_partitions, p_tenant_id);
        ELSE
            PERFORM queen._provision(p_queues, p_partitions, p_tenant_id);
        END IF;
        r_lanes := queen._resolve_lanes(p_queues, p_partitions, p_tenant_id);
        IF array_position(r_lanes.ids, NULL) IS NOT NULL AND NOT p_skip_locked THEN
            PERFORM queen._raise('40001', 'a queue was deleted meanwhile; retry the call');
        END IF;
    END IF;
    SELECT array_agg(c.upto ORDER BY c.ord) INTO v_ends
    FROM (SELECT n.ord, sum(n.cnt) OVER (ORDER BY n.ord)::integer AS upto FROM unnest(p_counts) WITH ORDINALITY n (cnt, ord)) c;

    FOR v_i IN SELECT u.ord FROM unnest(r_lanes.ids) WITH ORDINALITY u (id, ord) ORDER BY u.id, u.ord
    LOOP
        v_to := v_ends[v_i];
        v_from := v_to - p_counts[v_i] + 1;
        CONTINUE WHEN v_to < v_from;
        IF coalesce(p_sealed[v_i], r_lanes.encrypted[v_i]) <> r_lanes.encrypted[v_i]
           OR r_lanes.encrypted[v_i] AND NOT queen._are_envelopes(p_payloads[v_from : v_to]) THEN
            r_out := queen._refusal(v_i - 1, 'failed');
            r_out.code := 'QN409';
            r_out.error := CASE WHEN r_lanes.encrypted[v_i] THEN 'the queue is encrypted: only envelopes of a server may be stored in it, so push over HTTP'
                                ELSE 'the queue is not encrypted: its payloads are stored as they are' END;
            v_rows := v_rows || r_out;
            CONTINUE;
        END IF;
        v_groups := v_groups || v_i;
    END LOOP;
    v_held := queen._lock_lanes(r_lanes.ids, v_groups, p_skip_locked);
    IF cardinality(v_held) > 0 THEN
        v_wide := queen._push_wide(v_held, r_lanes.ids, p_counts, v_ends, p_payloads, queen._unless_all_null(p_ids), p_keys,
            p_trace_ids, p_producer_subs, p_nonces);
    END IF;
    FOREACH v_i IN ARRAY coalesce(v_groups, '{}')
    LOOP
        IF v_i = (v_wide[v_at]).grp + 1 THEN
            v_at := v_at + 1;
            CONTINUE;
        ELSIF cardinality(v_held) < cardinality(v_groups) AND NOT v_i = ANY (v_held) THEN
            v_rows := v_rows || queen._refusal(v_i - 1, 'busy');
            CONTINUE;
        END IF;
        v_to := v_ends[v_i];
        v_from := v_to - p_counts[v_i] + 1;
        SELECT * INTO r_part FROM queen.log_partitions WHERE id = r_lanes.ids[v_i];
        v_rows := v_rows || queen._push_group(v_i - 1, r_part, r_lanes.windows[v_i], p_payloads[v_from : v_to],
            queen._unless_all_null(p_ids[v_from : v_to]), p_keys[v_from : v_to], p_trace_ids[v_from : v_to],
            p_producer_subs[v_from : v_to], p_nonces[v_i]);
    END LOOP;
    RETURN v_wide || v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._push_groups(text[], text[], integer[], text[], text[], text[], bigint[], boolean, uuid, text[], text[], boolean[]) FROM PUBLIC;

/*
 * Purpose:     lock the partitions of groups given in the order of their partition ids, and answer the groups, in the same order,
 *              whose partition is held. A bundle of many callers skips what is locked by others or gone.
 * Locks:       partitions by id ascending, FOR NO KEY UPDATE.
 * Isolation:   any.
 * Volatility:  VOLATILE: locks.
 * Bounds:      the groups given.  Idempotency: yes.
 * Raises:      40001 when a partition is gone and p_skip_locked is false.
 * Source:      design 3.2 rule 1, 3.3.
 */
CREATE OR REPLACE FUNCTION queen._lock_lanes(p_lanes uuid[], p_groups integer[], p_skip_locked boolean) RETURNS integer[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_i integer;
    v_ids uuid[];
BEGIN
    IF p_skip_locked THEN
        v_ids := ARRAY(SELECT id FROM queen.log_partitions WHERE id = ANY (ARRAY(SELECT p_lanes[g.i] FROM unnest(p_groups) g (i)))
                       ORDER BY id FOR NO KEY UPDATE SKIP LOCKED);
        RETURN ARRAY(SELECT g.i FROM unnest(p_groups) WITH ORDINALITY g (i, ord) WHERE p_lanes[g.i] = ANY (v_ids) ORDER BY g.ord);
    END IF;
    -- A loop, so that the order is that of the ids whatever the plan (set-based forms deadlocked).
    FOREACH v_i IN ARRAY coalesce(p_groups, '{}') LOOP
        PERFORM FROM queen.log_partitions WHERE id = p_lanes[v_i] FOR NO KEY UPDATE;
        IF NOT FOUND THEN
            PERFORM queen._raise('40001', 'the partition was removed meanwhile; retry the call');
        END IF;
    END LOOP;
    RETURN p_groups;
END $$;
REVOKE ALL ON FUNCTION queen._lock_lanes(uuid[], integer[], boolean) FROM PUBLIC;

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
    -- One sort for all: an ORDER BY in each aggregate would be one each.
    SELECT array_agg(r.id), array_agg(r.dedup_window_seconds), array_agg(r.encryption_enabled)
    INTO ids, windows, encrypted
    FROM (
        SELECT p.id, q.dedup_window_seconds, q.encryption_enabled
        FROM unnest(p_queues, p_partitions) WITH ORDINALITY g (queue, part, ord)
        LEFT JOIN queen.queues q ON q.tenant_id = p_tenant_id AND q.name = g.queue AND q.deleted_at IS NULL
        -- The first key at or above, so that no plan walks all partitions of the queue by another index.
        LEFT JOIN LATERAL (
            SELECT l.id, l.queue_id, l.name FROM queen.log_partitions l
            WHERE (l.queue_id, l.name) >= (q.id, g.part)
            ORDER BY l.queue_id, l.name
            LIMIT 1
        ) p ON p.queue_id = q.id AND p.name = g.part
        ORDER BY g.ord
    ) r;
END $$;
REVOKE ALL ON FUNCTION queen._resolve_lanes(text[], text[], uuid) FROM PUBLIC;
