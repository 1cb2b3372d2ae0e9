/*
 * Purpose:     cut the next slice of a partition whose cursor is claimed, and lease it or commit it, where all is ordinary: the
 *              cursor is in a segment that alone fills the budget, or that is the last one. Else the answer has no payloads, and nothing
 *              was done: _pop_partition does it then. Statements of one table each: a join would cost more to set up than they all.
 * Locks:       none more: the caller holds the consumer row.
 * Isolation:   READ COMMITTED: it must see what committed before the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_budget frames of one segment, which holds 1000 at most.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-25..O-35, design 3.4; perf 4 (take and ack, end to end).
 */
CREATE OR REPLACE FUNCTION queen._lease_slice(
    p_partition_id uuid,
    p_group text,
    p_committed bigint,
    p_budget integer,
    p_lease_seconds integer,
    p_auto_ack boolean DEFAULT false
) RETURNS queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_part record;
    r_seg record;
    v_wanted bigint;
    v_hi bigint; -- the first offset behind the budget
    v_due integer := least(p_budget, 1001);
    v_lease_id text := '';
    v_attempt integer := 1;
    v_now timestamptz := clock_timestamp();
    v_until timestamptz;
BEGIN
    SELECT p.name, p.log_start INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id;
    v_wanted := greatest(p_committed + 1, r_part.log_start);
    v_hi := v_wanted + v_due;
    -- The slices are cut here, so that each array is fetched and decompressed once.
    SELECT s.created_at, s.id_base, s.base_offset, s.frames, s.offsets IS NOT NULL AS compacted,
           least(v_wanted - s.base_offset + 1, 1001)::integer AS lo,
           s.payloads[least(v_wanted - s.base_offset + 1, 1001) : least(v_hi - s.base_offset, 2001)] AS payloads,
           s.transaction_ids[least(v_wanted - s.base_offset + 1, 1001) : least(v_hi - s.base_offset, 2001)] AS transaction_ids,
           s.keys[least(v_wanted - s.base_offset + 1, 1001) : least(v_hi - s.base_offset, 2001)] AS keys,
           s.trace_ids[least(v_wanted - s.base_offset + 1, 1001) : least(v_hi - s.base_offset, 2001)]::text[] AS trace_ids,
           s.producer_subs[least(v_wanted - s.base_offset + 1, 1001) : least(v_hi - s.base_offset, 2001)] AS producer_subs
    INTO r_seg
    FROM queen.log_segments s
    WHERE s.partition_id = p_partition_id AND s.base_offset >= r_part.log_start AND s.base_offset <= v_wanted
    ORDER BY s.base_offset DESC
    LIMIT 1;
    IF r_seg.lo + v_due - 1 > r_seg.frames THEN
        PERFORM FROM queen.log_segments n WHERE n.partition_id = p_partition_id AND n.base_offset > r_seg.base_offset LIMIT 1;
        IF NOT FOUND THEN
            v_due := greatest(r_seg.frames - r_seg.lo + 1, 1);
        END IF;
    END IF;
    IF NOT queen._is_ordinary(r_seg.payloads, r_seg.lo, r_seg.frames, r_seg.compacted, v_due) THEN
        RETURN NULL;
    END IF;
    IF p_auto_ack THEN
        UPDATE queen.log_consumers c
        SET committed = greatest(c.committed, v_wanted + v_due - 1), batch_end = NULL, worker_id = NULL, lease_expires_at = NULL,
            lease_acquired_at = NULL, lease_conflated = false, total_consumed = c.total_consumed + v_due
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
    ELSE
        v_lease_id := queen._draw_lease_id(p_partition_id, v_now);
        v_until := v_now + make_interval(secs => p_lease_seconds);
        UPDATE queen.log_consumers c
        SET batch_end = v_wanted + v_due - 1, worker_id = v_lease_id, lease_expires_at = v_until, lease_acquired_at = v_now,
            lease_conflated = false, attempt_offset = v_wanted,
            attempt_count = CASE WHEN c.attempt_offset = v_wanted THEN c.attempt_count + 1 ELSE 1 END
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
        RETURNING c.attempt_count INTO v_attempt;
    END IF;
    RETURN ROW(p_partition_id, r_part.name, v_lease_id, v_until, v_attempt, r_seg.created_at, r_seg.id_base, r_seg.base_offset,
        v_wanted, v_wanted + v_due - 1, r_seg.payloads, r_seg.transaction_ids, r_seg.keys, r_seg.trace_ids, r_seg.producer_subs,
        NULL, NULL, NULL)::queen.pop_row;
END $$;
REVOKE ALL ON FUNCTION queen._lease_slice(uuid, text, bigint, integer, integer, boolean) FROM PUBLIC;
