/*
 * Purpose:     deliver from many partitions at once, for pops of one partition each that share a call: one statement claims the
 *              cursors, one reads, one leases, where _pop_partition takes four for each partition. Every partition has a lease
 *              and a budget of its own. It does what is ordinary: a cursor in a segment that alone fills the budget, or is the
 *              last one. Whatever else the candidates are goes to _pop_partition, until p_cap of them gave something. Not for queues with a delay
 *              or a window, for autoAck or conflation.
 * Locks:       the consumer rows FOR UPDATE SKIP LOCKED; see also _claim_first_contact. It never waits.
 * Isolation:   READ COMMITTED: the read must see what committed before the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_cap partitions, of each p_budget frames; no partition more behind 16 MiB of payloads, of which the call has
 *              dealt p_bytes before.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-25..O-35, design 3.4; perf 4 (push, take and ack of one message a call by many callers).
 */
CREATE OR REPLACE FUNCTION queen._pop_apart(
    p_ids uuid[],
    p_cap integer,
    r_queue queen.queues,
    p_group text,
    p_budget integer,
    p_lease_seconds integer,
    p_mode text,
    p_from text,
    p_bytes bigint DEFAULT 0
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_claim record;
    r_next record;
    r_out queen.pop_row;
    v_now timestamptz;
    v_expires timestamptz;
    v_done integer := 0;
    v_ids uuid[] := '{}'::uuid[];
    v_leases text[] := '{}'::text[];
    v_starts bigint[] := '{}'::bigint[];
    v_ends bigint[] := '{}'::bigint[];
    v_attempts integer[] := '{}'::integer[];
    v_id uuid;
BEGIN
    -- Each once: a row that this transaction has locked can be locked by it again, and would be dealt twice.
    p_ids := ARRAY(SELECT u.id FROM unnest(p_ids) WITH ORDINALITY u (id, ord) GROUP BY u.id ORDER BY min(u.ord));
    SELECT array_agg(c.partition_id) AS ids, array_agg(c.committed) AS committed,
           array_agg(c.attempt_offset) AS attempt_offset, array_agg(c.attempt_count) AS attempt_count
    INTO r_claim
    FROM (
        SELECT x.partition_id, x.committed, x.attempt_offset, x.attempt_count
        FROM unnest(p_ids) u (id)
        CROSS JOIN LATERAL (
            -- The limit keeps it a probe for each row, whatever the statistics say.
            SELECT c.partition_id, c.committed, c.attempt_offset, c.attempt_count FROM queen.log_consumers c
            WHERE c.partition_id = u.id AND c.consumer_group = p_group
              AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) x
        LIMIT p_cap
    ) c;
    v_now := clock_timestamp();
    v_expires := v_now + make_interval(secs => p_lease_seconds);
    -- The slices are cut here, so that each array is fetched and decompressed once; of large segments none, because rows are
    -- read ahead of the bound.
    FOR r_next IN
        SELECT u.id, p.name, w.wanted, u.attempt_offset, u.attempt_count, s.created_at, s.id_base, s.base_offset, l.lo,
               s.frames, s.offsets IS NOT NULL AS compacted,
               s.payloads[l.lo : l.lo + p_budget - 1] AS payloads, s.transaction_ids[l.lo : l.lo + p_budget - 1] AS transaction_ids,
               s.keys[l.lo : l.lo + p_budget - 1] AS keys, s.trace_ids[l.lo : l.lo + p_budget - 1]::text[] AS trace_ids,
               s.producer_subs[l.lo : l.lo + p_budget - 1] AS producer_subs,
               CASE WHEN l.lo + p_budget - 1 > s.frames AND NOT EXISTS (
                   SELECT FROM queen.log_segments n WHERE n.partition_id = u.id AND n.base_offset > s.base_offset)
                   THEN greatest(s.frames - l.lo + 1, 1) ELSE p_budget END AS due
        FROM unnest(r_claim.ids, r_claim.committed, r_claim.attempt_offset, r_claim.attempt_count)
            u (id, committed, attempt_offset, attempt_count)
        JOIN queen.log_partitions p ON p.id = u.id
        CROSS JOIN LATERAL (SELECT greatest(u.committed + 1, p.log_start) AS wanted) w
        CROSS JOIN LATERAL (
            SELECT x.* FROM queen.log_segments x
            WHERE x.partition_id = u.id AND x.base_offset >= p.log_start AND x.base_offset <= w.wanted
            ORDER BY x.base_offset DESC
            LIMIT 1
        ) s
        CROSS JOIN LATERAL (SELECT least(w.wanted - s.base_offset + 1, 1001)::integer AS lo) l
        WHERE s.bytes <= 1048576
    LOOP
        CONTINUE WHEN NOT queen._is_ordinary(r_next.payloads, r_next.lo, r_next.frames, r_next.compacted, r_next.due);
        EXIT WHEN p_bytes > 16777216;
        r_out := ROW(r_next.id, r_next.name, queen._draw_lease_id(r_next.id, v_now), v_expires,
            CASE WHEN r_next.attempt_offset = r_next.wanted THEN r_next.attempt_count + 1 ELSE 1 END,
            r_next.created_at, r_next.id_base, r_next.base_offset, r_next.wanted, r_next.wanted + r_next.due - 1,
            r_next.payloads, r_next.transaction_ids, r_next.keys, r_next.trace_ids, r_next.producer_subs, NULL, NULL, NULL)::queen.pop_row;
        v_done := v_done + 1;
        v_ids[v_done] := r_next.id;
        v_leases[v_done] := r_out.lease_id;
        v_starts[v_done] := r_out.first_offset;
        v_ends[v_done] := r_out.last_offset;
        v_attempts[v_done] := r_out.delivery_attempt;
        p_bytes := p_bytes + queen._payload_bytes(r_out.payloads);
        RETURN NEXT r_out;
    END LOOP;
    UPDATE queen.log_consumers c
    SET batch_end = u.last, worker_id = u.lease, lease_expires_at = v_expires, lease_acquired_at = clock_timestamp(),
        lease_conflated = false, attempt_offset = u.first, attempt_count = u.attempt
    FROM unnest(v_ids, v_leases, v_starts, v_ends, v_attempts) u (id, lease, first, last, attempt)
    WHERE c.partition_id = u.id AND c.consumer_group = p_group;

    IF v_done = p_cap OR p_bytes > 16777216 THEN
        RETURN;
    END IF;
    -- A loop over what is rare: it ends when the pops have what they wanted.
    FOREACH v_id IN ARRAY ARRAY(
        SELECT u.id FROM unnest(p_ids) u (id)
        WHERE u.id <> ALL (v_ids) AND NOT EXISTS (
            SELECT FROM queen.log_consumers c
            WHERE c.partition_id = u.id AND c.consumer_group = p_group AND c.worker_id IS NOT NULL AND c.lease_expires_at > clock_timestamp()))
    LOOP
        EXIT WHEN v_done = p_cap OR p_bytes > 16777216;
        FOR r_out IN SELECT * FROM queen._pop_partition(v_id, r_queue, p_group, p_budget, NULL, p_lease_seconds, false, p_mode, p_from) LOOP
            IF v_ids[v_done] IS DISTINCT FROM v_id THEN
                v_done := v_done + 1;
                v_ids[v_done] := v_id;
            END IF;
            p_bytes := p_bytes + queen._payload_bytes(r_out.payloads);
            RETURN NEXT r_out;
        END LOOP;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._pop_apart(uuid[], integer, queen.queues, text, integer, integer, text, text, bigint) FROM PUBLIC;

/*
 * Purpose:     bytes of payloads, uncompressed.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: none.  Idempotency: yes.  Raises: nothing.
 * Source:      O-30.
 */
CREATE OR REPLACE FUNCTION queen._payload_bytes(p_payloads text[]) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT octet_length(array_to_string(p_payloads, ''))
$$;
REVOKE ALL ON FUNCTION queen._payload_bytes(text[]) FROM PUBLIC;

/*
 * Purpose:     whether frames cut from place p_lo of a segment on are an ordinary slice: as many as wanted, all there, and at
 *              the offsets that their places say. False for what is unknown or was damaged by hand.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE; it is inlined.  Bounds: one slice.  Idempotency: yes.  Raises: nothing.
 * Source:      O-31, F079, design 5 item 1 (offsets after compaction).
 */
CREATE OR REPLACE FUNCTION queen._is_ordinary(
    p_payloads text[],
    p_lo integer,
    p_frames integer,
    p_compacted boolean,
    p_budget integer
) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (NOT p_compacted AND cardinality(p_payloads) = p_budget AND p_lo + p_budget - 1 <= p_frames
        AND array_position(p_payloads, NULL) IS NULL) IS TRUE
$$;
REVOKE ALL ON FUNCTION queen._is_ordinary(text[], integer, integer, boolean, integer) FROM PUBLIC;
