/*
 * Purpose:     push many messages of one queue inside the caller's own transaction. p_partitions has one element a
 *              payload, or one for all (NULL: Default). Order inside a partition is the order given.
 * Locks:       as log_push_v1 (partitions by id ascending), under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED; other levels are accepted and answer 40001 when another push came first.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the arrays given.
 * Idempotency: by transaction id inside the queue's dedup window.
 * Raises:      QN400 (detail: the argument), QN409 on an encrypted queue, 40001, 55P03 (retry the transaction).
 * Source:      design 3.3 (push_many_v1 sorts), 4, P-2, P-26, F011.
 */
CREATE OR REPLACE FUNCTION queen.push_many_v1(
    p_queue text,
    p_payloads json[],
    p_partitions text[] DEFAULT NULL,
    p_transaction_ids text[] DEFAULT NULL,
    p_keys text[] DEFAULT NULL
) RETURNS SETOF queen.pushed_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
DECLARE
    r_in record;
    v_items integer := cardinality(p_payloads);
BEGIN
    PERFORM queen._check_items(p_transaction_ids, p_keys);
    IF cardinality(p_transaction_ids) <> v_items OR cardinality(p_keys) <> v_items
       OR cardinality(p_partitions) NOT IN (1, v_items) THEN
        PERFORM queen._raise('QN400', 'every array must have one element a payload', 'p_transaction_ids');
    ELSIF coalesce(v_items, 0) = 0 THEN
        RETURN;
    END IF;
    IF cardinality(p_partitions) > 1 THEN
        SELECT array_agg(g.partition) AS partitions, array_agg(g.cnt) AS counts, g2.*
        INTO r_in
        FROM (
            SELECT u.partition, count(*)::integer AS cnt, min(u.ord) AS first
            FROM unnest(p_partitions) WITH ORDINALITY u (partition, ord)
            GROUP BY 1 ORDER BY 3
        ) g
        CROSS JOIN (
            SELECT array_agg(s.payload::text) AS payloads, array_agg(s.id) AS ids, array_agg(s.key) AS keys,
                   array_agg(s.ord - 1) AS origin
            FROM (
                SELECT u.*, min(u.ord) OVER (PARTITION BY u.partition) AS first
                FROM unnest(p_payloads, p_partitions, p_transaction_ids, p_keys) WITH ORDINALITY u (payload, partition, id, key, ord)
                ORDER BY 6, 5
            ) s
        ) g2
        GROUP BY g2.payloads, g2.ids, g2.keys, g2.origin;
    ELSE
        SELECT coalesce(p_partitions, ARRAY['Default']) AS partitions, ARRAY[v_items] AS counts,
               p_payloads::text[] AS payloads, p_transaction_ids AS ids, p_keys AS keys, NULL::bigint[] AS origin
        INTO r_in;
    END IF;
    RETURN QUERY
    SELECT m.item, m.status, m.message_id,
           coalesce(p_transaction_ids[m.item + 1], m.message_id::text), m."offset", m.partition
    FROM (
        SELECT coalesce(r_in.origin[v.at + 1], v.at)::integer AS item, v.status, v.message_id, v."offset", v.partition
        FROM queen._push_verdicts(p_queue, r_in.partitions, r_in.counts, r_in.payloads, r_in.ids, r_in.keys) v
    ) m
    ORDER BY m.item;
END $$;
COMMENT ON FUNCTION queen.push_many_v1(text, json[], text[], text[], text[]) IS
'Push many messages of one queue in one call; they commit or roll back with your transaction. One answer row a message, in input order.';
REVOKE ALL ON FUNCTION queen.push_many_v1(text, json[], text[], text[], text[]) FROM PUBLIC;

/*
 * Purpose:     run log_push_v1 for one queue and spread its rows to one verdict an item (at = position in the call).
 * Locks:       as log_push_v1.  Isolation: as log_push_v1.  Volatility: VOLATILE: writes.
 * Bounds:      the call given.  Idempotency: as log_push_v1.
 * Raises:      as log_push_v1; a refused group raises its code.
 * Source:      design 4.
 */
CREATE OR REPLACE FUNCTION queen._push_verdicts(
    p_queue text,
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_ids text[],
    p_keys text[]
) RETURNS TABLE (at integer, status text, message_id uuid, "offset" bigint, partition text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r queen.push_row;
    v_start integer;
    v_k integer;
BEGIN
    FOR r IN SELECT * FROM queen.log_push_v1(
        array_fill(p_queue, ARRAY[cardinality(p_partitions)]), p_partitions, p_counts, p_payloads, p_ids, p_keys)
    LOOP
        IF r.status = 'failed' THEN
            PERFORM queen._raise(r.code, r.error);
        END IF;
        v_start := coalesce((SELECT sum(c) FROM unnest(p_counts[1 : r.grp]) c), 0);
        partition := p_partitions[r.grp + 1];
        status := r.status;
        FOR v_k IN 0 .. coalesce(cardinality(r.items), r.frames) - 1
        LOOP
            at := v_start + coalesce(r.items[v_k + 1], r.first_item + v_k);
            message_id := CASE WHEN r.status = 'queued' THEN queen._frame_id(r.id_base, v_k) ELSE r.item_ids[v_k + 1] END;
            "offset" := CASE WHEN r.status = 'queued' THEN r.base_offset + v_k ELSE r.item_offsets[v_k + 1] END;
            RETURN NEXT;
        END LOOP;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._push_verdicts(text, text[], integer[], text[], text[], text[]) FROM PUBLIC;
