/*
 * Purpose:     offset of the newest message of a partition with a transaction id, or NULL: by the sidecar, and where that is
 *              purged by the newest 5000 segments themselves.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      two index probes; without a sidecar row, the ids of 5000 segments (no payload is read).
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 4.8 (detail), design 3.4.
 */
CREATE OR REPLACE FUNCTION queen._find_message(
    p_partition_id uuid,
    p_log_start bigint,
    p_transaction_id text
) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_hash bigint := hashtextextended(p_transaction_id COLLATE "C", queen._id_seed(p_partition_id));
    v_at bigint;
BEGIN
    SELECT max(h.base_offset + array_position(h.hashes, v_hash) - 1) INTO v_at
    FROM (
        (SELECT t.base_offset, t.hashes FROM queen.log_txns t
         WHERE t.partition_id = p_partition_id AND NOT t.out_of_order AND t.hi >= left(p_transaction_id, 64) COLLATE "C"
         ORDER BY t.hi
         LIMIT 1)
        UNION ALL
        SELECT t.base_offset, t.hashes FROM queen.log_txns t
        WHERE t.out_of_order AND t.hashes @> ARRAY[v_hash] AND t.partition_id IS NOT DISTINCT FROM p_partition_id
    ) h
    JOIN queen.log_segments s ON s.partition_id = p_partition_id AND s.base_offset = h.base_offset
    WHERE h.base_offset >= p_log_start
      AND array_position(h.hashes, v_hash) IS NOT NULL
      AND queen._frame_position(s, h.base_offset + array_position(h.hashes, v_hash) - 1) IS NOT NULL
      AND queen._stored_id_matches(p_partition_id, h.base_offset, array_position(h.hashes, v_hash) - 1, p_transaction_id);
    IF v_at IS NOT NULL THEN
        RETURN v_at;
    END IF;
    RETURN (
        SELECT max(f.at)
        FROM (
            SELECT s.base_offset, s.end_offset, s.id_base, s.transaction_ids, s.offsets
            FROM queen.log_segments s
            WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start
              AND NOT EXISTS (SELECT FROM queen.log_txns t WHERE t.partition_id = s.partition_id AND t.base_offset = s.base_offset)
            ORDER BY s.base_offset DESC
            LIMIT 5000
        ) s
        CROSS JOIN LATERAL (
            SELECT coalesce(s.offsets[u.ord], s.base_offset + u.ord - 1) AS at
            FROM unnest(s.transaction_ids) WITH ORDINALITY u (txn, ord)
            WHERE u.txn = p_transaction_id COLLATE "C"
            UNION ALL
            -- A minted id names its segment and its place there.
            SELECT s.base_offset + k.n
            FROM (SELECT CASE WHEN p_transaction_id COLLATE "C" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
                                   AND left(p_transaction_id, 31) = left(s.id_base::text, 31) COLLATE "C"
                              THEN ('x' || lpad(right(p_transaction_id, 5), 8, '0'))::bit(32)::integer END AS n) k
            WHERE k.n <= s.end_offset - s.base_offset
              AND s.transaction_ids[CASE WHEN s.offsets IS NULL THEN k.n + 1 ELSE array_position(s.offsets, s.base_offset + k.n) END] IS NULL
        ) f);
END $$;
REVOKE ALL ON FUNCTION queen._find_message(uuid, bigint, text) FROM PUBLIC;

/*
 * Purpose:     position of an offset in the arrays of a segment, NULL when it is not there (any more).
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one array.
 * Idempotency: yes.  Raises: nothing.  Source: design 3 (offsets).
 */
CREATE OR REPLACE FUNCTION queen._frame_position(
    r_seg queen.log_segments,
    p_offset bigint
) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN p_offset NOT BETWEEN r_seg.base_offset AND r_seg.end_offset THEN NULL
                WHEN r_seg.offsets IS NULL THEN (p_offset - r_seg.base_offset + 1)::integer
                ELSE array_position(r_seg.offsets, p_offset) END
$$;
REVOKE ALL ON FUNCTION queen._frame_position(queen.log_segments, bigint) FROM PUBLIC;

/*
 * Purpose:     base of the first segment stamped at or after a time, NULL when there is none. Stamps rise with the offset,
 *              so it is found by halving, not by walking.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      two key probes for each halving of the offsets between start and head.
 * Idempotency: reads only.  Raises: nothing.  Source: E-18, spec 4.8 (from, to).
 */
CREATE OR REPLACE FUNCTION queen._first_base_since(
    p_partition_id uuid,
    p_log_start bigint,
    p_head bigint,
    p_since timestamptz
) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_low bigint := p_log_start;
    v_high bigint := p_head + 1;
    v_mid bigint;
    r_seg record;
BEGIN
    -- Every segment that begins below v_low is too old, none that begins at or above v_high is.
    WHILE v_low < v_high LOOP
        v_mid := v_low + (v_high - v_low) / 2;
        SELECT s.base_offset, s.created_at INTO r_seg FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= v_mid
        ORDER BY s.base_offset
        LIMIT 1;
        IF NOT FOUND OR r_seg.created_at >= p_since THEN
            v_high := v_mid;
        ELSE
            v_low := r_seg.base_offset + 1;
        END IF;
    END LOOP;
    RETURN (
        SELECT s.base_offset FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= v_low
        ORDER BY s.base_offset
        LIMIT 1);
END $$;
REVOKE ALL ON FUNCTION queen._first_base_since(uuid, bigint, bigint, timestamptz) FROM PUBLIC;
