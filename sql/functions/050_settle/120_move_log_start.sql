/*
 * Purpose:     move the start of a partition's log up to p_new_start: what is below becomes invisible at once. The caller
 *              holds the partition row by an earlier statement. When nothing is left the head is settled here, since no
 *              segment carries it any more. What compaction had removed of the prefix is no part of the log any more
 *              either, so removed_frames and removed_bytes go down by it.
 * Locks:       none of its own.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      two key probes, one update; after compaction a walk over the segments that go. Rows below the start are
 *              deleted by _reclaim_prefix, outside of the lock.
 * Idempotency: yes: the start never moves back, nor past the head, nor into a segment.
 * Raises:      nothing.
 * Source:      design 3.2 rules 3, 5 and 7, design 5 item 1, T-1, T-9, T-10.
 */
CREATE OR REPLACE FUNCTION queen._move_log_start(
    p_partition_id uuid,
    p_new_start bigint
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_first queen.log_segments;
    r_head queen.partition_head;
    v_frames bigint := 0;
    v_bytes bigint := 0;
BEGIN
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    SELECT * INTO r_first FROM queen.log_segments s
    -- No segment spans more than 1000 offsets.
    WHERE s.partition_id = p_partition_id AND s.base_offset >= greatest(r_head.log_start, p_new_start - 999)
      AND s.end_offset >= p_new_start
    ORDER BY s.base_offset
    LIMIT 1;
    IF r_first.partition_id IS NULL THEN
        PERFORM queen._settle_head(p_partition_id);
        v_frames := r_head.removed_frames;
        v_bytes := r_head.removed_bytes;
    ELSIF r_head.removed_frames > 0 THEN
        SELECT coalesce(sum(s.end_offset - s.base_offset + 1 - s.frames), 0), coalesce(sum(s.orig_bytes - s.bytes), 0)
        INTO v_frames, v_bytes
        FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= r_head.log_start AND s.base_offset < r_first.base_offset;
    END IF;
    UPDATE queen.log_partitions p
    SET log_start = greatest(p.log_start, coalesce(r_first.base_offset, r_head.head_offset + 1)),
        oldest_live_at = r_first.created_at,
        removed_frames = p.removed_frames - v_frames,
        removed_bytes = p.removed_bytes - v_bytes
    WHERE p.id = p_partition_id AND p_new_start > p.log_start;
    RETURN (SELECT p.log_start FROM queen.log_partitions p WHERE p.id = p_partition_id);
END $$;
REVOKE ALL ON FUNCTION queen._move_log_start(uuid, bigint) FROM PUBLIC;
