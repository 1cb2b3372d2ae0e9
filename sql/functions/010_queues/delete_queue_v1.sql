/*
 * Purpose:     hides a queue with everything in it, and frees its name, at once. Nothing of it is listed, delivered, acked or
 *              counted from then on; log_reclaim_step_v1 removes the rows in bounded steps. A push that found the queue before
 *              it was hidden may still store in it: that push came before the delete.
 * Locks:       the queue row FOR NO KEY UPDATE: it waits for an edit of the options, but for no push, pop or ack.
 * Isolation:   READ COMMITTED; above it a lost race is 40001.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row of queues.
 * Idempotency: yes: a second call answers existed false.
 * Raises:      55P03 when an edit of the queue is not committed for 5 s; nothing is deleted then.
 * Source:      C-28, W-15, E-24, design 5 (queue delete hides at once), F143.
 */
CREATE OR REPLACE FUNCTION queen.delete_queue_v1(
    p_queue text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s' AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    PERFORM queen._require_read_committed();
    UPDATE queen.queues q SET deleted_at = clock_timestamp()
    WHERE q.tenant_id = v_tenant AND q.name = p_queue COLLATE "C" AND q.deleted_at IS NULL;
    IF NOT FOUND THEN
        RETURN json_build_object(
            'deleted', false,
            'queue', p_queue,
            'existed', false,
            'message', 'Queue not found, nothing was deleted');
    END IF;
    RETURN json_build_object('deleted', true, 'queue', p_queue, 'existed', true);
END $$;
COMMENT ON FUNCTION queen.delete_queue_v1(text, uuid) IS
'Deletes a queue with its messages, cursors and dead letters, and frees its name; the space comes back with the maintenance that follows. Deleting what is not there is no error: look at deleted in the answer.';
REVOKE ALL ON FUNCTION queen.delete_queue_v1(text, uuid) FROM PUBLIC;
