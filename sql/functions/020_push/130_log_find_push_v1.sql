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
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
    SELECT 0, 'queued', s.partition_id, s.base_offset, s.id_base, s.created_at,
           (s.end_offset - s.base_offset + 1)::integer,
           coalesce(sum(s.end_offset - s.base_offset + 1) OVER (ORDER BY s.base_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)::integer,
           NULL::integer[], NULL::uuid[], NULL::bigint[], NULL::text, NULL::text
    FROM queen.log_segments s
    JOIN queen.log_partitions p ON p.id = s.partition_id
    WHERE s.partition_id = p_partition_id
      AND s.base_offset >= p.log_start
      AND s.created_at >= p_started_at
      AND s.id_base = queen._id_base(s.created_at, p_nonce)
    ORDER BY s.base_offset
$$;
COMMENT ON FUNCTION queen.log_find_push_v1(uuid, bigint, timestamptz) IS
'The segments a push with this nonce stored since the given time, none when it never committed.';
REVOKE ALL ON FUNCTION queen.log_find_push_v1(uuid, bigint, timestamptz) FROM PUBLIC;
