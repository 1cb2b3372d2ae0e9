/*
 * Purpose:     the run of hash rows from p_from on that are older than p_before, at most p_max_rows, up to the first that
 *              is not: how many, their ids, where the next begins, and its stamp.
 * Locks:       none.  Isolation: any; the step holds the partition row.  Volatility: STABLE.
 * Bounds:      p_max_rows + 1 steps along the key.
 * Idempotency: yes.  Raises: nothing.  Source: R-24, T-10.
 */
CREATE OR REPLACE FUNCTION queen._hash_cut(
    p_partition_id uuid,
    p_from bigint,
    p_before timestamptz,
    p_max_rows integer,
    OUT hash_rows integer,
    OUT frames bigint,
    OUT boundary bigint,
    OUT first_at timestamptz
)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_young bigint := (
        SELECT x.base_offset
        FROM (
            SELECT t.base_offset, t.created_at FROM queen.log_txns t
            WHERE t.partition_id = p_partition_id AND t.base_offset >= p_from
            ORDER BY t.base_offset LIMIT p_max_rows
        ) x
        WHERE coalesce(x.created_at >= p_before, true)
        ORDER BY x.base_offset LIMIT 1);
BEGIN
    SELECT count(*), coalesce(sum(x.end_offset - x.base_offset + 1), 0), max(x.end_offset) + 1
    INTO hash_rows, frames, boundary
    FROM (
        SELECT t.base_offset, t.end_offset FROM queen.log_txns t
        WHERE t.partition_id = p_partition_id AND t.base_offset >= p_from AND (v_young IS NULL OR t.base_offset < v_young)
        ORDER BY t.base_offset LIMIT p_max_rows
    ) x;
    SELECT t.created_at INTO first_at FROM queen.log_txns t
    WHERE t.partition_id = p_partition_id AND t.base_offset >= boundary
    ORDER BY t.base_offset LIMIT 1;
END $$;
REVOKE ALL ON FUNCTION queen._hash_cut(uuid, bigint, timestamptz, integer) FROM PUBLIC;
