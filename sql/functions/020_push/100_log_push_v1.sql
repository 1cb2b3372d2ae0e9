/*
 * Purpose:     push groups of messages, the face for servers: flat arrays, group g being p_counts[g] consecutive items
 *              for (p_queues[g], p_partitions[g]). Missing queues and partitions are created. Items of one group never
 *              store the same transaction id twice; across groups and calls the queue's dedup window decides.
 * Locks:       missing queues by name, missing partitions, then partitions by id ascending, FOR NO KEY UPDATE.
 * Isolation:   READ COMMITTED; other levels are accepted and answer 40001 when another push came first.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the call given; the server sends at most 4 MiB. Names 255 characters, ids 64 KiB, keys 1 KiB.
 * Idempotency: by transaction id inside the dedup window. p_nonces (42 random bits a group) lets log_find_push_v1 tell
 *              after an unknown commit outcome whether the call happened.
 * Raises:      QN400 for arrays that do not fit together, bad names or over-long ids (detail: the field); 40001 when a
 *              partition was removed meanwhile. A group answers failed QN409 when its queue is encrypted and it holds
 *              plaintext, or when p_sealed says of it what its queue is not: so a server need not know before it asks.
 *              Without p_sealed, what has the shape of an envelope is one.
 * Source:      P-1..P-27, design 3.1..3.4 and 4 (encryptionEnabled), F001, F026, F029, F031.
 */
CREATE OR REPLACE FUNCTION queen.log_push_v1(
    p_queues text[],
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_transaction_ids text[] DEFAULT NULL,
    p_keys text[] DEFAULT NULL,
    p_nonces bigint[] DEFAULT NULL,
    p_skip_locked boolean DEFAULT false,
    p_tenant_id uuid DEFAULT NULL,
    p_trace_ids text[] DEFAULT NULL,
    p_producer_subs text[] DEFAULT NULL,
    p_sealed boolean[] DEFAULT NULL
) RETURNS SETOF queen.push_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_row queen.push_row;
    v_items integer := cardinality(p_payloads);
    v_tenant uuid;
BEGIN
    -- The common call: one group, as _check_push wants it.
    IF v_items > 0 AND p_counts = ARRAY[v_items] AND cardinality(p_queues) = 1 AND cardinality(p_partitions) = 1
       AND coalesce(cardinality(p_nonces), 1) = 1 AND queen._is_list(p_nonces) AND coalesce(cardinality(p_transaction_ids), v_items) = v_items
       AND coalesce(cardinality(p_keys), v_items) = v_items AND p_trace_ids IS NULL
       AND coalesce(cardinality(p_producer_subs), v_items) = v_items AND coalesce(p_sealed = '{false}', true)
       AND queen._is_list(p_payloads) AND queen._is_list(p_transaction_ids) AND queen._is_list(p_keys)
       AND queen._is_list(p_producer_subs) THEN
        v_tenant := queen._tenant(p_tenant_id);
        IF NOT p_skip_locked OR queen._lock_lane(p_queues[1], p_partitions[1], v_tenant) THEN
            r_row := queen._push_lane(p_queues[1], p_partitions[1], p_payloads, p_transaction_ids, p_keys, p_producer_subs, p_nonces[1], v_tenant);
        END IF;
        IF r_row.status IS NOT NULL THEN
            RETURN NEXT r_row;
            RETURN;
        END IF;
    END IF;
    FOREACH r_row IN ARRAY coalesce(queen._push(p_queues, p_partitions, p_counts, p_payloads, p_transaction_ids, p_keys,
        p_nonces, p_skip_locked, queen._tenant(p_tenant_id), p_trace_ids, p_producer_subs, p_sealed), '{}')
    LOOP
        RETURN NEXT r_row;
    END LOOP;
END $$;
COMMENT ON FUNCTION queen.log_push_v1(text[], text[], integer[], text[], text[], text[], bigint[], boolean, uuid, text[], text[], boolean[]) IS
'Push groups of messages into partitions in one call; answers one row a stored segment and one row for the repeats of a group.';
REVOKE ALL ON FUNCTION queen.log_push_v1(text[], text[], integer[], text[], text[], text[], bigint[], boolean, uuid, text[], text[], boolean[]) FROM PUBLIC;
