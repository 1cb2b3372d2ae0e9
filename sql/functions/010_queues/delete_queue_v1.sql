/*
 * Purpose:     removes a queue with everything in it. The name is free at once.
 * Locks:       the queue row FOR UPDATE (a push that makes a partition waits, then finds its queue gone); then its
 *              partitions FOR UPDATE, ids ascending; then their consumers and dead letters.
 * Isolation:   READ COMMITTED; above it the list of partitions would be older than the lock and rows would be orphaned.
 * Volatility:  VOLATILE: writes, and each statement must see what was committed while it waited.
 * Bounds:      every row of the queue, in one transaction.
 * Idempotency: yes: a second call answers existed false.
 * Raises:      55P03 when something holds the queue or one of its partitions longer than 5 s; nothing is deleted then.
 * Source:      C-28, W-15, E-24, design 3.3, F143.
 */
CREATE OR REPLACE FUNCTION queen._delete_partition(p_partition_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM queen.log_partitions p WHERE p.id = p_partition_id FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Consumers first: an ack that files a dead letter holds its consumer row, not the partition.
    DELETE FROM queen.log_consumers WHERE partition_id = p_partition_id;
    PERFORM queen._delete_letters(ARRAY(SELECT d.id FROM queen.log_dlq d WHERE d.partition_id = p_partition_id));
    DELETE FROM queen.log_txns WHERE partition_id = p_partition_id;
    DELETE FROM queen.log_segments WHERE partition_id = p_partition_id;
    DELETE FROM queen.log_partitions WHERE id = p_partition_id;
END $$;
REVOKE ALL ON FUNCTION queen._delete_partition(uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen.delete_queue_v1(
    p_queue text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s' AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_queue_id uuid;
    v_partition_id uuid;
BEGIN
    PERFORM queen._require_read_committed();
    SELECT q.id INTO v_queue_id
    FROM queen.queues q
    WHERE q.tenant_id = v_tenant AND q.name = p_queue COLLATE "C" AND q.deleted_at IS NULL
    FOR UPDATE;
    IF NOT FOUND THEN
        RETURN json_build_object(
            'deleted', false,
            'queue', p_queue,
            'existed', false,
            'message', 'Queue not found, nothing was deleted');
    END IF;
    UPDATE queen.queues SET deleted_at = clock_timestamp() WHERE id = v_queue_id;

    -- One partition at a time, in id order, so that no two sessions can wait for each other. The list is complete: it is
    -- read under the queue's lock, and a partition cannot be added without a lock on that row.
    FOR v_partition_id IN
        SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = v_queue_id ORDER BY p.id
    LOOP
        PERFORM queen._delete_partition(v_partition_id);
    END LOOP;
    DELETE FROM queen.queues WHERE id = v_queue_id;
    RETURN json_build_object('deleted', true, 'queue', p_queue, 'existed', true);
END $$;
COMMENT ON FUNCTION queen.delete_queue_v1(text, uuid) IS
'Deletes a queue with its messages, cursors and dead letters, and frees its name. Deleting what is not there is no error: look at deleted in the answer.';
REVOKE ALL ON FUNCTION queen.delete_queue_v1(text, uuid) FROM PUBLIC;
