/*
 * Purpose:     forget a consumer group: its cursors, and with p_delete_metadata its registration, on one queue or on all.
 *              The next pop begins anew, as a new group, or where the kept registration says.
 * Locks:       for each queue, by id, the advisory locks of (queue, group); then the registrations; then the cursors,
 *              partitions ascending. Waits for acks and pops that hold a cursor, 5 s at most.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row a partition; without a queue a key probe a partition of the tenant.
 * Idempotency: yes: deleting what is not there answers zeros.
 * Raises:      QN400 for bad names or another isolation level; 55P03 when somebody holds a cursor for 5 s.
 * Source:      A-37, O-12, http-api 4.7, F085.
 */
CREATE OR REPLACE FUNCTION queen.delete_consumer_group_v1(
    p_group text,
    p_queue text DEFAULT NULL,
    p_delete_metadata boolean DEFAULT true,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_queue_ids uuid[];
    v_whole boolean := coalesce(p_delete_metadata, true);
    v_count bigint;
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(p_group, 'consumerGroup');
    IF p_queue IS NOT NULL THEN
        PERFORM queen._check_name(p_queue, 'queue');
    END IF;
    v_queue_ids := ARRAY(
        SELECT q.id FROM queen.queues q
        WHERE q.tenant_id = v_tenant AND q.deleted_at IS NULL AND (p_queue IS NULL OR q.name = p_queue)
          AND (EXISTS (SELECT FROM queen.consumer_groups_metadata m WHERE m.queue_id = q.id AND m.consumer_group = p_group)
            OR EXISTS (
                SELECT FROM queen.log_partitions p
                JOIN queen.log_consumers c ON c.partition_id = p.id AND c.consumer_group = p_group
                WHERE p.queue_id = q.id))
        ORDER BY q.id);
    PERFORM pg_advisory_xact_lock(queen._floor_lock(u.id, p_group)), pg_advisory_xact_lock(queen._cursors_lock(u.id, p_group))
    FROM unnest(v_queue_ids) u (id);
    IF v_whole THEN
        DELETE FROM queen.consumer_groups_metadata m
        WHERE m.tenant_id = v_tenant AND m.consumer_group = p_group
          AND (m.queue_id = ANY (v_queue_ids) OR (p_queue IS NULL AND m.queue_id IS NULL));
    ELSE
        -- A registration at new gave every partition a cursor. Now they are gone, and only its time tells old from new.
        UPDATE queen.consumer_groups_metadata m SET subscription_mode = 'timestamp'
        WHERE m.queue_id = ANY (v_queue_ids) AND m.consumer_group = p_group AND m.subscription_mode = 'new';
    END IF;
    PERFORM FROM queen.log_consumers c
    WHERE c.consumer_group = p_group
      AND c.partition_id IN (SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = ANY (v_queue_ids))
    ORDER BY c.partition_id
    FOR UPDATE OF c;
    DELETE FROM queen.log_consumers c
    USING queen.log_partitions p
    WHERE p.queue_id = ANY (v_queue_ids) AND c.partition_id = p.id AND c.consumer_group = p_group;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    DELETE FROM queen.consumer_watermarks w WHERE w.queue_id = ANY (v_queue_ids) AND w.consumer_group = p_group;
    PERFORM queen._forget_activity(u.id, p_group) FROM unnest(v_queue_ids) u (id);
    IF p_queue IS NOT NULL THEN
        RETURN json_build_object(
            'success', true, 'consumerGroup', p_group, 'queueName', p_queue, 'deletedPartitions', v_count, 'metadataDeleted', v_whole);
    END IF;
    RETURN json_build_object(
        'success', true, 'consumerGroup', p_group, 'deletedPartitions', v_count, 'metadataDeleted', v_whole);
END $$;
COMMENT ON FUNCTION queen.delete_consumer_group_v1(text, text, boolean, uuid) IS
'Forget a consumer group on a queue, or on every queue: its cursors and, unless told otherwise, its subscription. If it pops again it begins as a new group.';
REVOKE ALL ON FUNCTION queen.delete_consumer_group_v1(text, text, boolean, uuid) FROM PUBLIC;
