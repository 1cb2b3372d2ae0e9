/*
 * Purpose:     how much work waits in a queue, for one group or for the slowest one, in total and a partition.
 * Locks:       none.
 * Isolation:   any; STABLE keeps every read on one snapshot.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows, one key probe of segments a partition that is not settled; no payload.
 * Idempotency: yes.
 * Raises:      QN404 when there is no such queue.
 * Source:      C-24 to C-27, S-11 to S-14, F121.
 */
CREATE OR REPLACE FUNCTION queen.log_queue_depth_v1(
    p_queue text,
    p_group text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_group text := nullif(p_group, '');
    r_queue queen.queues := queen._find_queue(p_queue, queen._tenant(p_tenant_id));
    v_conflation boolean;
BEGIN
    v_conflation := EXISTS (
        SELECT FROM queen.consumer_groups_metadata m
        WHERE m.queue_id = r_queue.id
          AND m.consumer_group = v_group COLLATE "C"
          AND m.conflation);
    RETURN (
        WITH whole AS (
            SELECT
                coalesce(sum(b.pending), 0) AS pending,
                coalesce(sum(b.processing), 0) AS processing,
                coalesce(sum(b.pending - b.processing), 0) AS ready,
                count(*) FILTER (WHERE b.pending > 0) AS partitions_pending,
                count(*) FILTER (WHERE b.pending > b.processing) AS partitions_ready,
                coalesce(json_agg(json_build_object(
                    'partition', b.name,
                    'pending', b.pending,
                    'processing', b.processing,
                    'ready', b.pending - b.processing) ORDER BY b.name COLLATE "C"), '[]') AS partitions
            FROM queen._backlog(ARRAY[r_queue.id], v_group) b
        )
        SELECT json_build_object(
            'queue', r_queue.name,
            'group', v_group,
            'pending', w.pending,
            'processing', w.processing,
            'ready', w.ready,
            'partitionsPending', w.partitions_pending,
            'partitionsReady', w.partitions_ready,
            'conflation', v_conflation,
            'effectivePending', CASE WHEN v_conflation THEN w.partitions_pending ELSE w.pending END,
            'effectiveReady', CASE WHEN v_conflation THEN w.partitions_ready ELSE w.ready END,
            'partitions', w.partitions)
        FROM whole w);
END $$;
COMMENT ON FUNCTION queen.log_queue_depth_v1(text, text, uuid) IS
'How many messages of a queue wait: pending is all that is owed, processing is under a live lease, ready is the rest. Name a group to see its own backlog.';
REVOKE ALL ON FUNCTION queen.log_queue_depth_v1(text, text, uuid) FROM PUBLIC;
