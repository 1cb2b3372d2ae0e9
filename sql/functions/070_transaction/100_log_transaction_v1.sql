/*
 * Purpose:     pushes and acks of any queues, all or nothing, the face for servers: push groups as in log_push_v1, ack groups
 *              as in log_ack_v1. Answers one row a pushed item and one row an ack, or raises, and then nothing happened.
 * Locks:       missing queues by name, missing partitions, then every partition touched by id ascending (pushed to: FOR NO
 *              KEY UPDATE; only acknowledged: FOR KEY SHARE), then consumer rows in (partition, group) order. With
 *              p_lock_timeout_ms no wait is longer, until the end of the surrounding transaction.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the call given.
 * Idempotency: by transaction id inside the dedup window: a second call is refused as a duplicate. Without ids on the pushes
 *              an ack whose lease is over refuses it.
 * Raises:      QN400 as log_push_v1 and log_ack_v1, or for another isolation level; 23505 'QDUP: ...' when a pushed id is there
 *              already; QN409 'QTXN: ...' when an ack cannot be carried out (detail of both: the item); QN409 when a queue
 *              is encrypted and its group is not, or p_sealed says of it what it is not (detail: p_sealed[g]); 40001 when a partition was removed meanwhile; 55P03 after p_lock_timeout_ms.
 * Source:      A-30..A-35, http-api 3.5, design 3.3.
 */
CREATE OR REPLACE FUNCTION queen.log_transaction_v1(
    p_queues text[],
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_transaction_ids text[],
    p_ack_partition_ids uuid[],
    p_ack_groups text[],
    p_ack_lease_ids text[],
    p_ack_counts integer[],
    p_ack_transaction_ids text[],
    p_ack_statuses text[],
    p_ack_errors text[] DEFAULT NULL,
    p_required_leases text[] DEFAULT NULL,
    p_require_lease boolean DEFAULT false,
    p_keys text[] DEFAULT NULL,
    p_trace_ids text[] DEFAULT NULL,
    p_nonces bigint[] DEFAULT NULL,
    p_lock_timeout_ms integer DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_sealed boolean[] DEFAULT NULL,
    p_producer_sub text DEFAULT NULL
) RETURNS SETOF queen.transaction_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_foreign integer;
    v_hidden boolean;
BEGIN
    PERFORM queen._require_read_committed();
    IF coalesce(cardinality(p_queues), 0) + coalesce(cardinality(p_payloads), 0) + coalesce(cardinality(p_counts), 0) > 0 THEN
        PERFORM queen._check_push(p_queues, p_partitions, p_counts, p_payloads, p_transaction_ids, p_keys, p_trace_ids, NULL, p_nonces, p_sealed);
    END IF;
    IF NOT queen._is_list(p_required_leases) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_required_leases');
    END IF;
    PERFORM queen._check_ack(p_ack_partition_ids, p_ack_groups, p_ack_lease_ids, p_ack_counts, p_ack_transaction_ids,
        p_ack_statuses, p_ack_errors);
    IF p_lock_timeout_ms IS NOT NULL THEN
        PERFORM set_config('lock_timeout', p_lock_timeout_ms::text, true);
    END IF;
    PERFORM queen._lock_transaction(p_queues, p_partitions,
        ARRAY(SELECT u FROM unnest(p_ack_partition_ids) u WHERE queen._owns_partition(v_tenant, u)), v_tenant);
    IF cardinality(p_queues) > 0 THEN
        RETURN QUERY SELECT * FROM queen._transaction_pushes(
            queen._push(p_queues, p_partitions, p_counts, p_payloads, p_transaction_ids, p_keys, p_nonces, false, v_tenant, p_trace_ids,
                CASE WHEN p_producer_sub IS NOT NULL THEN array_fill(p_producer_sub, ARRAY[cardinality(p_payloads)]) END, p_sealed),
            p_counts);
    END IF;
    -- Only now: what is said of another tenant's partition must not come before what is said of the pushes, as with
    -- one that is not there.
    SELECT (SELECT coalesce(sum(c), 0) FROM unnest(p_ack_counts[1 : u.ord - 1]) c), u.owned IS NULL INTO v_foreign, v_hidden
    FROM (SELECT w.id, w.ord, queen._owns_partition(v_tenant, w.id) AS owned FROM unnest(p_ack_partition_ids) WITH ORDINALITY w (id, ord)) u
    WHERE u.owned IS NOT TRUE
    ORDER BY u.ord
    LIMIT 1;
    IF FOUND THEN
        PERFORM queen._raise('QN409', CASE WHEN v_hidden THEN 'QTXN: consumer not found' ELSE 'QTXN: partition not owned by tenant' END, format('p_ack_transaction_ids[%s]', v_foreign));
    END IF;
    RETURN QUERY SELECT * FROM queen._transaction_acks(p_ack_partition_ids, p_ack_groups, p_ack_lease_ids, p_ack_counts,
        p_ack_transaction_ids, p_ack_statuses, p_ack_errors, p_required_leases, p_require_lease);
END $$;
COMMENT ON FUNCTION queen.log_transaction_v1(text[], text[], integer[], text[], text[], uuid[], text[], text[], integer[], text[], text[], text[],
    text[], boolean, text[], text[], bigint[], integer, uuid, boolean[], text) IS
'Push messages and acknowledge others, of any queues, partitions and groups, all or nothing: an error means that nothing happened.';
REVOKE ALL ON FUNCTION queen.log_transaction_v1(text[], text[], integer[], text[], text[], uuid[], text[], text[], integer[], text[], text[], text[],
    text[], boolean, text[], text[], bigint[], integer, uuid, boolean[], text) FROM PUBLIC;
