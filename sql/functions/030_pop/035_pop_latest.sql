/*
 * Purpose:     last-value delivery from one partition whose cursor row the caller claimed: only the last frame of the newest
 *              visible segment. The lease covers everything above the cursor up to it; attempts are counted by the cursor,
 *              because the frame may be another one each time.
 * Locks:       none of its own; the caller holds the consumer row.
 * Isolation:   READ COMMITTED after that lock: what committed before the claim is seen, so the last value never gets lost.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one frame, one segment, whatever the backlog; about 2 log2(backlog) key probes while the newest is delayed. What
 *              compaction emptied is passed over along the key.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-53, O-55, O-36, O-37, http-api 3.2.6.
 */
CREATE OR REPLACE FUNCTION queen._pop_latest(
    r_cur queen.log_consumers,
    p_partition text,
    p_log_start bigint,
    p_head_offset bigint,
    p_head_stamp timestamptz,
    p_visible timestamptz,
    p_lease_id text,
    p_lease_seconds integer,
    p_auto_ack boolean
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_seg queen.log_segments;
    r_out queen.pop_row;
    v_wanted bigint := greatest(r_cur.committed + 1, p_log_start);
    v_upto bigint := p_head_offset;
    v_now timestamptz := clock_timestamp();
BEGIN
    IF p_head_stamp > p_visible THEN
        v_upto := queen._last_visible(r_cur.partition_id, v_wanted, p_head_offset, p_visible);
    END IF;
    r_out.partition_id := r_cur.partition_id;
    r_out.partition := p_partition;
    LOOP
        SELECT s.* INTO r_seg
        FROM queen.log_segments s
        WHERE s.partition_id = r_cur.partition_id AND s.base_offset >= p_log_start AND s.base_offset <= v_upto AND s.frames > 0
        ORDER BY s.base_offset DESC
        LIMIT 1;
        IF NOT FOUND OR r_seg.end_offset < v_wanted THEN
            RETURN;
        END IF;
        r_out := queen._slice(r_out, r_seg, coalesce(queen._last_frame(r_seg), r_seg.end_offset), 1);
        EXIT WHEN r_out.payloads IS NOT NULL;
        v_upto := r_seg.base_offset - 1;
    END LOOP;
    IF r_out.last_offset < v_wanted THEN
        RETURN;
    END IF;

    r_out.lease_id := CASE WHEN p_auto_ack THEN '' ELSE coalesce(p_lease_id, queen._draw_lease_id(r_cur.partition_id, v_now)) END;
    r_out.lease_expires_at := CASE WHEN NOT p_auto_ack THEN clock_timestamp() + make_interval(secs => p_lease_seconds) END;
    r_out.delivery_attempt := CASE
        WHEN p_auto_ack OR r_cur.attempt_offset IS DISTINCT FROM r_cur.committed + 1 THEN 1
        ELSE r_cur.attempt_count + 1 END;
    IF p_auto_ack THEN
        UPDATE queen.log_consumers c
        SET committed = greatest(c.committed, r_out.last_offset), batch_end = NULL, worker_id = NULL, lease_expires_at = NULL,
            lease_acquired_at = NULL, lease_conflated = false,
            total_consumed = c.total_consumed + greatest(r_out.last_offset - c.committed, 0)
        WHERE c.partition_id = r_cur.partition_id AND c.consumer_group = r_cur.consumer_group;
    ELSE
        UPDATE queen.log_consumers c
        SET batch_end = r_out.last_offset, worker_id = r_out.lease_id, lease_expires_at = r_out.lease_expires_at,
            lease_acquired_at = clock_timestamp(), lease_conflated = true,
            attempt_offset = c.committed + 1, attempt_count = r_out.delivery_attempt
        WHERE c.partition_id = r_cur.partition_id AND c.consumer_group = r_cur.consumer_group;
    END IF;
    RETURN NEXT r_out;
END $$;
REVOKE ALL ON FUNCTION queen._pop_latest(queen.log_consumers, text, bigint, bigint, timestamptz, timestamptz, text, integer, boolean) FROM PUBLIC;

/*
 * Purpose:     an offset inside the newest segment stamped at or before p_visible, between two offsets; NULL when there is none.
 *              Stamps rise with the offset, so it is halved, not walked: the hidden part may be long.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE.
 * Bounds:      one key probe a halving.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      O-23, O-53.
 */
CREATE OR REPLACE FUNCTION queen._last_visible(
    p_partition_id uuid,
    p_from bigint,
    p_to bigint,
    p_visible timestamptz
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_seg record;
    v_lo bigint := p_from;
    v_hi bigint := p_to;
    v_found bigint;
BEGIN
    WHILE v_lo <= v_hi LOOP
        -- The first segment that ends at or above the middle; in a gap that is the next one.
        SELECT s.base_offset, s.end_offset, s.created_at INTO r_seg
        FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= coalesce((
            SELECT c.base_offset FROM queen.log_segments c
            WHERE c.partition_id = p_partition_id AND c.base_offset <= (v_lo + v_hi) / 2
              AND c.end_offset >= (v_lo + v_hi) / 2
            ORDER BY c.base_offset DESC LIMIT 1), (v_lo + v_hi) / 2)
        ORDER BY s.base_offset
        LIMIT 1;
        IF r_seg.created_at <= p_visible THEN
            v_found := r_seg.end_offset;
            v_lo := r_seg.end_offset + 1;
        ELSE
            v_hi := (v_lo + v_hi) / 2 - 1;
        END IF;
    END LOOP;
    RETURN v_found;
END $$;
REVOKE ALL ON FUNCTION queen._last_visible(uuid, bigint, bigint, timestamptz) FROM PUBLIC;

/*
 * Purpose:     the offset of the last frame of a segment that can be read, NULL when there is none.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one segment.  Idempotency: yes.  Raises: nothing.
 * Source:      O-53, F079, design 5 item 1 (offsets after compaction).
 */
CREATE OR REPLACE FUNCTION queen._last_frame(
    r_seg queen.log_segments
) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_frames text[] := r_seg.payloads;
    v_count integer := cardinality(v_frames);
BEGIN
    WHILE v_count > 0 AND v_frames[v_count] IS NULL LOOP
        v_count := v_count - 1;
    END LOOP;
    RETURN CASE WHEN v_count > 0 THEN coalesce(r_seg.offsets[v_count], r_seg.base_offset + v_count - 1) END;
END $$;
REVOKE ALL ON FUNCTION queen._last_frame(queen.log_segments) FROM PUBLIC;

/*
 * Purpose:     the row of a pop that tells which policy is in force, told before any message: only when the group conflates, or
 *              when the caller asked for another policy than the one that its first pop stored.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: tells people in psql about a conflict, too.
 * Bounds:      none.  Idempotency: yes.  Raises: nothing.
 * Source:      O-2, O-52, http-api 3.2.2 and 3.2.6.
 */
CREATE OR REPLACE FUNCTION queen._pop_policy(
    p_group text,
    p_policy boolean,
    p_asked boolean
) RETURNS queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_out queen.pop_row;
BEGIN
    IF p_policy <> p_asked THEN
        RAISE NOTICE 'group "%" was registered % conflation, and keeps to it', p_group, CASE WHEN p_policy THEN 'with' ELSE 'without' END;
    END IF;
    r_out.partition_id := '00000000-0000-0000-0000-000000000000';
    r_out.partition := '';
    r_out.lease_id := '';
    r_out.delivery_attempt := 0;
    r_out.created_at := 'epoch';
    r_out.id_base := r_out.partition_id;
    r_out.segment_base := 0;
    r_out.first_offset := 0;
    r_out.last_offset := 0;
    r_out.payloads := '{}'::text[];
    r_out.conflation := p_policy;
    r_out.conflation_conflict := p_policy <> p_asked;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._pop_policy(text, boolean, boolean) FROM PUBLIC;
