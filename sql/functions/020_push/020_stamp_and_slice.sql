/*
 * Purpose:     the stamp of the next segment: never below the transaction's start, the partition's last stamp or the newest
 *              clock mark. So a clock that steps back undercuts neither a safe time nor a floor that was told before.
 * Locks:       none; the caller holds the partition row.  Isolation: as the caller.
 * Volatility:  VOLATILE: reads the clock.
 * Bounds:      one key probe.  Idempotency: none.
 * Raises:      nothing.
 * Source:      design 3.2 rule 6, P-22, C-40, I-25, F002.
 */
CREATE OR REPLACE FUNCTION queen._next_stamp(
    p_last_stamp timestamptz
) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN greatest(clock_timestamp(), now(), p_last_stamp + interval '1 microsecond',
        (SELECT m.marked_at FROM queen.clock_marks m ORDER BY m.marked_at DESC LIMIT 1));
END $$;
REVOKE ALL ON FUNCTION queen._next_stamp(timestamptz) FROM PUBLIC;

/*
 * Purpose:     whether a push with this stamp has to write the partition row: it is settled, its quantised stamp is older
 *              than a second, or an oldest stamp is missing.
 * Locks:       none; the caller holds the partition row.  Isolation: any.  Volatility: STABLE, as timestamp arithmetic is.
 * Bounds:      none.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.2 rule 2, P-23, P-24.
 */
CREATE OR REPLACE FUNCTION queen._writes_head(
    r_part queen.log_partitions,
    p_stamp timestamptz
) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT r_part.settled OR r_part.last_write_at < p_stamp - interval '1 second'
        OR r_part.oldest_live_at IS NULL OR r_part.oldest_txn_at IS NULL
$$;
REVOKE ALL ON FUNCTION queen._writes_head(queen.log_partitions, timestamptz) FROM PUBLIC;

/*
 * Purpose:     true when every id is given, they ascend, and the first is above the running maximum: then none can be
 *              a repeat and nothing is probed.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      one pass.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 3.4.
 */
CREATE OR REPLACE FUNCTION queen._ids_ascend(
    p_ids text[],
    p_high text
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF coalesce(left(p_ids[1], 64) COLLATE "C" <= p_high, true) THEN
        RETURN false;
    ELSIF cardinality(p_ids) = 1 THEN
        RETURN true;
    END IF;
    RETURN array_position(p_ids, NULL) IS NULL AND (
        SELECT bool_and(u.id COLLATE "C" > u.before)
        FROM unnest(p_ids, array_prepend(NULL, p_ids)) u (id, before));
END $$;
REVOKE ALL ON FUNCTION queen._ids_ascend(text[], text) FROM PUBLIC;

/*
 * Purpose:     last item of the slice that starts at p_from: at most 1000 frames and 1 MiB of frame bytes, or one
 *              larger frame alone.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      the arrays given.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 3.1.
 */
CREATE OR REPLACE FUNCTION queen._slice_end(
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_from integer
) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN (SELECT greatest(p_from, p_from - 1 + count(*) FILTER (WHERE f.total <= 1048576)::integer)
    FROM (
        SELECT sum(octet_length(u.payload) + coalesce(octet_length(u.id), 0) + coalesce(octet_length(u.key), 0))
                   OVER (ORDER BY u.ord) AS total
        FROM unnest(
            p_payloads[p_from : p_from + 999], p_ids[p_from : p_from + 999], p_keys[p_from : p_from + 999]
        ) WITH ORDINALITY u (payload, id, key, ord)
        WHERE u.payload IS NOT NULL
    ) f);
END $$;
REVOKE ALL ON FUNCTION queen._slice_end(text[], text[], text[], integer) FROM PUBLIC;

/*
 * Purpose:     bytes of the frames given: UTF-8 octets of payloads, client transaction ids and keys.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      one pass an array; sums, since joining the texts first would copy them.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 3 (bytes, orig_bytes), design 5 (retentionBytes).
 */
CREATE OR REPLACE FUNCTION queen._frame_bytes(
    p_payloads text[],
    p_ids text[],
    p_keys text[]
) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF p_ids IS NULL AND p_keys IS NULL THEN
        -- Not in FROM, where the elements would be stored first.
        RETURN coalesce((SELECT sum(octet_length(u.payload)) FROM (SELECT unnest(p_payloads) AS payload) u), 0);
    END IF;
    RETURN coalesce((
        SELECT sum(octet_length(u.payload) + coalesce(octet_length(u.id), 0) + coalesce(octet_length(u.key), 0))
        FROM unnest(p_payloads, p_ids, p_keys) u (payload, id, key)), 0);
END $$;
REVOKE ALL ON FUNCTION queen._frame_bytes(text[], text[], text[]) FROM PUBLIC;
