/*
 * Purpose:     where an age rule ends: the base of the first segment from p_from on whose stamp is not older than p_before,
 *              among the first p_max_rows. Without one it is the base of the segment after those (the horizon), else one
 *              past the head. It stops at the first that is young enough: a later, older one never makes a hole.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      p_max_rows + 1 steps along the key.
 * Idempotency: yes.  Raises: nothing.
 * Source:      R-10, R-11, M-6..M-8, X-1, F089.
 */
CREATE OR REPLACE FUNCTION queen._age_boundary(
    p_partition_id uuid,
    p_from bigint,
    p_head bigint,
    p_before timestamptz,
    p_max_rows integer
) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((
        SELECT x.base_offset
        FROM (
            SELECT s.base_offset, s.created_at, row_number() OVER (ORDER BY s.base_offset) AS n FROM queen.log_segments s
            WHERE s.partition_id = p_partition_id AND s.base_offset >= p_from
            ORDER BY s.base_offset LIMIT p_max_rows + 1
        ) x
        WHERE x.created_at >= p_before OR x.n > p_max_rows
        ORDER BY x.base_offset LIMIT 1), p_head + 1);
END $$;
REVOKE ALL ON FUNCTION queen._age_boundary(uuid, bigint, bigint, timestamptz, integer) FROM PUBLIC;
