/*
 * Purpose:     store one group of messages in one partition: the only allocator. The caller locked the partition row in
 *              an earlier statement; look at the tail, drop repeats, store the rest by slices. The partition row is left
 *              alone while it is unsettled, its quantised stamp is fresh and both oldest stamps are set.
 * Locks:       none of its own.
 * Isolation:   READ COMMITTED; elsewhere a stale tail collides on the segments' key (_push makes it a 40001).
 * Volatility:  VOLATILE: writes, and every statement after the lock needs a newer snapshot.
 * Bounds:      the group given; two tail probes; at most one update of the partition row a second.
 * Idempotency: by transaction id inside the dedup window.
 * Raises:      23505 when another transaction took the offsets (only above READ COMMITTED).
 * Source:      design 3.1, 3.2, P-15..P-27, E-18, I-25, F001, F002.
 */
CREATE OR REPLACE FUNCTION queen._push_group(
    p_grp integer,
    r_part queen.log_partitions,
    p_window integer,
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_trace_ids text[],
    p_producer_subs text[],
    p_nonce bigint
) RETURNS queen.push_row[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows queen.push_row[];
    r_tail record;
    r_dup record;
    r_out queen.push_row;
    v_stamp timestamptz;
    v_first bigint;
    v_items integer[];
    v_count integer := cardinality(p_payloads);
BEGIN
    SELECT s.end_offset, s.created_at, s.cum_bytes, t.high INTO r_tail
    FROM (VALUES (1)) one
    LEFT JOIN LATERAL (
        SELECT l.end_offset, l.created_at, l.cum_bytes FROM queen.log_segments l
        WHERE l.partition_id = r_part.id AND l.base_offset >= r_part.log_start
        ORDER BY l.base_offset DESC LIMIT 1
    ) s ON true
    LEFT JOIN LATERAL (
        SELECT x.high FROM queen.log_txns x
        WHERE x.partition_id = r_part.id AND x.base_offset >= r_part.txns_start
        ORDER BY x.base_offset DESC LIMIT 1
    ) t ON true;
    v_first := greatest(r_part.last_offset, r_tail.end_offset) + 1;
    v_stamp := queen._next_stamp(greatest(r_part.last_stamp, r_tail.created_at));

    IF p_ids IS NOT NULL AND NOT queen._ids_ascend(p_ids, coalesce(r_tail.high, '')) THEN
        SELECT array_agg(f.item ORDER BY f.item) AS items, array_agg(f.leader ORDER BY f.item) AS leaders,
               array_agg(f.dup_offset ORDER BY f.item) AS offsets
        INTO r_dup
        FROM (
            SELECT x.item, min(x.leader) AS leader, min(x.dup_offset) AS dup_offset
            FROM queen._find_repeats(r_part.id, r_part.txns_start,
                     CASE WHEN p_window > 0 THEN v_stamp - make_interval(secs => p_window) END,
                     coalesce(r_tail.high, ''), p_ids) x
            GROUP BY x.item
        ) f;
        IF r_dup.items IS NOT NULL THEN
            SELECT array_agg(i ORDER BY i) INTO v_items FROM generate_series(0, v_count - 1) i WHERE i <> ALL (r_dup.items);
            v_count := coalesce(cardinality(v_items), 0);
            p_payloads := queen._pick(p_payloads, v_items);
            p_ids := queen._pick(p_ids, v_items);
            p_keys := queen._pick(p_keys, v_items);
            p_trace_ids := queen._pick(p_trace_ids, v_items);
            p_producer_subs := queen._pick(p_producer_subs, v_items);
        END IF;
    END IF;

    IF v_count > 0 THEN
        v_rows := queen._store_slices(
            p_grp, r_part, v_first, v_stamp, coalesce(r_tail.cum_bytes, r_part.last_cum), coalesce(r_tail.high, ''),
            p_payloads, p_ids, p_keys, p_trace_ids, p_producer_subs, p_nonce, v_items);
    END IF;
    IF v_items IS NOT NULL OR v_count = 0 THEN
        r_out := queen._refusal(p_grp, 'duplicate');
        r_out.partition_id := r_part.id;
        r_out.items := r_dup.items;
        SELECT array_agg(o.at ORDER BY o.ord), array_agg(queen._message_id_at(r_part.id, o.at) ORDER BY o.ord)
        INTO r_out.item_offsets, r_out.item_ids
        FROM (
            SELECT u.ord, coalesce(u.off, v_first + array_position(v_items, u.leader) - 1) AS at
            FROM unnest(r_dup.leaders, r_dup.offsets) WITH ORDINALITY u (leader, off, ord)
        ) o;
        v_rows := v_rows || r_out;
    END IF;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._push_group(integer, queen.log_partitions, integer, text[], text[], text[], text[], text[], bigint) FROM PUBLIC;

/*
 * Purpose:     the row of a refusal (duplicate, busy, failed) with the columns that every row has.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: none.
 * Idempotency: yes.  Raises: nothing.  Source: queen.push_row.
 */
CREATE OR REPLACE FUNCTION queen._refusal(
    p_grp integer,
    p_status text
) RETURNS queen.push_row
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    r_out queen.push_row;
BEGIN
    r_out.grp := p_grp;
    r_out.status := p_status;
    r_out.base_offset := -1;
    r_out.frames := 0;
    r_out.first_item := 0;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._refusal(integer, text) FROM PUBLIC;

/*
 * Purpose:     the elements of an array at the positions given (from 0), NULL for a NULL array.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: the arrays given.
 * Idempotency: yes.  Raises: nothing.  Source: P-20 (what is left of a group with repeats).
 */
CREATE OR REPLACE FUNCTION queen._pick(
    p_from text[],
    p_items integer[]
) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_from IS NULL THEN NULL ELSE ARRAY(
        SELECT f.x
        FROM unnest(p_from) WITH ORDINALITY f (x, ord)
        WHERE (f.ord - 1)::integer = ANY (p_items)
        ORDER BY f.ord
    ) END
$$;
REVOKE ALL ON FUNCTION queen._pick(text[], integer[]) FROM PUBLIC;
