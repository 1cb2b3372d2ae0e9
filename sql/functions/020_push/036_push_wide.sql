/*
 * Purpose:     store many groups, each in a partition of its own, with one look and one insert a table: what a statement costs
 *              is paid once a call and not once a group. p_groups are the groups (from 1), in the order of their
 *              partition ids, whose partitions the caller locked in earlier statements. The answer is in the same order. Left out of it,
 *              with nothing written, is a group that may hold repeats, needs more than one segment, or is not the first of its
 *              partition: the caller stores it by _push_group, under the same lock.
 * Locks:       none of its own; the rows updated are locked already.
 * Isolation:   READ COMMITTED; elsewhere a stale tail collides on the segments' key (_push makes it a 40001).
 * Volatility:  VOLATILE: writes, and needs a snapshot newer than the locks.
 * Bounds:      the call given; 1000 frames, and 1 MiB or one frame, a group.
 * Idempotency: none: ids above the running maximum cannot be repeats.
 * Raises:      23505 when another transaction took the offsets (only above READ COMMITTED).
 * Source:      design 3.1, 3.2 rules 2 and 6, 3.4, perf.md 3.9.
 */
CREATE OR REPLACE FUNCTION queen._push_wide(
    p_groups integer[],
    p_lanes uuid[],
    p_counts integer[],
    p_ends integer[],
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_trace_ids text[],
    p_producer_subs text[],
    p_nonces bigint[]
) RETURNS queen.push_row[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows queen.push_row[];
BEGIN
    -- Elements are fetched one by one and not as slices: a slice copies the whole array first.
    WITH look AS MATERIALIZED (
        SELECT c.ord, c.grp, c.lane, c.cnt, c.upto - c.cnt + 1 AS item, c.upto,
               greatest(p.last_offset, l.end_offset) + 1 AS first, coalesce(l.cum_bytes, p.last_cum) AS cum, coalesce(x.high, '') AS high,
               CASE WHEN c.cnt = 1 THEN octet_length(p_payloads[c.upto]) + coalesce(octet_length(p_ids[c.upto]), 0) + coalesce(octet_length(p_keys[c.upto]), 0)
                    ELSE (SELECT sum(octet_length(p_payloads[k]) + coalesce(octet_length(p_ids[k]), 0) + coalesce(octet_length(p_keys[k]), 0))
                          FROM generate_series(c.upto - c.cnt + 1, c.upto) k) END AS bytes,
               greatest(clock_timestamp(), now(), p.last_stamp + interval '1 microsecond', l.created_at + interval '1 microsecond',
                   (SELECT m.marked_at FROM queen.clock_marks m ORDER BY m.marked_at DESC LIMIT 1)) AS stamp,
               p.settled OR p.oldest_live_at IS NULL OR p.oldest_txn_at IS NULL AS asleep, p.last_write_at
        FROM (
            SELECT g.ord, g.grp, p_lanes[g.grp] AS lane, p_counts[g.grp] AS cnt, p_ends[g.grp] AS upto,
                   p_lanes[p_groups[g.ord - 1]] IS DISTINCT FROM p_lanes[g.grp] AS first
            FROM unnest(p_groups) WITH ORDINALITY g (grp, ord)
        ) c
        JOIN queen.log_partitions p ON p.id = c.lane
        LEFT JOIN LATERAL (
            SELECT s.end_offset, s.created_at, s.cum_bytes FROM queen.log_segments s
            WHERE s.partition_id = p.id AND s.base_offset >= p.log_start
            ORDER BY s.base_offset DESC LIMIT 1
        ) l ON true
        LEFT JOIN LATERAL (
            SELECT t.high FROM queen.log_txns t
            WHERE t.partition_id = p.id AND t.base_offset >= p.txns_start
            ORDER BY t.base_offset DESC LIMIT 1
        ) x ON true
        WHERE c.first AND c.cnt <= 1000
    ), fit AS MATERIALIZED (
        SELECT k.*, v.id::text AS id,
               coalesce(left(p_ids[k.item], 64), v.id::text) COLLATE "C" AS lo,
               CASE WHEN p_ids[k.upto] IS NOT NULL THEN left(p_ids[k.upto], 64) WHEN k.cnt = 1 THEN v.id::text
                    ELSE left(v.id::text, 31) || lpad(to_hex(k.cnt - 1), 5, '0') END COLLATE "C" AS hi
        FROM look k
        CROSS JOIN LATERAL (SELECT CASE WHEN p_nonces[k.grp] IS NULL THEN queen._draw_id_base(k.stamp) ELSE queen._id_base(k.stamp, p_nonces[k.grp]) END AS id OFFSET 0) v
        WHERE (k.bytes <= 1048576 OR k.cnt = 1)
          AND CASE WHEN p_ids IS NULL THEN true
                   WHEN k.cnt = 1 THEN coalesce(left(p_ids[k.upto], 64) COLLATE "C" > k.high, true)
                   ELSE queen._ascend_or_minted(ARRAY(SELECT p_ids[i] FROM generate_series(k.item, k.upto) i), k.high) END
    ), segments AS (
        INSERT INTO queen.log_segments (
            partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes,
            payloads, transaction_ids, keys, trace_ids, producer_subs)
        SELECT f.lane, f.first, f.first + f.cnt - 1, f.stamp, f.id::uuid, f.cnt, f.bytes, f.bytes, f.cum + f.bytes,
               CASE WHEN f.cnt = 1 THEN ARRAY[p_payloads[f.upto]] ELSE ARRAY(SELECT p_payloads[i] FROM generate_series(f.item, f.upto) i) END,
               queen._elements(p_ids, f.item, f.upto), queen._elements(p_keys, f.item, f.upto),
               queen._elements(p_trace_ids, f.item, f.upto)::uuid[], queen._elements(p_producer_subs, f.item, f.upto)
        FROM fit f
    ), sidecar AS (
        INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high, out_of_order)
        SELECT f.lane, f.first, f.first + f.cnt - 1, f.stamp,
               CASE WHEN f.cnt = 1 THEN ARRAY[hashtextextended(coalesce(p_ids[f.upto], f.id) COLLATE "C", queen._id_seed(f.lane))]
                    ELSE queen._segment_hashes(f.id, f.cnt, queen._elements(p_ids, f.item, f.upto), queen._id_seed(f.lane)) END,
               f.lo, f.hi, greatest(f.high COLLATE "C", f.hi), f.lo <= f.high COLLATE "C"
        FROM fit f
    ), heads AS (
        UPDATE queen.log_partitions p
        SET last_write_at = greatest(p.last_write_at, date_trunc('second', f.stamp)),
            last_offset = f.first + f.cnt - 1,
            last_stamp = f.stamp,
            last_cum = f.cum + f.bytes,
            settled = false,
            oldest_live_at = coalesce(p.oldest_live_at, f.stamp),
            oldest_txn_at = coalesce(p.oldest_txn_at, f.stamp)
        FROM fit f
        WHERE p.id = f.lane AND (f.asleep OR f.last_write_at < f.stamp - interval '1 second')
    )
    SELECT array_agg(ROW(f.grp - 1, 'queued', f.lane, f.first, f.id, f.stamp, f.cnt, 0, NULL, NULL, NULL, NULL, NULL)::queen.push_row ORDER BY f.ord)
    INTO v_rows FROM fit f;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._push_wide(integer[], uuid[], integer[], integer[], text[], text[], text[], text[], text[], bigint[]) FROM PUBLIC;

/*
 * Purpose:     whether the ids of a group are all minted (NULL), or ascend from above the running maximum.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      one pass.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.4.
 */
CREATE OR REPLACE FUNCTION queen._ascend_or_minted(p_ids text[], p_high text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN queen._unless_all_null(p_ids) IS NULL OR queen._ids_ascend(p_ids, p_high);
END $$;
REVOKE ALL ON FUNCTION queen._ascend_or_minted(text[], text) FROM PUBLIC;

/*
 * Purpose:     some elements of an array of an optional column, NULL where none of them is given.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      the elements asked for.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3 (log_segments).
 */
CREATE OR REPLACE FUNCTION queen._elements(p_from text[], p_item integer, p_upto integer) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    IF p_from IS NULL THEN
        RETURN NULL;
    ELSIF p_item = p_upto THEN
        RETURN CASE WHEN p_from[p_upto] IS NOT NULL THEN ARRAY[p_from[p_upto]] END;
    END IF;
    RETURN queen._unless_all_null(ARRAY(SELECT p_from[i] FROM generate_series(p_item, p_upto) i));
END $$;
REVOKE ALL ON FUNCTION queen._elements(text[], integer, integer) FROM PUBLIC;
