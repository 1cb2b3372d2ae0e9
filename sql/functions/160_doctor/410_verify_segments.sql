/*
 * Purpose:     what must hold of the segments and hash rows that begin in a range of offsets, each beside the one before it:
 *              order, no hole, stamps, ids, running sums, ranges; and of their frames: sizes and hashes.
 * Locks:       none.  Isolation: any; one statement each.
 * Volatility:  STABLE.
 * Bounds:      the rows that begin in the range, read in the order of the key, payloads one row at a time.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      T-1 to T-4, E-17, E-18, E-23, design 3.1, 3.2 rule 7, 3.4, design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._verify_segments(
    p_partition_ids uuid[],
    p_from bigint,
    p_to bigint
) RETURNS SETOF queen.verify_row
LANGUAGE sql STABLE AS $$
    WITH seg AS (
        SELECT q.name AS queue, p.name AS partition, p.log_start, p.txns_start, h.head_offset, s.*
        FROM queen.log_partitions p
        JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
        JOIN queen.partition_head h ON h.id = p.id
        CROSS JOIN LATERAL (
            SELECT
                x.partition_id, x.base_offset, x.end_offset, x.created_at, x.id_base, x.frames, x.bytes, x.orig_bytes, x.cum_bytes,
                x.offsets IS NOT NULL AS rewritten, x.end_offset - x.base_offset + 1 AS span,
                lag(x.end_offset) OVER w AS before_end, lag(x.created_at) OVER w AS before_at, lag(x.cum_bytes) OVER w AS before_cum, lag(x.id_base) OVER w AS before_id
            FROM queen.log_segments x
            WHERE x.partition_id = p.id AND x.base_offset < p_to
              -- The one before the range too: the first of it is compared with that.
              AND x.base_offset >= greatest(p.log_start, coalesce((
                  SELECT b.base_offset FROM queen.log_segments b
                  WHERE b.partition_id = p.id AND b.base_offset < p_from AND b.base_offset >= p.log_start
                  ORDER BY b.base_offset DESC LIMIT 1), p_from))
            WINDOW w AS (ORDER BY x.base_offset)
        ) s
        WHERE p.id = ANY (p_partition_ids) AND s.base_offset >= p_from
    )
    SELECT b.check_name, s.queue, s.partition, s.partition_id, s.base_offset, b.finding
    FROM seg s
    CROSS JOIN LATERAL (
        SELECT 'T-1 range' AS check_name, format('%s..%s behind a segment that ends at %s, head %s', s.base_offset, s.end_offset, coalesce(s.before_end::text, 'none'), s.head_offset) AS finding
        WHERE s.end_offset < s.base_offset OR s.before_end >= s.base_offset OR s.end_offset > s.head_offset
        UNION ALL
        SELECT 'T-1 frames', format('%s frames for %s offsets%s', s.frames, s.span, CASE WHEN s.rewritten THEN ', rewritten' END)
        WHERE s.frames > s.span OR s.frames < 0 OR (NOT s.rewritten AND s.frames <> s.span) OR s.frames > 1000 OR (s.frames > 1 AND s.bytes > 1048576)
        UNION ALL
        SELECT 'T-2 hole', format('begins at %s, but the segment before it ends at %s', s.base_offset, s.before_end)
        WHERE s.before_end < s.base_offset - 1
        UNION ALL
        SELECT 'T-4 stamps', format('stamp %s is not above %s, that of the segment before it', s.created_at, s.before_at)
        WHERE s.before_at >= s.created_at
        UNION ALL
        SELECT 'running sum', format('sum %s, but it is %s before it and the segment had %s bytes when pushed (now %s)', s.cum_bytes, coalesce(s.before_cum::text, 'unknown'), s.orig_bytes, s.bytes)
        WHERE s.cum_bytes <> coalesce(s.before_cum, s.cum_bytes - s.orig_bytes) + s.orig_bytes OR (s.base_offset = 0 AND s.cum_bytes <> s.orig_bytes)
           OR s.bytes > s.orig_bytes OR (NOT s.rewritten AND s.bytes <> s.orig_bytes)
        UNION ALL
        SELECT 'ids', format('id base %s is no UUIDv7 of the stamp %s, or not above %s before it', s.id_base, s.created_at, s.before_id)
        WHERE ('x' || left(replace(s.id_base::text, '-', ''), 12))::bit(48)::bigint <> floor(extract(epoch FROM s.created_at) * 1000)
           OR ('x' || substr(s.id_base::text, 16, 3))::bit(12)::integer <> extract(microseconds FROM s.created_at)::bigint % 1000
           OR substr(s.id_base::text, 15, 1) <> '7' OR substr(s.id_base::text, 20, 1) NOT IN ('8', '9', 'a', 'b')
           OR right(s.id_base::text, 5) <> '00000' OR s.before_id >= s.id_base
        UNION ALL
        SELECT 'T-3 hash row', coalesce(format('hash row %s..%s at %s for a segment %s..%s at %s', t.base_offset, t.end_offset, t.created_at, s.base_offset, s.end_offset, s.created_at), 'no hash row')
        FROM (VALUES (1)) one (n)
        LEFT JOIN queen.log_txns t ON t.partition_id = s.partition_id AND t.base_offset = s.base_offset
        WHERE s.base_offset >= s.txns_start AND (t.end_offset, t.created_at) IS DISTINCT FROM (s.end_offset, s.created_at)
    ) b
$$;
REVOKE ALL ON FUNCTION queen._verify_segments(uuid[], bigint, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._verify_hash_rows(
    p_partition_ids uuid[],
    p_from bigint,
    p_to bigint
) RETURNS SETOF queen.verify_row
LANGUAGE sql STABLE AS $$
    WITH txn AS (
        SELECT q.name AS queue, p.name AS partition, p.log_start, t.*
        FROM queen.log_partitions p
        JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
        CROSS JOIN LATERAL (
            SELECT
                x.partition_id, x.base_offset, x.end_offset, cardinality(x.hashes) AS slots, x.lo, x.hi, x.high, x.out_of_order,
                lag(x.end_offset) OVER w AS before_end, lag(x.high) OVER w AS before_high
            FROM queen.log_txns x
            WHERE x.partition_id = p.id AND x.base_offset < p_to
              AND x.base_offset >= greatest(p.txns_start, coalesce((
                  SELECT b.base_offset FROM queen.log_txns b
                  WHERE b.partition_id = p.id AND b.base_offset < p_from AND b.base_offset >= p.txns_start
                  ORDER BY b.base_offset DESC LIMIT 1), p_from))
            WINDOW w AS (ORDER BY x.base_offset)
        ) t
        WHERE p.id = ANY (p_partition_ids) AND t.base_offset >= p_from
    )
    SELECT b.check_name, t.queue, t.partition, t.partition_id, t.base_offset, b.finding
    FROM txn t
    CROSS JOIN LATERAL (
        SELECT 'T-3 hash row' AS check_name, format('%s..%s with %s hashes behind a row that ends at %s', t.base_offset, t.end_offset, t.slots, coalesce(t.before_end::text, 'none')) AS finding
        WHERE t.base_offset <> t.before_end + 1 OR t.slots <> t.end_offset - t.base_offset + 1
        UNION ALL
        SELECT 'T-3 hash row', 'no segment for the hash row'
        WHERE t.base_offset >= t.log_start
          AND NOT EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = t.partition_id AND s.base_offset = t.base_offset AND s.base_offset >= t.log_start)
        UNION ALL
        SELECT 'id range', format('lo %s, hi %s, high %s behind %s, out of order: %s', t.lo, t.hi, t.high, coalesce(t.before_high, 'nothing'), t.out_of_order)
        WHERE t.high <> greatest(coalesce(t.before_high, CASE WHEN t.base_offset = 0 THEN '' ELSE t.high END), t.hi) OR t.lo > t.hi
           OR t.out_of_order <> coalesce(t.lo <= t.before_high, CASE WHEN t.base_offset = 0 THEN t.lo = '' ELSE t.out_of_order END)
    ) b
$$;
REVOKE ALL ON FUNCTION queen._verify_hash_rows(uuid[], bigint, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._verify_frames(
    p_partition_ids uuid[],
    p_from bigint,
    p_to bigint
) RETURNS SETOF queen.verify_row
LANGUAGE sql STABLE AS $$
    SELECT b.check_name, q.name, p.name, p.id, coalesce(b.at, s.base_offset), b.finding
    FROM queen.log_partitions p
    JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
    JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset >= greatest(p.log_start, p_from) AND s.base_offset < p_to
    LEFT JOIN queen.log_txns t ON t.partition_id = s.partition_id AND t.base_offset = s.base_offset AND t.base_offset >= p.txns_start
    -- After compaction the hashes still have a slot for every offset.
    CROSS JOIN LATERAL (
        SELECT CASE WHEN s.offsets IS NULL THEN t.hashes ELSE ARRAY(
            SELECT h.hash
            FROM unnest(t.hashes) WITH ORDINALITY h (hash, slot)
            JOIN unnest(s.offsets) o ("offset") ON o."offset" = s.base_offset + h.slot - 1
            ORDER BY h.slot) END AS hashes
    ) k
    CROSS JOIN LATERAL (
        SELECT
            coalesce(sum(octet_length(g.payload) + coalesce(octet_length(g.txn), 0) + coalesce(octet_length(g.key), 0)), 0) AS bytes,
            min(left(g.id, 64)) AS lo, max(left(g.id, 64)) AS hi, max(g.ord) AS frames,
            min(g.at) FILTER (WHERE g.hash IS DISTINCT FROM hashtextextended(g.id, v.seed)) AS bad_hash,
            bool_or(g.at NOT BETWEEN s.base_offset AND s.end_offset OR g.at <= g.before_at) AS bad_offsets
        FROM (SELECT ('x' || left(p.id::text, 8) || right(p.id::text, 8))::bit(64)::bigint AS seed) v
        CROSS JOIN LATERAL (
            SELECT f.payload, f.txn, f.key, f.hash, f.ord, x.at, lag(x.at) OVER (ORDER BY f.ord) AS before_at,
                coalesce(f.txn, left(s.id_base::text, 31) || lpad(to_hex(x.at - s.base_offset), 5, '0')) COLLATE "C" AS id
            FROM unnest(s.payloads, s.transaction_ids, s.keys, s.offsets, k.hashes) WITH ORDINALITY f (payload, txn, key, "offset", hash, ord)
            CROSS JOIN LATERAL (SELECT coalesce(f."offset", s.base_offset + f.ord - 1) AS at) x
        ) g
    ) f
    CROSS JOIN LATERAL (
        SELECT 'T-1 frames' AS check_name, NULL::bigint AS at,
            format('%s frames, but %s payloads, %s ids, %s keys, %s trace ids, %s subjects, %s offsets', s.frames, cardinality(s.payloads),
                coalesce(cardinality(s.transaction_ids), 0), coalesce(cardinality(s.keys), 0), coalesce(cardinality(s.trace_ids), 0),
                coalesce(cardinality(s.producer_subs), 0), coalesce(cardinality(s.offsets), 0)) AS finding
        WHERE cardinality(s.payloads) <> s.frames OR cardinality(s.transaction_ids) <> s.frames OR cardinality(s.keys) <> s.frames
           OR cardinality(s.trace_ids) <> s.frames OR cardinality(s.producer_subs) <> s.frames OR cardinality(s.offsets) <> s.frames
           OR f.bad_offsets
        UNION ALL
        SELECT 'bytes', NULL, format('%s bytes, but its frames have %s', s.bytes, f.bytes)
        WHERE s.bytes <> f.bytes
        UNION ALL
        SELECT 'hash', f.bad_hash, 'the hash is not that of the id'
        WHERE t.base_offset IS NOT NULL AND f.bad_hash IS NOT NULL
        UNION ALL
        SELECT 'id range', NULL, format('lo %s and hi %s, but its ids are %s to %s', t.lo, t.hi, f.lo, f.hi)
        WHERE (t.lo > f.lo OR t.hi < f.hi) OR (s.offsets IS NULL AND (t.lo, t.hi) <> (f.lo, f.hi))
    ) b
    WHERE p.id = ANY (p_partition_ids)
$$;
REVOKE ALL ON FUNCTION queen._verify_frames(uuid[], bigint, bigint) FROM PUBLIC;
