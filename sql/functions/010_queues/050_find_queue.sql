/*
 * Purpose:     the live queue of a name, for readers.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      one index probe.  Idempotency: yes.
 * Raises:      QN404 when the tenant has no such queue, whoever else has one.
 * Source:      C-22, C-27, E-5.
 */
CREATE OR REPLACE FUNCTION queen._find_queue(
    p_queue text,
    p_tenant_id uuid
) RETURNS queen.queues
LANGUAGE plpgsql STABLE AS $$
DECLARE
    r_queue queen.queues;
BEGIN
    SELECT q.* INTO r_queue
    FROM queen.queues q
    WHERE q.tenant_id = p_tenant_id AND q.name = p_queue COLLATE "C" AND q.deleted_at IS NULL;
    IF NOT FOUND THEN
        PERFORM queen._raise('QN404', 'Queue not found');
    END IF;
    RETURN r_queue;
END $$;
REVOKE ALL ON FUNCTION queen._find_queue(text, uuid) FROM PUBLIC;
