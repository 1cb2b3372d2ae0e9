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
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_in record;
    r_bad record;
    v_rows queen.push_row[];
    r_row queen.push_row;
    v_prefix text;
    v_starts integer[];
    v_partition text := CASE WHEN p_partitions IS NULL THEN 'Default' ELSE p_partitions[1] END;
    v_payloads text[] := p_payloads::text[];
    v_joined text := array_to_string(v_payloads, '');
    v_items integer := cardinality(p_payloads);
BEGIN
    IF p_transaction_ids IS NOT NULL OR p_keys IS NOT NULL THEN
        PERFORM queen._check_items(p_transaction_ids, p_keys);
    END IF;
    -- One character is looked for at memory speed, two are not; most payloads have no backslash at all. An IF of its own, since a
    -- condition with a subquery is a statement even where its first half is false.
    IF strpos(v_joined, '\') > 0 THEN
        IF EXISTS (SELECT FROM unnest(v_payloads) p WHERE strpos(p, '\u') > 0) THEN
            PERFORM queen._check_surrogates(p_payloads);
        END IF;
    END IF;
    IF cardinality(p_transaction_ids) <> v_items OR cardinality(p_keys) <> v_items
       OR cardinality(p_partitions) NOT IN (1, v_items) THEN
        PERFORM queen._raise('QN400', 'every array must have one element a payload', 'p_transaction_ids');
    ELSIF NOT (queen._is_list(p_payloads) AND queen._is_list(p_partitions) AND queen._is_list(p_transaction_ids)
        AND queen._is_list(p_keys)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_payloads');
    ELSIF coalesce(v_items, 0) = 0 THEN
        RETURN;
    END IF;
    IF cardinality(p_partitions) > 1 THEN
        SELECT array_agg(g.partition ORDER BY g.first) AS partitions, array_agg(g.cnt ORDER BY g.first) AS counts,
               v_payloads AS payloads, p_transaction_ids AS ids, p_keys AS keys, NULL::bigint[] AS origin
        INTO r_in
        FROM (
            SELECT u.partition, count(*)::integer AS cnt, min(u.ord) AS first
            FROM unnest(p_partitions) WITH ORDINALITY u (partition, ord)
            GROUP BY 1
        ) g;
        IF cardinality(r_in.partitions) < v_items THEN
            SELECT array_agg(s.payload), array_agg(s.id), array_agg(s.key), array_agg(s.ord - 1)
            INTO r_in.payloads, r_in.ids, r_in.keys, r_in.origin
            FROM (
                SELECT u.*, min(u.ord) OVER (PARTITION BY u.partition) AS first
                FROM unnest(v_payloads, p_partitions, p_transaction_ids, p_keys) WITH ORDINALITY u (payload, partition, id, key, ord)
                ORDER BY 6, 5
            ) s;
        END IF;
    ELSE
        r_row := queen._push_lane(p_queue, v_partition, v_payloads, p_transaction_ids, p_keys, NULL, NULL, NULL, octet_length(v_joined));
        IF r_row.status = 'queued' AND v_items = 1 THEN
            RETURN NEXT ROW(0, r_row.status, r_row.id_base, coalesce(p_transaction_ids[1], r_row.id_base::text),
                            r_row.base_offset, v_partition)::queen.pushed_message;
            RETURN;
        ELSIF r_row.status = 'queued' THEN
            v_prefix := left(r_row.id_base::text, 31);
            RETURN QUERY
            SELECT g.k, r_row.status, g.id::uuid, coalesce(p_transaction_ids[g.k + 1], g.id), r_row.base_offset + g.k, v_partition
            FROM (
                SELECT s.k, v_prefix || lpad(to_hex(s.k), 5, '0') AS id
                FROM (SELECT generate_series(0, v_items - 1) AS k) s -- in order, and not stored first, as it would be in FROM
                OFFSET 0 -- the id is made once, though used twice
            ) g;
            RETURN;
        END IF;
        SELECT coalesce(p_partitions, ARRAY['Default']) AS partitions, ARRAY[v_items] AS counts,
               v_payloads AS payloads, p_transaction_ids AS ids, p_keys AS keys, NULL::bigint[] AS origin
        INTO r_in;
    END IF;
    v_rows := queen._push(
        array_fill(p_queue, ARRAY[cardinality(r_in.partitions)]), r_in.partitions, r_in.counts, r_in.payloads, r_in.ids,
        r_in.keys, NULL, false, queen._current_tenant(), NULL, NULL);
    SELECT r.code, r.error INTO r_bad FROM unnest(v_rows) r WHERE r.status = 'failed' LIMIT 1;
    IF FOUND THEN
        PERFORM queen._raise(r_bad.code, r_bad.error);
    END IF;
    SELECT array_agg(c.upto - c.cnt ORDER BY c.ord) INTO v_starts
    FROM (SELECT n.ord, n.cnt, sum(n.cnt) OVER (ORDER BY n.ord)::integer AS upto FROM unnest(r_in.counts) WITH ORDINALITY n (cnt, ord)) c;
    RETURN QUERY
    SELECT v.item, v.status, v.id::uuid, coalesce(p_transaction_ids[v.item + 1], v.id), v."offset", v.partition
    FROM (
        -- OFFSET 0 keeps each expression from being computed once a use.
        SELECT coalesce(r_in.origin[a.at + 1], a.at)::integer AS item, r.status,
               CASE WHEN r.status = 'queued' THEN left(r.id_base::text, 31) || lpad(to_hex(a.k), 5, '0')
                    ELSE r.item_ids[a.k + 1]::text END AS id,
               CASE WHEN r.status = 'queued' THEN r.base_offset + a.k ELSE r.item_offsets[a.k + 1] END AS "offset",
               r_in.partitions[r.grp + 1] AS partition
        FROM unnest(v_rows) r
        CROSS JOIN LATERAL (
            SELECT k, v_starts[r.grp + 1] + coalesce(r.items[k + 1], r.first_item + k) AS at
            FROM generate_series(0, coalesce(cardinality(r.items), r.frames) - 1) k
            OFFSET 0
        ) a
        OFFSET 0
    ) v
    ORDER BY v.item;
END $$;
COMMENT ON FUNCTION queen.push_many_v1(text, json[], text[], text[], text[]) IS
'Push many messages of one queue in one call; they commit or roll back with your transaction. One answer row a message, in input order.';
REVOKE ALL ON FUNCTION queen.push_many_v1(text, json[], text[], text[], text[]) FROM PUBLIC;
