/*
 * Purpose:     fill a pop row with the frames of a segment from offset p_wanted on, p_left that are there at most; payloads stay NULL
 *              when the segment holds no such frame (compacted away). What was damaged by hand is passed over and
 *              reported as a WARNING: a frame that is NULL, a segment whose arrays do not fit together.
 * Locks:       none.  Isolation: any.  Volatility: STABLE: it may report.
 * Bounds:      one segment.  Idempotency: yes.  Raises: nothing.
 * Source:      O-31..O-34, F-6, F079, design 5 item 1 (offsets after compaction).
 */
CREATE OR REPLACE FUNCTION queen._slice(
    r_out queen.pop_row,
    r_seg queen.log_segments,
    p_wanted bigint,
    p_left integer
) RETURNS queen.pop_row
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_frames text[] := r_seg.payloads;
    v_lo integer := greatest(p_wanted - r_seg.base_offset, 0) + 1;
    v_hi integer;
BEGIN
    r_out.payloads := NULL;
    IF r_seg.offsets IS NOT NULL THEN
        IF cardinality(r_seg.offsets) <> cardinality(v_frames) THEN
            RAISE WARNING 'offsets % to % of partition % cannot be read and are passed over', r_seg.base_offset, r_seg.end_offset, r_seg.partition_id;
            RETURN r_out;
        END IF;
        v_lo := (SELECT min(u.ord) FROM unnest(r_seg.offsets) WITH ORDINALITY u (off, ord) WHERE u.off >= p_wanted);
    END IF;
    v_hi := least(cardinality(v_frames)::bigint, v_lo::bigint + p_left - 1);
    IF v_lo IS NULL OR v_hi < v_lo THEN
        RETURN r_out;
    END IF;
    IF array_position(v_frames, NULL) IS NOT NULL THEN
        -- A slice that is not full reaches the end of its segment: whoever wants more goes on with the next one.
        v_hi := coalesce((
            SELECT u.ord FROM unnest(v_frames) WITH ORDINALITY u (frame, ord)
            WHERE u.ord >= v_lo AND u.frame IS NOT NULL
            ORDER BY u.ord OFFSET p_left - 1 LIMIT 1), cardinality(v_frames));
    END IF;
    r_out.created_at := r_seg.created_at;
    r_out.id_base := r_seg.id_base;
    r_out.segment_base := r_seg.base_offset;
    r_out.first_offset := coalesce(r_seg.offsets[v_lo], r_seg.base_offset + v_lo - 1);
    r_out.last_offset := coalesce(r_seg.offsets[v_hi], r_seg.base_offset + v_hi - 1);
    IF v_lo = 1 AND v_hi = cardinality(v_frames) THEN
        r_out.payloads := r_seg.payloads;
        r_out.transaction_ids := r_seg.transaction_ids;
        r_out.keys := r_seg.keys;
        r_out.trace_ids := r_seg.trace_ids::text[];
        r_out.producer_subs := r_seg.producer_subs;
        r_out.offsets := r_seg.offsets;
    ELSE
        r_out.payloads := v_frames[v_lo : v_hi];
        r_out.transaction_ids := r_seg.transaction_ids[v_lo : v_hi];
        r_out.keys := r_seg.keys[v_lo : v_hi];
        r_out.trace_ids := r_seg.trace_ids[v_lo : v_hi]::text[];
        r_out.producer_subs := r_seg.producer_subs[v_lo : v_hi];
        r_out.offsets := r_seg.offsets[v_lo : v_hi];
    END IF;
    IF array_position(v_frames, NULL) IS NOT NULL THEN
        r_out := queen._without_lost(r_out);
    END IF;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._slice(queen.pop_row, queen.log_segments, bigint, integer) FROM PUBLIC;

/*
 * Purpose:     a slice without its frames that are NULL, each reported; it gets explicit offsets, as after compaction.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: one slice.  Idempotency: yes.  Raises: nothing.
 * Source:      F079.
 */
CREATE OR REPLACE FUNCTION queen._without_lost(
    r_out queen.pop_row
) RETURNS queen.pop_row
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_lost bigint[];
BEGIN
    SELECT array_agg(f.off ORDER BY f.ord) FILTER (WHERE f.payload IS NULL),
           array_agg(f.payload ORDER BY f.ord) FILTER (WHERE f.payload IS NOT NULL),
           array_agg(f.txn ORDER BY f.ord) FILTER (WHERE f.payload IS NOT NULL),
           array_agg(f.key ORDER BY f.ord) FILTER (WHERE f.payload IS NOT NULL),
           array_agg(f.trace ORDER BY f.ord) FILTER (WHERE f.payload IS NOT NULL),
           array_agg(f.sub ORDER BY f.ord) FILTER (WHERE f.payload IS NOT NULL),
           array_agg(f.off ORDER BY f.ord) FILTER (WHERE f.payload IS NOT NULL)
    INTO v_lost, r_out.payloads, r_out.transaction_ids, r_out.keys, r_out.trace_ids, r_out.producer_subs, r_out.offsets
    FROM (
        SELECT u.*, coalesce(u.given, r_out.first_offset + u.ord - 1) AS off
        FROM unnest(r_out.payloads, r_out.transaction_ids, r_out.keys, r_out.trace_ids, r_out.producer_subs, r_out.offsets)
            WITH ORDINALITY u (payload, txn, key, trace, sub, given, ord)
    ) f;
    IF v_lost IS NOT NULL THEN
        RAISE WARNING 'messages at offsets % of partition % are lost and passed over', v_lost, r_out.partition_id;
    END IF;
    r_out.first_offset := coalesce(r_out.offsets[1], r_out.first_offset);
    r_out.last_offset := coalesce(r_out.offsets[cardinality(r_out.offsets)], r_out.last_offset);
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._without_lost(queen.pop_row) FROM PUBLIC;
