/*
 * Purpose:     deliver from many partitions under one lease and one budget, for a pop of several partitions: one statement claims
 *              cursors, one reads, one leases, where _pop_partition takes four for each partition, to the same effect. How many are
 *              claimed at a time follows from how much those before gave, so that few are locked in vain. What gave nothing, a
 *              cursor that is missing too, is left to _pop_partition. Not for queues with a delay or a window, for autoAck or
 *              conflation.
 * Locks:       the consumer rows FOR UPDATE SKIP LOCKED. It never waits.
 * Isolation:   READ COMMITTED: the read must see what committed before the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_cap of the partitions given, each once; p_budget frames together, 1,000 at most; 16 MiB a partition (or one larger
 *              message); one segment a frame.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-25..O-35, design 3.4; perf 4 (push, take and ack of one message a call by many callers, taken by 100).
 */
CREATE OR REPLACE FUNCTION queen._pop_together(
    p_ids uuid[],
    p_cap integer,
    p_group text,
    p_budget integer,
    p_lease_id text,
    p_lease_seconds integer
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_claim record;
    r_next record;
    r_out queen.pop_row;
    v_now timestamptz;
    v_expires timestamptz;
    v_lease_id text := p_lease_id;
    v_left integer := p_budget;
    v_ids uuid[] := '{}'::uuid[];
    v_starts bigint[] := '{}'::bigint[];
    v_ends bigint[] := '{}'::bigint[];
    v_attempts integer[] := '{}'::integer[];
    v_done integer := 0;
    v_at integer := 0;
    v_id uuid;
    v_bytes bigint;
    v_due integer;
BEGIN
    WHILE v_left > 0 AND v_done < p_cap AND v_at < cardinality(p_ids) LOOP
        SELECT array_agg(c.partition_id) AS ids, array_agg(c.committed) AS committed, array_agg(c.attempt_offset) AS attempt_offset,
               array_agg(c.attempt_count) AS attempt_count, max(c.ord)::integer AS ord, count(*) AS n
        INTO r_claim
        FROM (
            SELECT x.partition_id, x.committed, x.attempt_offset, x.attempt_count, u.ord
            FROM unnest(p_ids[v_at + 1 :]) WITH ORDINALITY u (id, ord)
            CROSS JOIN LATERAL (
                -- The limit keeps it a probe for each row, whatever the statistics say.
                SELECT c.partition_id, c.committed, c.attempt_offset, c.attempt_count FROM queen.log_consumers c
                WHERE c.partition_id = u.id AND c.consumer_group = p_group
                  AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
                LIMIT 1
                FOR UPDATE SKIP LOCKED
            ) x
            LIMIT least(p_cap - v_done, CASE WHEN v_done = 0 THEN 8 ELSE greatest(v_left * v_done / (p_budget - v_left), 1) END)
        ) c;
        EXIT WHEN r_claim.n = 0;
        v_now := clock_timestamp();
        v_expires := v_now + make_interval(secs => p_lease_seconds);
        v_at := v_at + r_claim.ord;
        -- The slices are cut here, so that each array is fetched and decompressed once; of large segments none, because rows are
        -- read ahead of the bound.
        FOR r_next IN
            SELECT u.id, p.name, w.wanted, u.attempt_offset, u.attempt_count, s.created_at, s.id_base, s.base_offset, s.end_offset, s.bytes, s.lo,
                   s.frames, CASE WHEN s.bytes <= 65536 AND s.offsets IS NULL THEN s.payloads[s.lo : s.lo + p_budget - 1] END AS payloads,
                   s.transaction_ids[s.lo : s.lo + p_budget - 1] AS transaction_ids, s.keys[s.lo : s.lo + p_budget - 1] AS keys,
                   s.trace_ids[s.lo : s.lo + p_budget - 1]::text[] AS trace_ids, s.producer_subs[s.lo : s.lo + p_budget - 1] AS producer_subs
            FROM unnest(r_claim.ids, r_claim.committed, r_claim.attempt_offset, r_claim.attempt_count)
                u (id, committed, attempt_offset, attempt_count)
            JOIN queen.log_partitions p ON p.id = u.id
            CROSS JOIN LATERAL (SELECT greatest(u.committed + 1, p.log_start) AS wanted) w
            CROSS JOIN LATERAL (
                SELECT x.*, least(greatest(w.wanted - x.base_offset + 1, 1), 1001)::integer AS lo FROM queen.log_segments x
                WHERE x.partition_id = u.id AND x.frames > 0 AND x.base_offset >= coalesce((
                    SELECT c.base_offset FROM queen.log_segments c
                    WHERE c.partition_id = u.id AND c.base_offset >= p.log_start AND c.base_offset <= w.wanted
                    ORDER BY c.base_offset DESC LIMIT 1), w.wanted)
                ORDER BY x.base_offset
                LIMIT p_budget + 1
            ) s
        LOOP
            EXIT WHEN v_left = 0;
            CONTINUE WHEN r_next.end_offset < r_next.wanted;
            v_bytes := CASE WHEN r_next.id = v_id THEN v_bytes ELSE 0 END + r_next.bytes;
            v_id := r_next.id;
            CONTINUE WHEN v_ids[v_done] = v_id AND v_bytes > 16777216;
            v_due := least(r_next.frames - r_next.lo + 1, p_budget);
            IF v_done = 0 AND p_lease_id IS NULL THEN
                v_lease_id := queen._draw_lease_id(v_id, v_now); -- of a partition that is leased: a lease of one only is found by its id
            END IF;
            r_out := ROW(v_id, r_next.name, v_lease_id, v_expires, NULL, r_next.created_at, r_next.id_base, r_next.base_offset,
                r_next.base_offset + r_next.lo - 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::queen.pop_row;
            IF cardinality(r_next.payloads) = v_due AND array_position(r_next.payloads, NULL) IS NULL THEN
                v_due := least(v_due, v_left);
                r_out.last_offset := r_out.first_offset + v_due - 1;
                r_out.payloads := r_next.payloads[: v_due];
                r_out.transaction_ids := r_next.transaction_ids[: v_due];
                r_out.keys := r_next.keys[: v_due];
                r_out.trace_ids := r_next.trace_ids[: v_due];
                r_out.producer_subs := r_next.producer_subs[: v_due];
            ELSE
                r_out := queen._slice(r_out, s, r_next.wanted, v_left) FROM queen.log_segments s
                    WHERE s.partition_id = v_id AND s.base_offset = r_next.base_offset;
                CONTINUE WHEN r_out.payloads IS NULL;
            END IF;
            IF v_ids[v_done] IS DISTINCT FROM v_id THEN
                v_done := v_done + 1;
                v_ids[v_done] := v_id;
                v_starts[v_done] := r_out.first_offset;
                v_attempts[v_done] := CASE WHEN r_next.attempt_offset = r_out.first_offset THEN r_next.attempt_count + 1 ELSE 1 END;
            END IF;
            v_ends[v_done] := r_out.last_offset;
            v_left := v_left - cardinality(r_out.payloads);
            r_out.delivery_attempt := v_attempts[v_done];
            RETURN NEXT r_out;
        END LOOP;
    END LOOP;
    UPDATE queen.log_consumers c
    SET batch_end = u.last, worker_id = v_lease_id, lease_expires_at = v_expires, lease_acquired_at = clock_timestamp(),
        lease_conflated = false, attempt_offset = u.first, attempt_count = u.attempt
    FROM unnest(v_ids, v_starts, v_ends, v_attempts) u (id, first, last, attempt)
    WHERE c.partition_id = u.id AND c.consumer_group = p_group;
END $$;
REVOKE ALL ON FUNCTION queen._pop_together(uuid[], integer, text, integer, text, integer) FROM PUBLIC;
