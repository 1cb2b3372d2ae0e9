/*
 * Purpose:     take messages of every queue with the given labels, from psql or an application, one row a message.
 * Locks:       as log_pop_discovery_v1, under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_batch messages.
 * Idempotency: none: a second call is a new claim.
 * Raises:      as log_pop_discovery_v1.
 * Source:      design 4, O-5.
 */
CREATE OR REPLACE FUNCTION queen.pop_discovery_v1(
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_batch integer DEFAULT 1,
    p_group text DEFAULT NULL,
    p_lease_seconds integer DEFAULT NULL,
    p_auto_ack boolean DEFAULT false,
    p_max_partitions integer DEFAULT NULL,
    p_subscription_mode text DEFAULT 'all',
    p_subscription_from text DEFAULT NULL,
    p_conflation boolean DEFAULT false
) RETURNS SETOF queen.popped_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
BEGIN
    RETURN QUERY
    SELECT m.*
    FROM queen.log_pop_discovery_v1(p_namespace, p_task, p_group, p_batch, p_max_partitions, p_lease_seconds, p_auto_ack,
        p_subscription_mode, p_subscription_from, NULL, p_conflation) WITH ORDINALITY r
    CROSS JOIN LATERAL queen._messages(r.partition_id, r.partition, r.lease_id, r.lease_expires_at, r.delivery_attempt,
        r.created_at, r.id_base, r.segment_base, r.first_offset, r.payloads, r.transaction_ids, r.keys, r.offsets) m
    ORDER BY r.ordinality, m."offset";
END $$;
COMMENT ON FUNCTION queen.pop_discovery_v1(text, text, integer, text, integer, boolean, integer, text, text, boolean) IS
'Take the next messages of all queues with a namespace, a task or both, for a consumer group. Finish them with ack_v1 before the lease ends, or they come again.';
REVOKE ALL ON FUNCTION queen.pop_discovery_v1(text, text, integer, text, integer, boolean, integer, text, text, boolean) FROM PUBLIC;
