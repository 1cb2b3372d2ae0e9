/*
 * Purpose:     the dead letters a tenant may see: those whose queue is there. One place for the join, inlined.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      what the caller's filter leaves; never called without one.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      E-5, F073, F075.
 */
CREATE OR REPLACE FUNCTION queen._dead_letters(p_tenant_id uuid) RETURNS SETOF queen.dead_letter_row
LANGUAGE sql STABLE AS $$
    SELECT d.id, d.transaction_id, d.partition_id, q.name, p.name, d.consumer_group, d.error, d.retry_count, d.payload,
           d.failed_at, d.message_id, d."offset"
    FROM queen.log_dlq d
    JOIN queen.log_partitions p ON p.id = d.partition_id
    JOIN queen.queues q ON q.id = p.queue_id
    WHERE q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
$$;
REVOKE ALL ON FUNCTION queen._dead_letters(uuid) FROM PUBLIC;
