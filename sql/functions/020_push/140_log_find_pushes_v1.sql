/*
 * Purpose:     find out after an unknown commit outcome which groups of a push call happened, by queue and partition name: the
 *              partition may have been created by the call itself, and then is absent together with the messages.
 * Locks:       none.
 * Isolation:   READ COMMITTED, in a transaction younger than the end of the doubtful one: the caller first makes sure that
 *              its backend is gone.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      as log_find_push_v1 a group, over what was stamped in the last p_within_seconds by this database's clock.
 * Idempotency: reads only.
 * Raises:      QN400 for arrays of unequal length, or that are no lists.
 * Source:      design 3.1 (unknown commit outcome).
 */
CREATE OR REPLACE FUNCTION queen.log_find_pushes_v1(
    p_queues text[],
    p_partitions text[],
    p_nonces bigint[],
    p_within_seconds integer,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.found_push_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_lanes record;
    v_since timestamptz := clock_timestamp() - make_interval(secs => p_within_seconds);
BEGIN
    IF NOT (queen._is_list(p_queues) AND queen._is_list(p_partitions) AND queen._is_list(p_nonces)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_nonces');
    ELSIF cardinality(p_partitions) IS DISTINCT FROM cardinality(p_queues) OR cardinality(p_nonces) IS DISTINCT FROM cardinality(p_queues) THEN
        PERFORM queen._raise('QN400', 'p_queues, p_partitions and p_nonces must have one element a group', 'p_nonces');
    END IF;
    r_lanes := queen._resolve_lanes(p_queues, p_partitions, queen._tenant(p_tenant_id));
    RETURN QUERY
    SELECT (g.ord - 1)::integer, f.id_base, f.frames,
           CASE WHEN s.offsets IS NULL THEN s.transaction_ids ELSE queen._ids_as_pushed(s) END
    FROM unnest(r_lanes.ids, p_nonces) WITH ORDINALITY g (id, nonce, ord)
    CROSS JOIN LATERAL queen.log_find_push_v1(g.id, g.nonce, v_since) f
    JOIN queen.log_segments s ON s.partition_id = g.id AND s.base_offset = f.base_offset
    WHERE g.id IS NOT NULL
    ORDER BY g.ord, f.base_offset;
END $$;
COMMENT ON FUNCTION queen.log_find_pushes_v1(text[], text[], bigint[], integer, uuid) IS
'The segments that the groups of a push with an unknown outcome stored lately; a group without a row never committed.';
REVOKE ALL ON FUNCTION queen.log_find_pushes_v1(text[], text[], bigint[], integer, uuid) FROM PUBLIC;

/*
 * Purpose:     the transaction ids of a segment as it was pushed, after compaction took frames of it: NULL for a minted one, also
 *              of a frame that is gone (the sidecar tells); a control character, which no id has, where only the hash is left.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      one segment and its sidecar row.  Idempotency: reads only.  Raises: nothing.
 * Source:      design 3.1 (unknown commit outcome), design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._ids_as_pushed(
    r_seg queen.log_segments
) RETURNS text[]
LANGUAGE sql STABLE AS $$
    SELECT array_agg(CASE
        WHEN p.pos IS NOT NULL THEN r_seg.transaction_ids[p.pos]
        WHEN t.hashes[k + 1] = hashtextextended(queen._frame_id(r_seg.id_base, k)::text COLLATE "C", queen._id_seed(r_seg.partition_id)) THEN NULL
        ELSE E'\x01' END ORDER BY k)
    FROM generate_series(0, (r_seg.end_offset - r_seg.base_offset)::integer) k
    CROSS JOIN LATERAL (SELECT array_position(r_seg.offsets, r_seg.base_offset + k) AS pos) p
    LEFT JOIN queen.log_txns t ON t.partition_id = r_seg.partition_id AND t.base_offset = r_seg.base_offset
$$;
REVOKE ALL ON FUNCTION queen._ids_as_pushed(queen.log_segments) FROM PUBLIC;
