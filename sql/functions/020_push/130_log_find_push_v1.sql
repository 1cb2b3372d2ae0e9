/*
 * Purpose:     find out after an unknown commit outcome whether a push happened: the segments that carry its nonce.
 * Locks:       none.
 * Isolation:   READ COMMITTED, in a transaction younger than the end of the doubtful one.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      walks back from the tail over segments stamped at or after p_started_at.
 * Idempotency: reads only.
 * Raises:      nothing; no row means that the push did not happen.
 * Source:      design 3.1.
 */
CREATE OR REPLACE FUNCTION queen.log_find_push_v1(
    p_partition_id uuid,
    p_nonce bigint,
    p_started_at timestamptz
) RETURNS SETOF queen.push_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    r_seg record;
    r_out queen.push_row;
    v_rows queen.push_row[] := '{}';
    v_item integer := 0;
BEGIN
    r_out.grp := 0;
    r_out.status := 'queued';
    -- A loop, because the walk ends at the first older stamp (stamps rise with the offset) and no plan knows that.
    FOR r_seg IN
        SELECT s.partition_id, s.base_offset, s.id_base, s.created_at, (s.end_offset - s.base_offset + 1)::integer AS frames
        FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id
          AND s.base_offset >= (SELECT p.log_start FROM queen.log_partitions p WHERE p.id = p_partition_id)
        ORDER BY s.base_offset DESC
    LOOP
        EXIT WHEN r_seg.created_at < p_started_at;
        CONTINUE WHEN r_seg.id_base <> queen._id_base(r_seg.created_at, p_nonce);
        r_out.partition_id := r_seg.partition_id;
        r_out.base_offset := r_seg.base_offset;
        r_out.id_base := r_seg.id_base;
        r_out.created_at := r_seg.created_at;
        r_out.frames := r_seg.frames;
        v_rows := r_out || v_rows;
    END LOOP;
    FOREACH r_out IN ARRAY v_rows
    LOOP
        r_out.first_item := v_item;
        RETURN NEXT r_out;
        v_item := v_item + r_out.frames;
    END LOOP;
END $$;
COMMENT ON FUNCTION queen.log_find_push_v1(uuid, bigint, timestamptz) IS
'The segments a push with this nonce stored since the given time, none when it never committed.';
REVOKE ALL ON FUNCTION queen.log_find_push_v1(uuid, bigint, timestamptz) FROM PUBLIC;
