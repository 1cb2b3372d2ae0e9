-- The base of the segment that holds an offset, or the offset itself where no segment does (past the head) (R-5).
CREATE OR REPLACE FUNCTION queen._segment_start(
    p_partition_id uuid,
    p_log_start bigint,
    p_offset bigint
) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN l.end_offset >= p_offset THEN l.base_offset ELSE p_offset END
    FROM (VALUES (1)) one
    LEFT JOIN LATERAL (
        SELECT s.base_offset, s.end_offset FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start AND s.base_offset <= p_offset
        ORDER BY s.base_offset DESC LIMIT 1
    ) l ON true
$$;
REVOKE ALL ON FUNCTION queen._segment_start(uuid, bigint, bigint) FROM PUBLIC;
