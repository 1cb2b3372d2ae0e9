/*
 * Purpose:     finish messages from psql or an application, inside the caller's own transaction.
 * Locks:       the consumer row, FOR UPDATE, under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the ids given.
 * Idempotency: yes: what is below the cursor answers noop.
 * Raises:      QN400 for an unknown status or another isolation level; every item gets a verdict.
 * Source:      design 4, A-1..A-19.
 */
CREATE OR REPLACE FUNCTION queen.ack_v1(
    p_partition_id uuid,
    p_transaction_ids text[],
    p_lease_id text DEFAULT NULL,
    p_group text DEFAULT NULL,
    p_status text DEFAULT 'completed',
    p_error text DEFAULT NULL
) RETURNS SETOF queen.ack_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
    SELECT * FROM queen.log_ack_v1(
        ARRAY[p_partition_id], ARRAY[coalesce(p_group, '__QUEUE_MODE__')], ARRAY[p_lease_id],
        ARRAY[coalesce(cardinality(p_transaction_ids), 0)], p_transaction_ids,
        array_fill(p_status, ARRAY[coalesce(cardinality(p_transaction_ids), 0)]),
        array_fill(p_error, ARRAY[coalesce(cardinality(p_transaction_ids), 0)]))
$$;
COMMENT ON FUNCTION queen.ack_v1(uuid, text[], text, text, text, text) IS
'Finish delivered messages of one partition by their transaction ids: completed, failed (charges the retry budget), retry (free), or dlq.';
REVOKE ALL ON FUNCTION queen.ack_v1(uuid, text[], text, text, text, text) FROM PUBLIC;
