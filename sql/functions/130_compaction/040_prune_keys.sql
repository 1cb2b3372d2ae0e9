/*
 * Purpose:     forget keys whose newest frame lies below the log start: the prefix took it. Such rows are harmless, so they
 *              are looked for only when the log has lost half of its span since the last time, in rounds along the key.
 *              NULL when there is nothing to do, or another compactor or a deletion has the partition.
 * Locks:       as _note_keys.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows keys and as many dirty segments.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 5 item 1, F113, K-10.
 */
CREATE OR REPLACE FUNCTION queen._prune_keys(
    p_partition_id uuid,
    p_max_rows integer
) RETURNS queen.compact_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_at queen.log_compaction;
    r_head queen.partition_head;
    r_seen record;
    r_out queen.compact_row;
BEGIN
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    SELECT * INTO r_at FROM queen.log_compaction c WHERE c.partition_id = p_partition_id;
    IF r_at.partition_id IS NULL OR NOT queen._has_stale_keys(r_at, r_head.log_start, r_head.head_offset)
       OR NOT queen._hold_compaction(p_partition_id) THEN
        RETURN NULL;
    END IF;
    SELECT * INTO r_at FROM queen.log_compaction c WHERE c.partition_id = p_partition_id;
    SELECT array_agg(x.key) FILTER (WHERE x."offset" < r_head.log_start) AS stale, max(x.key) AS last, count(*)::integer AS seen INTO r_seen
    FROM (
        SELECT k.key, k."offset" FROM queen.log_keys k
        WHERE k.partition_id = p_partition_id AND k.key >= coalesce(r_at.prune_after, '')
        ORDER BY k.key
        LIMIT p_max_rows
    ) x;
    DELETE FROM queen.log_keys k
    USING unnest(r_seen.stale) u (key)
    WHERE k.partition_id = p_partition_id AND k.key = u.key AND k."offset" < r_head.log_start;
    DELETE FROM queen.log_dirty d
    WHERE d.partition_id = p_partition_id AND d.base_offset < r_head.log_start AND d.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_dirty x WHERE x.partition_id = p_partition_id AND x.base_offset < r_head.log_start
        ORDER BY x.base_offset LIMIT p_max_rows));
    -- A round began at some log start, and says nothing about what the prefix took since.
    UPDATE queen.log_compaction c
    SET prune_after = CASE WHEN r_seen.seen = p_max_rows THEN r_seen.last END,
        prune_start = CASE WHEN r_at.prune_after IS NULL THEN r_head.log_start ELSE c.prune_start END,
        pruned_to = CASE WHEN r_seen.seen = p_max_rows THEN c.pruned_to
                         WHEN r_at.prune_after IS NULL THEN r_head.log_start ELSE c.prune_start END
    WHERE c.partition_id = p_partition_id;
    r_out.worked := r_seen.seen;
    r_out.done := r_seen.seen < p_max_rows;
    r_out.frames_read := 0;
    r_out.frames_kept := 0;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._prune_keys(uuid, integer) FROM PUBLIC;

/*
 * Purpose:     whether it is time to look for keys below the log start: a round is under way, or the log lost half of its span.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: none.
 * Idempotency: yes.  Raises: nothing.  Source: design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._has_stale_keys(
    r_at queen.log_compaction,
    p_log_start bigint,
    p_head bigint
) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT r_at.prune_after IS NOT NULL
        OR p_log_start > r_at.pruned_to AND (p_log_start - r_at.pruned_to) * 2 >= p_head + 1 - p_log_start
$$;
REVOKE ALL ON FUNCTION queen._has_stale_keys(queen.log_compaction, bigint, bigint) FROM PUBLIC;
