/*
 * Purpose:     find out after an unknown commit outcome which groups of a push call happened, by queue and partition name: the
 *              partition may have been created by the call itself, and then is absent together with the messages.
 * Locks:       none.
 * Isolation:   READ COMMITTED, in a transaction younger than the end of the doubtful one: the caller first makes sure that
 *              its backend is gone.
 * Volatility:  VOLATILE: must see what committed a moment ago.
 * Bounds:      as log_find_push_v1 a group, over what was stamped in the last p_within_seconds by this database's clock.
 * Idempotency: reads only.
 * Raises:      QN400 for arrays of unequal length.
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
    IF cardinality(p_partitions) IS DISTINCT FROM cardinality(p_queues) OR cardinality(p_nonces) IS DISTINCT FROM cardinality(p_queues) THEN
        PERFORM queen._raise('QN400', 'p_queues, p_partitions and p_nonces must have one element a group', 'p_nonces');
    END IF;
    r_lanes := queen._resolve_lanes(p_queues, p_partitions, queen._tenant(p_tenant_id));
    RETURN QUERY
    SELECT (g.ord - 1)::integer, f.id_base, f.frames, s.transaction_ids
    FROM unnest(r_lanes.ids, p_nonces) WITH ORDINALITY g (id, nonce, ord)
    CROSS JOIN LATERAL queen.log_find_push_v1(g.id, g.nonce, v_since) f
    JOIN queen.log_segments s ON s.partition_id = g.id AND s.base_offset = f.base_offset
    WHERE g.id IS NOT NULL
    ORDER BY g.ord, f.base_offset;
END $$;
COMMENT ON FUNCTION queen.log_find_pushes_v1(text[], text[], bigint[], integer, uuid) IS
'The segments that the groups of a push with an unknown outcome stored lately; a group without a row never committed.';
REVOKE ALL ON FUNCTION queen.log_find_pushes_v1(text[], text[], bigint[], integer, uuid) FROM PUBLIC;
