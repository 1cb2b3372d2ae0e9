/*
 * Purpose:     deliver from many partitions at once, for pops of one partition each that share a call: one statement claims the
 *              cursors, one reads, one leases, where _pop_partition takes four for each partition. Every partition has a lease
 *              and a budget of its own. First contacts, and cursors over an emptied partition, go to _pop_partition. Not for
 *              queues with a delay or a window, for autoAck or conflation.
 * Locks:       the consumer rows FOR UPDATE SKIP LOCKED; see also _claim_first_contact. It never waits.
 * Isolation:   READ COMMITTED: the read must see what committed before the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_cap partitions, of each p_budget frames in as many segments; no partition more behind 16 MiB of frame bytes.
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
    p_from text
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_claim record;
    r_next record;
    r_out queen.pop_row;
    r_slice queen.pop_row;
    v_at integer := 0;
    v_left integer;
    v_bytes bigint := 0;
    v_done integer := 0;
    v_ids uuid[] := '{}'::uuid[];
    v_leases text[] := '{}'::text[];
    v_starts bigint[] := '{}'::bigint[];
    v_ends bigint[] := '{}'::bigint[];
    v_attempts integer[] := '{}'::integer[];
    v_odd uuid[] := '{}'::uuid[];
    v_id uuid;
BEGIN
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
    r_out.lease_expires_at := clock_timestamp() + make_interval(secs => p_lease_seconds);
    -- A loop, because how many segments are needed is known only while reading them.
    FOR r_next IN
        SELECT u.ord, u.id, u.attempt_offset, u.attempt_count, p.name, w.wanted, s.seg, s.base_offset
        FROM unnest(r_claim.ids, r_claim.committed, r_claim.attempt_offset, r_claim.attempt_count)
            WITH ORDINALITY u (id, committed, attempt_offset, attempt_count, ord)
        JOIN queen.log_partitions p ON p.id = u.id
        CROSS JOIN LATERAL (SELECT greatest(u.committed + 1, p.log_start) AS wanted) w
        LEFT JOIN LATERAL (
            SELECT x AS seg, x.base_offset FROM queen.log_segments x
            WHERE x.partition_id = u.id AND x.base_offset >= coalesce((
                SELECT c.base_offset FROM queen.log_segments c
                WHERE c.partition_id = u.id AND c.base_offset >= p.log_start AND c.base_offset <= w.wanted
                ORDER BY c.base_offset DESC LIMIT 1), w.wanted)
              AND x.end_offset >= w.wanted AND x.frames > 0
            ORDER BY x.base_offset
            LIMIT p_budget
        ) s ON true
        ORDER BY u.ord, s.base_offset
    LOOP
        IF r_next.ord <> v_at THEN
            EXIT WHEN v_bytes > 16777216;
            v_at := r_next.ord;
            v_left := p_budget;
            r_out.lease_id := NULL;
            IF r_next.base_offset IS NULL THEN
                v_odd := v_odd || r_next.id;
            END IF;
        END IF;
        CONTINUE WHEN v_left = 0 OR r_next.base_offset IS NULL OR (r_out.lease_id IS NOT NULL AND v_bytes > 16777216);
        r_slice := queen._slice(r_out, r_next.seg, r_next.wanted, v_left);
        CONTINUE WHEN r_slice.payloads IS NULL;
        r_out := r_slice;
        IF r_out.lease_id IS NULL THEN
            v_done := v_done + 1;
            r_out.partition_id := r_next.id;
            r_out.partition := r_next.name;
            r_out.lease_id := queen._draw_lease_id(r_next.id);
            r_out.delivery_attempt := CASE WHEN r_next.attempt_offset = r_out.first_offset THEN r_next.attempt_count + 1 ELSE 1 END;
            v_ids := v_ids || r_next.id;
            v_leases := v_leases || r_out.lease_id;
            v_starts := v_starts || r_out.first_offset;
            v_attempts := v_attempts || r_out.delivery_attempt;
        END IF;
        v_ends[v_done] := r_out.last_offset;
        v_left := v_left - cardinality(r_out.payloads);
        v_bytes := v_bytes + pg_column_size(r_out.payloads);
        RETURN NEXT r_out;
    END LOOP;
    UPDATE queen.log_consumers c
    SET batch_end = u.last, worker_id = u.lease, lease_expires_at = r_out.lease_expires_at, lease_acquired_at = clock_timestamp(),
        lease_conflated = false, attempt_offset = u.first, attempt_count = u.attempt
    FROM unnest(v_ids, v_leases, v_starts, v_ends, v_attempts) u (id, lease, first, last, attempt)
    WHERE c.partition_id = u.id AND c.consumer_group = p_group;

    IF v_done = p_cap OR v_bytes > 16777216 THEN
        RETURN;
    END IF;
    v_odd := v_odd || ARRAY(
        SELECT u.id FROM unnest(p_ids) u (id)
        WHERE NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = u.id AND c.consumer_group = p_group));
    -- A loop over what is rare: it ends when the pops have what they wanted.
    FOREACH v_id IN ARRAY v_odd LOOP
        EXIT WHEN v_done = p_cap OR v_bytes > 16777216;
        FOR r_out IN SELECT * FROM queen._pop_partition(v_id, r_queue, p_group, p_budget, NULL, p_lease_seconds, false, p_mode, p_from) LOOP
            IF v_ids[v_done] IS DISTINCT FROM v_id THEN
                v_done := v_done + 1;
                v_ids[v_done] := v_id;
            END IF;
            v_bytes := v_bytes + pg_column_size(r_out.payloads);
            RETURN NEXT r_out;
        END LOOP;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._pop_apart(uuid[], integer, queen.queues, text, integer, integer, text, text) FROM PUBLIC;
