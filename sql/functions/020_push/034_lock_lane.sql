/*
 * Purpose:     lock the one partition of a push if nobody holds it, so that _push_lane does not wait: true when that is done.
 *              A partition that is missing or held is left to _push, which tells the one from the other.
 * Locks:       the partition, FOR NO KEY UPDATE SKIP LOCKED.
 * Isolation:   any: the row is read by the statements after it.
 * Volatility:  VOLATILE: locks.
 * Bounds:      one row.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 3.2 rule 1, 3.3 (server bundles).
 */
CREATE OR REPLACE FUNCTION queen._lock_lane(p_queue text, p_partition text, p_tenant_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id AND p.name = p_partition
    WHERE q.tenant_id = p_tenant_id AND q.name = p_queue AND q.deleted_at IS NULL
    FOR NO KEY UPDATE OF p SKIP LOCKED;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION queen._lock_lane(text, text, uuid) FROM PUBLIC;
