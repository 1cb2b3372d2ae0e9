/*
 * Purpose:     true, or refuse a push whose arrays do not fit together or whose names or ids are out of contract, before anything
 *              is written. Items of the set face were scanned by the server; the human face has _check_items.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the arrays given.  Idempotency: yes.
 * Raises:      QN400, detail: the argument.
 * Source:      P-26, F-3, design 7, F004, F019.
 */
CREATE OR REPLACE FUNCTION queen._check_push(
    p_queues text[],
    p_partitions text[],
    p_counts integer[],
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_trace_ids text[],
    p_producer_subs text[],
    p_nonces bigint[],
    p_sealed boolean[]
) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_items integer := cardinality(p_payloads);
    v_groups integer := cardinality(p_queues);
    v_name text;
BEGIN
    IF NOT (queen._is_list(p_queues) AND queen._is_list(p_partitions) AND queen._is_list(p_counts) AND queen._is_list(p_payloads)
        AND queen._is_list(p_ids) AND queen._is_list(p_keys) AND queen._is_list(p_trace_ids) AND queen._is_list(p_producer_subs)
        AND queen._is_list(p_nonces) AND queen._is_list(p_sealed)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_payloads');
    ELSIF cardinality(p_partitions) IS DISTINCT FROM v_groups OR cardinality(p_counts) IS DISTINCT FROM v_groups
       OR cardinality(p_nonces) <> v_groups THEN
        PERFORM queen._raise('QN400', 'p_queues, p_partitions, p_counts and p_nonces must have one element a group', 'p_counts');
    ELSIF cardinality(p_sealed) <> v_groups THEN
        PERFORM queen._raise('QN400', 'p_sealed must have one element a group', 'p_sealed');
    ELSIF v_items IS NULL OR array_position(p_counts, NULL) IS NOT NULL OR 0 > ANY (p_counts) OR v_items <>
        (CASE WHEN v_groups = 1 THEN p_counts[1] ELSE (SELECT coalesce(sum(c), 0) FROM unnest(p_counts) c) END) THEN
        PERFORM queen._raise('QN400', 'p_counts must add up to the number of payloads', 'p_counts');
    ELSIF cardinality(p_ids) <> v_items OR cardinality(p_keys) <> v_items
       OR cardinality(p_trace_ids) <> v_items OR cardinality(p_producer_subs) <> v_items THEN
        PERFORM queen._raise('QN400', 'every array of items must have one element a payload', 'p_transaction_ids');
    ELSIF array_position(p_payloads, NULL) IS NOT NULL THEN
        PERFORM queen._raise('QN400', 'a payload must not be null; write the JSON null', 'p_payloads');
    ELSIF p_trace_ids IS NOT NULL
       AND EXISTS (SELECT FROM unnest(p_trace_ids) t WHERE t !~* '^([0-9a-f]{4}-?){7}[0-9a-f]{4}$|^\{([0-9a-f]{4}-?){7}[0-9a-f]{4}\}$') THEN
        PERFORM queen._raise('QN400', 'a trace id must be a UUID', 'p_trace_ids');
    END IF;
    FOREACH v_name IN ARRAY p_queues LOOP
        IF queen._is_bad_name(v_name) THEN
            PERFORM queen._check_name(v_name, 'queue');
        END IF;
    END LOOP;
    FOREACH v_name IN ARRAY p_partitions LOOP
        IF queen._is_bad_name(v_name) THEN
            PERFORM queen._check_name(v_name, 'partition');
        END IF;
    END LOOP;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION queen._check_push(text[], text[], integer[], text[], text[], text[], text[], text[], bigint[], boolean[]) FROM PUBLIC;

/*
 * Purpose:     whether an array is a plain list, or NULL: PostgreSQL's arrays may have more dimensions and begin anywhere, and a
 *              subscript then finds nothing, or the wrong element.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: none.
 * Idempotency: yes.  Raises: nothing.
 * Source:      P-26, design 7.
 */
CREATE OR REPLACE FUNCTION queen._is_list(p_list anyarray) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(array_lower(p_list, 1) = 1 AND array_ndims(p_list) = 1, true)
$$;
REVOKE ALL ON FUNCTION queen._is_list(anyarray) FROM PUBLIC;

/*
 * Purpose:     refuse transaction ids and keys that are out of contract: over 65535 bytes, over 1024 bytes, or with
 *              control characters.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the arrays given.  Idempotency: yes.
 * Raises:      QN400, detail: the argument.
 * Source:      F-3, design 3.1 and 7, F004.
 */
CREATE OR REPLACE FUNCTION queen._check_items(
    p_ids text[],
    p_keys text[]
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(p_ids) i WHERE octet_length(i) > 65535) THEN
        PERFORM queen._raise('QN400', 'a transaction id is longer than 65535 bytes', 'transaction_id');
    ELSIF array_to_string(p_ids, '') COLLATE "C" ~ '[\x01-\x1f\x7f]' THEN
        PERFORM queen._raise('QN400', 'a transaction id holds a control character', 'transaction_id');
    ELSIF EXISTS (SELECT FROM unnest(p_keys) k WHERE octet_length(k) > 1024) THEN
        PERFORM queen._raise('QN400', 'a key is longer than 1024 bytes', 'key');
    ELSIF array_to_string(p_keys, '') COLLATE "C" ~ '[\x01-\x1f\x7f]' THEN
        PERFORM queen._raise('QN400', 'a key holds a control character', 'key');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_items(text[], text[]) FROM PUBLIC;

/*
 * Purpose:     refuse payloads of the human face that hold half of a surrogate pair as an escape, which json lets pass: such
 *              a text is no Unicode, and the server refuses it too. Callers look for \u first, so that others cost next to nothing.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the payloads given.  Idempotency: yes.
 * Raises:      QN400, detail: payload.
 * Source:      F005.
 */
CREATE OR REPLACE FUNCTION queen._check_surrogates(p_payloads json[]) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- Escaped backslashes go first, then whole pairs; what is left of the range is half of one.
    IF EXISTS (
        SELECT FROM unnest(p_payloads) p
        WHERE regexp_replace(replace(p::text, '\\', ' '), '\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}', ' ', 'g') COLLATE "C"
            ~ '\\u[dD][89a-fA-F]') THEN
        PERFORM queen._raise('QN400', 'a payload holds half of a surrogate pair', 'payload');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_surrogates(json[]) FROM PUBLIC;

/*
 * Purpose:     true when every payload is an encryption envelope: an object with exactly encrypted, iv, authTag and kid.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: the payloads given.
 * Idempotency: yes.  Raises: nothing.
 * Source:      design 4 (encryptionEnabled).
 */
CREATE OR REPLACE FUNCTION queen._are_envelopes(p_payloads text[]) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    -- Not in SQL: it is too large to be inlined, and would be planned anew for each group.
    RETURN (
        SELECT coalesce(bool_and(CASE WHEN json_typeof(x::json) = 'object' THEN (
            SELECT array_agg(k COLLATE "C" ORDER BY k COLLATE "C") = ARRAY['authTag', 'encrypted', 'iv', 'kid'] FROM json_object_keys(x::json) k
        ) ELSE false END), false)
        FROM unnest(p_payloads) x);
END $$;
REVOKE ALL ON FUNCTION queen._are_envelopes(text[]) FROM PUBLIC;
