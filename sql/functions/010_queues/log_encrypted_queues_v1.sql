/*
 * Purpose:     the queues that are encrypted, of all tenants. A server without a key asks twice a second, so that it knows what it
 *              may not spool when the database goes away.
 * Locks:       none.
 * Isolation:   any.
 * Volatility:  STABLE.
 * Bounds:      one pass over the queues; one row an encrypted queue.
 * Idempotency: reads only.
 * Raises:      QN403 for a session of another tenant than the default one.
 * Source:      issue 3 items 7 and 8 (plaintext is never stored silently).
 */
CREATE OR REPLACE FUNCTION queen.log_encrypted_queues_v1() RETURNS SETOF queen.encrypted_queue_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM queen._require_whole_server();
    RETURN QUERY SELECT q.tenant_id, q.name FROM queen.queues q WHERE q.encryption_enabled AND q.deleted_at IS NULL;
END $$;
COMMENT ON FUNCTION queen.log_encrypted_queues_v1() IS
'The queues that are encrypted, of all tenants: what a server without a key may not keep on its disk.';
REVOKE ALL ON FUNCTION queen.log_encrypted_queues_v1() FROM PUBLIC;
