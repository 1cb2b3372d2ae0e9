/*
 * Purpose:     keep queues from being deleted while numbers about them are written, so that the writer never waits for a
 *              delete with rows of its own already locked.
 * Locks:       the queues by id, FOR KEY SHARE: in nobody's way but a delete's.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: locks.
 * Bounds:      the ids given.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 3.3 (lock order).
 */
CREATE OR REPLACE FUNCTION queen._lock_measured(p_queue_ids uuid[]) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM queen.queues q WHERE q.id = ANY (p_queue_ids) ORDER BY q.id FOR KEY SHARE;
END $$;
REVOKE ALL ON FUNCTION queen._lock_measured(uuid[]) FROM PUBLIC;
