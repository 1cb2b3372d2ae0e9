/*
 * Purpose:     file one frame as a dead letter: a snapshot of the payload as stored and of what it carried, with the reason and the counter. The
 *              only reader that may look below the log start; when the frame is gone the payload is null and the reason
 *              says so. A NUL written as an escape in the reason stays text; it cannot be stored raw.
 * Locks:       none of its own; the caller holds the consumer row.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one key step.
 * Idempotency: none; the caller's lock makes it once.
 * Raises:      nothing.
 * Source:      A-20..A-22, design 3.4, E-32, W-28, F003, F065, F067.
 */
CREATE OR REPLACE FUNCTION queen._file_dead_letter(
    p_partition_id uuid,
    p_group text,
    p_offset bigint,
    p_transaction_id text,
    p_error text,
    p_retry_count integer
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_seg queen.log_segments;
    v_pos integer;
    v_payload text;
    v_error text := coalesce(nullif(p_error, ''), 'Retries exhausted');
BEGIN
    SELECT * INTO r_seg FROM queen.log_segments s
    WHERE s.partition_id = p_partition_id AND s.base_offset <= p_offset
    ORDER BY s.base_offset DESC
    LIMIT 1;
    v_pos := CASE WHEN r_seg.end_offset >= p_offset THEN
        CASE WHEN r_seg.offsets IS NULL THEN p_offset - r_seg.base_offset + 1 ELSE array_position(r_seg.offsets, p_offset) END END;
    v_payload := r_seg.payloads[v_pos];
    IF v_payload IS NULL THEN
        v_error := v_error || ' (the message was already deleted, its payload is lost)';
    END IF;
    INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id, payload, error, retry_count, key, trace_id, producer_sub)
    VALUES (
        p_partition_id, p_group, p_offset,
        CASE WHEN v_payload IS NULL THEN '00000000-0000-0000-0000-000000000000'
             ELSE queen._frame_id(r_seg.id_base, p_offset - r_seg.base_offset) END,
        coalesce(r_seg.transaction_ids[v_pos],
                 CASE WHEN v_payload IS NOT NULL THEN queen._frame_id(r_seg.id_base, p_offset - r_seg.base_offset)::text END,
                 p_transaction_id),
        v_payload, v_error, p_retry_count, r_seg.keys[v_pos], r_seg.trace_ids[v_pos], r_seg.producer_subs[v_pos]);
END $$;
REVOKE ALL ON FUNCTION queen._file_dead_letter(uuid, text, bigint, text, text, integer) FROM PUBLIC;
