/*
 * Purpose:     claim partitions of the given queues for a group, under one lease and one budget, in random order: the search
 *              and the claims of a pop that names no partition. Where few partitions are enough the quick search comes first; where
 *              many candidates were found and none could be had, one search for more of them comes last.
 *              With p_apart each partition has a lease and a budget of its own, for one of p_cap pops that share the call.
 * Locks:       as _candidates and _pop_partition: consumer rows, SKIP LOCKED; it never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_budget frames (at least 1), p_cap partitions (0 or less: no cap); the candidates of each queue. With p_apart
 *              it ends behind 16 MiB of payloads.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-6..O-9, O-30, E-8.
 */
CREATE OR REPLACE FUNCTION queen._claim_lanes(
    p_queues queen.queues[],
    p_policies boolean[],
    p_group text,
    p_budget integer,
    p_cap integer,
    p_lease_seconds integer,
    p_auto_ack boolean,
    p_mode text,
    p_from text,
    p_apart boolean DEFAULT false
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_row queen.pop_row;
    r_lanes record;
    v_at integer;
    v_id uuid;
    v_queue integer;
    -- Where nothing but the cursor decides, partitions are claimed all at once. Not for larger budgets, which one segment seldom
    -- fills, and of which many slices would be in memory.
    v_plain boolean := p_apart AND p_cap > 0 AND NOT p_auto_ack AND p_budget <= 16 AND cardinality(p_queues) = 1 AND p_policies[1] IS NOT TRUE
        AND coalesce((p_queues[1]).window_buffer, 0) <= 0 AND coalesce((p_queues[1]).delayed_processing, 0) <= 0;
    -- The same for a pop of several partitions.
    v_together boolean := NOT p_apart AND p_cap <> 1 AND NOT p_auto_ack AND p_budget <= 256 AND cardinality(p_queues) = 1 AND p_policies[1] IS NOT TRUE
        AND coalesce((p_queues[1]).window_buffer, 0) <= 0 AND coalesce((p_queues[1]).delayed_processing, 0) <= 0;
    v_quick boolean := p_cap = 1 OR (p_apart AND p_cap BETWEEN 1 AND 4);
    v_deep boolean := p_cap NOT BETWEEN 1 AND 127; -- as many candidates as there ever are
    v_left integer := p_budget;
    v_rows integer := 0;
    v_bytes bigint := 0;
    v_lease_id text;
    v_expires timestamptz;
    v_several boolean := cardinality(p_queues) > 1;
    v_ids uuid[];
    v_claimed uuid[] := '{}'::uuid[];
BEGIN
    LOOP
        IF v_plain THEN
            v_ids := ARRAY(
                SELECT c.id FROM queen._candidates((p_queues[1]).id, p_group, CASE WHEN NOT v_deep THEN greatest(p_cap / 8, 2) END, v_quick) c
                WHERE c.id <> ALL (v_claimed));
            EXIT WHEN v_ids = '{}'; -- which is the truth, also of a quick search
            FOR r_row IN
                SELECT * FROM queen._pop_apart(
                    v_ids, p_cap - cardinality(v_claimed), p_queues[1], p_group, p_budget,
                    queen._lease_seconds(p_lease_seconds, (p_queues[1]).lease_time), p_mode, p_from, v_bytes)
            LOOP
                IF v_claimed[cardinality(v_claimed)] IS DISTINCT FROM r_row.partition_id THEN
                    v_claimed := v_claimed || r_row.partition_id;
                END IF;
                v_bytes := v_bytes + queen._payload_bytes(r_row.payloads);
                RETURN NEXT r_row;
            END LOOP;
            EXIT WHEN cardinality(v_claimed) >= p_cap OR v_bytes > 16777216
                OR NOT v_quick AND (v_deep OR v_claimed <> '{}' OR cardinality(v_ids) < 64);
            v_deep := v_deep OR NOT v_quick;
            v_quick := false;
            CONTINUE;
        END IF;
        SELECT array_agg(x.i) AS queues, array_agg(x.id) AS ids INTO r_lanes
        FROM (
            SELECT n.i, c.id
            FROM generate_subscripts(p_queues, 1) n (i)
            CROSS JOIN LATERAL queen._candidates((p_queues[n.i]).id, p_group, CASE WHEN NOT v_deep THEN p_cap END, v_quick, v_several) c
            WHERE c.id <> ALL (v_claimed) -- with autoAck nothing else keeps a second round from what the first one took
            ORDER BY random()
        ) x;
        IF v_together AND r_lanes.ids IS NOT NULL THEN
            FOR r_row IN
                SELECT * FROM queen._pop_together(
                    r_lanes.ids, CASE WHEN p_cap > 0 THEN p_cap - cardinality(v_claimed) ELSE cardinality(r_lanes.ids) END, p_group, v_left,
                    v_lease_id, queen._lease_seconds(p_lease_seconds, (p_queues[1]).lease_time))
            LOOP
                IF v_claimed[cardinality(v_claimed)] IS DISTINCT FROM r_row.partition_id THEN
                    v_claimed := v_claimed || r_row.partition_id;
                END IF;
                v_lease_id := r_row.lease_id;
                v_expires := greatest(v_expires, r_row.lease_expires_at);
                v_left := v_left - cardinality(r_row.payloads);
                RETURN NEXT r_row;
            END LOOP;
            EXIT WHEN v_left = 0 OR (p_cap > 0 AND cardinality(v_claimed) >= p_cap);
            -- A short lease may be over while others are read.
            r_lanes.ids := ARRAY(SELECT u.id FROM unnest(r_lanes.ids) u (id) WHERE u.id <> ALL (v_claimed));
        END IF;
        v_at := 0;
        LOOP
            v_at := v_at + 1;
            IF p_cap = 1 OR v_together THEN
                v_at := v_at + queen._first_lockable(r_lanes.ids[v_at :], p_group) - 1;
            END IF;
            v_id := r_lanes.ids[v_at];
            EXIT WHEN v_id IS NULL;
            v_queue := r_lanes.queues[v_at];
            FOR r_row IN
                SELECT * FROM queen._pop_partition(v_id, p_queues[v_queue], p_group, v_left, v_lease_id,
                    queen._lease_seconds(p_lease_seconds, (p_queues[v_queue]).lease_time), p_auto_ack,
                    p_mode, p_from, p_policies[v_queue])
            LOOP
                IF v_claimed[cardinality(v_claimed)] IS DISTINCT FROM v_id THEN
                    v_claimed := v_claimed || v_id;
                END IF;
                IF p_apart THEN
                    v_bytes := v_bytes + queen._payload_bytes(r_row.payloads);
                ELSE
                    v_lease_id := nullif(r_row.lease_id, '');
                    v_expires := greatest(v_expires, r_row.lease_expires_at);
                    v_left := v_left - cardinality(r_row.payloads);
                END IF;
                v_rows := v_rows + 1;
                RETURN NEXT r_row;
            END LOOP;
            EXIT WHEN v_left = 0 OR v_bytes > 16777216 OR (p_cap > 0 AND cardinality(v_claimed) >= p_cap);
        END LOOP;
        EXIT WHEN (r_lanes.ids IS NULL AND NOT v_several) OR v_bytes > 16777216 OR (p_cap > 0 AND cardinality(v_claimed) >= p_cap)
            OR NOT v_quick AND (v_deep OR v_claimed <> '{}' OR coalesce(cardinality(r_lanes.ids), 0) < 64);
        v_deep := v_deep OR NOT v_quick;
        v_quick := false;
    END LOOP;
    IF p_cap = 1 AND v_left = 0 THEN
        PERFORM queen._keep_lane(v_claimed[1], v_rows);
    END IF;
    IF cardinality(v_claimed) > 1 AND NOT p_auto_ack AND NOT p_apart THEN
        INSERT INTO queen.log_lease_members (lease_id, partition_ids, expires_at) VALUES (v_lease_id, v_claimed, v_expires);
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._claim_lanes(queen.queues[], boolean[], text, integer, integer, integer, boolean, text, text, boolean) FROM PUBLIC;
