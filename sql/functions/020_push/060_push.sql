/*
 * Purpose:     push at any isolation level: above READ COMMITTED the tail may be stale, the insert then collides on the
 *              segments' key, and the collision becomes a serialization failure. At READ COMMITTED there is no such block,
 *              which would be a subtransaction.
 * Locks:       as _push_groups.  Isolation: any.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the call given.  Idempotency: as log_push_v1.
 * Raises:      40001 when another push came first; as _push_groups.
 * Source:      design 3.3, L-13.
 */
CREATE OR REPLACE FUNCTION queen._push(
    p_queues text[],
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_nonces bigint[],
    p_skip_locked boolean,
    p_tenant_id uuid,
    p_trace_ids text[],
    p_producer_subs text[],
    p_sealed boolean[] DEFAULT NULL
) RETURNS queen.push_row[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF current_setting('transaction_isolation') = 'read committed' THEN
        RETURN queen._push_groups(p_queues, p_partitions, p_counts, p_payloads, p_ids, p_keys, p_nonces,
            p_skip_locked, p_tenant_id, p_trace_ids, p_producer_subs, p_sealed);
    END IF;
    BEGIN
        RETURN queen._push_groups(p_queues, p_partitions, p_counts, p_payloads, p_ids, p_keys, p_nonces,
            p_skip_locked, p_tenant_id, p_trace_ids, p_producer_subs, p_sealed);
    EXCEPTION WHEN unique_violation THEN
        PERFORM queen._raise('40001', 'another push came first; retry the transaction');
    END;
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION queen._push(text[], text[], integer[], text[], text[], text[], bigint[], boolean, uuid, text[], text[], boolean[]) FROM PUBLIC;
