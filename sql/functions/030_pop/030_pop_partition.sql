/*
 * Purpose:     deliver from one partition: claim the cursor row, then look at the head, then at the segments, then lease
 *              or commit. Answers slices of at most p_budget frames in offset order; nothing when a gate is shut, the
 *              partition is leased, or nothing is there. A cursor left over an emptied partition is sealed at its head.
 *              With p_conflation the last frame only.
 * Locks:       the consumer row FOR UPDATE SKIP LOCKED (see also _claim_first_contact).
 * Isolation:   READ COMMITTED: each statement after the claim must see what committed before it.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_budget frames in segments of 16 MiB of frame bytes together, or one larger segment; one tail probe; a
 *              forward key walk over the segments delivered.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-20..O-38, design 3.4, C of http-api 3.2.3, F033, F041, F051.
 */
CREATE OR REPLACE FUNCTION queen._pop_partition(
    p_partition_id uuid,
    r_queue queen.queues,
    p_group text,
    p_budget integer,
    p_lease_id text,
    p_lease_seconds integer,
    p_auto_ack boolean,
    p_mode text,
    p_from text,
    p_conflation boolean DEFAULT false
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_cur queen.log_consumers;
    r_head queen.partition_head;
    r_seg queen.log_segments;
    r_out queen.pop_row;
    r_slice queen.pop_row;
    v_wanted bigint;
    v_left integer := p_budget;
    v_start bigint;
    v_bytes bigint := 0;
    v_visible timestamptz := 'infinity'::timestamptz;
    v_now timestamptz := clock_timestamp();
BEGIN
    SELECT * INTO r_cur FROM queen.log_consumers c
    WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
      AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        SELECT * INTO r_cur FROM queen._claim_first_contact(p_partition_id, r_queue.id, p_group, p_mode, p_from);
    END IF;
    IF r_cur.partition_id IS NULL THEN
        RETURN;
    END IF;
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    v_wanted := greatest(r_cur.committed + 1, r_head.log_start);
    IF r_head.head_offset < v_wanted THEN
        IF r_head.head_offset > r_cur.committed THEN
            UPDATE queen.log_consumers c SET committed = greatest(c.committed, r_head.head_offset)
            WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
        END IF;
        RETURN;
    END IF;
    IF queen._window_is_shut(r_queue.window_buffer, r_head.head_stamp)
       AND queen._window_is_shut(r_queue.window_buffer, queen._oldest_unread(p_partition_id, r_head.log_start, r_cur.committed)) THEN
        RETURN;
    END IF;
    IF r_queue.delayed_processing > 0 THEN
        v_visible := queen._seconds_ago(r_queue.delayed_processing);
    END IF;
    IF p_conflation THEN
        RETURN QUERY SELECT * FROM queen._pop_latest(r_cur, r_head.name, r_head.log_start, r_head.head_offset, r_head.head_stamp, v_visible,
            p_lease_id, p_lease_seconds, p_auto_ack);
        RETURN;
    END IF;

    r_out.partition_id := p_partition_id;
    r_out.partition := r_head.name;
    r_out.lease_id := CASE WHEN p_auto_ack THEN '' ELSE coalesce(p_lease_id, queen._draw_lease_id(p_partition_id, v_now)) END;
    -- A loop, because how many segments are needed is known only while reading them; log_pop_v1 sees to it that the plan
    -- is a walk along the key, whatever the statistics say.
    FOR r_seg IN
        SELECT s.* FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= coalesce((
            SELECT c.base_offset FROM queen.log_segments c
            WHERE c.partition_id = p_partition_id AND c.base_offset >= r_head.log_start AND c.base_offset <= v_wanted
            ORDER BY c.base_offset DESC LIMIT 1), v_wanted)
          AND s.frames > 0 -- what compaction emptied is passed over without being read
        ORDER BY s.base_offset
    LOOP
        EXIT WHEN v_left = 0 OR r_seg.created_at > v_visible;
        CONTINUE WHEN r_seg.end_offset < v_wanted;
        v_bytes := v_bytes + r_seg.bytes;
        EXIT WHEN v_start IS NOT NULL AND v_bytes > 16777216;
        r_slice := queen._slice(r_out, r_seg, v_wanted, v_left);
        CONTINUE WHEN r_slice.payloads IS NULL;
        r_out := r_slice;
        IF v_start IS NULL THEN
            v_start := r_out.first_offset;
            r_out.delivery_attempt := CASE
                WHEN p_auto_ack OR r_cur.attempt_offset IS DISTINCT FROM v_start THEN 1
                ELSE r_cur.attempt_count + 1 END;
            r_out.lease_expires_at := CASE WHEN NOT p_auto_ack THEN clock_timestamp() + make_interval(secs => p_lease_seconds) END;
        END IF;
        v_left := v_left - cardinality(r_out.payloads);
        RETURN NEXT r_out;
    END LOOP;

    IF v_start IS NULL THEN
        RETURN;
    ELSIF p_auto_ack THEN
        UPDATE queen.log_consumers c
        SET committed = greatest(c.committed, r_out.last_offset), batch_end = NULL, worker_id = NULL, lease_expires_at = NULL,
            lease_acquired_at = NULL, lease_conflated = false, total_consumed = c.total_consumed + p_budget - v_left
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
    ELSE
        UPDATE queen.log_consumers c
        SET batch_end = r_out.last_offset, worker_id = r_out.lease_id, lease_expires_at = r_out.lease_expires_at,
            lease_acquired_at = clock_timestamp(), lease_conflated = false,
            attempt_offset = v_start, attempt_count = r_out.delivery_attempt
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._pop_partition(uuid, queen.queues, text, integer, text, integer, boolean, text, text, boolean) FROM PUBLIC;
