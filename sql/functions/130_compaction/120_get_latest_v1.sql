/*
 * Purpose:     the newest message of a key in a partition of a queue that compacts: from the compactor's map, or from what was
 *              pushed since. No row when there is none, or when it is a tombstone. A payload that the server encrypted
 *              comes as it is stored; the server looks into it.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: map, watermark and segments are of one snapshot.
 * Bounds:      two key probes; before them a walk back over the keys of what was pushed since the last compaction.
 * Idempotency: reads only.
 * Raises:      QN404 for an unknown queue; QN409 for one whose cleanupPolicy is delete: it keeps no map; QN400 for a bad name or
 *              key.
 * Source:      design 5 item 1, issue 4 item 7.
 */
CREATE OR REPLACE FUNCTION queen.get_latest_v1(
    p_queue text,
    p_key text,
    p_partition text DEFAULT 'Default',
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.latest_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    r_queue queen.queues;
    r_part record;
    r_seg queen.log_segments;
    v_pos integer;
BEGIN
    PERFORM queen._check_name(p_queue, 'queue');
    PERFORM queen._check_name(p_partition, 'partition');
    IF p_key IS NULL THEN
        PERFORM queen._raise('QN400', 'key must not be null', 'key');
    END IF;
    PERFORM queen._check_items(NULL, ARRAY[p_key]);
    r_queue := queen._find_queue(p_queue, queen._tenant(p_tenant_id));
    IF r_queue.cleanup_policy = 'delete' THEN
        PERFORM queen._raise('QN409', 'the queue keeps no latest value of a key: its cleanupPolicy is delete', 'queue');
    END IF;
    SELECT p.id, p.name, p.log_start, coalesce(c.keyed_to, 0) AS keyed_to INTO r_part
    FROM queen.log_partitions p
    LEFT JOIN queen.log_compaction c ON c.partition_id = p.id
    WHERE p.queue_id = r_queue.id AND p.name = p_partition;
    SELECT s.* INTO r_seg FROM queen.log_segments s
    WHERE s.partition_id = r_part.id AND s.base_offset >= greatest(r_part.keyed_to, r_part.log_start)
      AND array_position(s.keys, p_key) IS NOT NULL
    ORDER BY s.base_offset DESC
    LIMIT 1;
    IF NOT FOUND THEN
        SELECT s.* INTO r_seg
        FROM queen.log_keys k
        JOIN queen.log_segments s ON s.partition_id = k.partition_id AND s.base_offset = k.base_offset
        WHERE k.partition_id = r_part.id AND k.key = p_key AND k.base_offset >= r_part.log_start;
    END IF;
    v_pos := (array_positions(r_seg.keys, p_key))[cardinality(array_positions(r_seg.keys, p_key))];
    IF v_pos IS NULL OR queen._is_tombstone(r_seg.payloads[v_pos]) IS NOT FALSE THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT m.id, m.transaction_id, m.partition, m.partition_id, m."offset", m.payload, m.key, m.created_at
    FROM queen._messages(r_part.id, r_part.name, '', NULL, 0, r_seg.created_at, r_seg.id_base, r_seg.base_offset,
        r_seg.base_offset + v_pos - 1, r_seg.payloads[v_pos : v_pos], r_seg.transaction_ids[v_pos : v_pos],
        r_seg.keys[v_pos : v_pos], r_seg.offsets[v_pos : v_pos]) m;
END $$;
COMMENT ON FUNCTION queen.get_latest_v1(text, text, text, uuid) IS
'The newest message of a key in a queue whose cleanupPolicy is compact; no row when the key has none or was deleted by a null payload.';
REVOKE ALL ON FUNCTION queen.get_latest_v1(text, text, text, uuid) FROM PUBLIC;
