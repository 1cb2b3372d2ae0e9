/*
 * Purpose:     the row of a run of whole segments: how many, what is in them, what of it some group has not consumed.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the segments of the run.
 * Idempotency: yes.  Raises: nothing.
 * Source:      R-22, F087, F101, design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._weigh_cut(
    p_partition_id uuid,
    p_rule text,
    p_from bigint,
    p_to bigint
) RETURNS queen.retention_cut_row
LANGUAGE sql STABLE AS $$
    SELECT ROW(
        p_rule, p_from, p_to, count(*)::integer, coalesce(sum(s.frames), 0)::bigint, coalesce(sum(s.bytes), 0)::bigint,
        coalesce(sum(CASE
            WHEN s.base_offset > c.slowest THEN s.frames
            WHEN s.end_offset <= c.slowest THEN 0
            WHEN s.offsets IS NULL THEN s.end_offset - c.slowest
            ELSE (SELECT count(*) FROM unnest(s.offsets) o WHERE o > c.slowest) END), 0)::bigint,
        false)::queen.retention_cut_row
    FROM queen.log_segments s
    CROSS JOIN (
        SELECT coalesce(min(coalesce(l.committed, -1)), -1) AS slowest FROM queen.log_consumers l WHERE l.partition_id = p_partition_id
    ) c
    WHERE s.partition_id = p_partition_id AND s.base_offset >= p_from AND s.base_offset < p_to
$$;
REVOKE ALL ON FUNCTION queen._weigh_cut(uuid, text, bigint, bigint) FROM PUBLIC;
