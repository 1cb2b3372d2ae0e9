/*
 * Purpose:     the next segments that compaction rewrites, as they shall be: without the frames that a newer one of their key
 *              supersedes, and without the tombstones that are the newest of their key and old enough. Frames without a key
 *              stay (M-23), and so does a frame that the map does not know. Also which segments it judged on the way
 *              without having to look into them: all frames stay.
 * Locks:       none: the caller locks and looks again.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: as its caller.
 * Bounds:      segments until they hold p_max_frames frames or 16 MiB together.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      design 5 item 1 (builds before it locks), M-19..M-29, Z-1..Z-5, F107, F113, F117.
 *
 * p_upto is the offset below which segments may be rewritten (the base of the newest), p_young the stamp from which on frames
 * are too young (NULL: none), p_dead the stamp before which tombstones may go (NULL: all). Answers: segments, judged_to (new
 * compacted_to), untouched (frames judged but not looked at), more (the bounds ended it).
 */
CREATE OR REPLACE FUNCTION queen._compacted(
    r_at queen.log_compaction,
    p_from bigint,
    p_upto bigint,
    p_young timestamptz,
    p_dead timestamptz,
    p_max_frames integer,
    OUT segments queen.compacted_segment[],
    OUT judged_to bigint,
    OUT judged integer,
    OUT untouched bigint,
    OUT more boolean
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r record;
    v_bases bigint[] := '{}'::bigint[];
    v_bytes bigint := 0;
    v_frames bigint := 0;
BEGIN
    judged_to := greatest(r_at.compacted_to, p_from);
    judged := 0;
    untouched := 0;
    more := false;
    -- Below compacted_to only what is dirty; above, every segment in turn. A loop, because it ends when there is enough.
    FOR r IN
        (SELECT s.base_offset, s.end_offset, s.frames, s.bytes, true AS again,
                d.obsolete OR d.created_at < coalesce(p_dead, 'infinity') AS due
         FROM queen.log_dirty d
         JOIN queen.log_segments s ON s.partition_id = d.partition_id AND s.base_offset = d.base_offset
         WHERE d.partition_id = r_at.partition_id AND d.base_offset >= p_from AND d.base_offset < least(judged_to, p_upto)
           AND (d.obsolete OR d.created_at < coalesce(p_dead, 'infinity')) AND d.created_at <= coalesce(p_young, 'infinity')
         ORDER BY d.base_offset)
        UNION ALL
        (SELECT s.base_offset, s.end_offset, s.frames, s.bytes, false,
                coalesce(d.obsolete OR d.created_at < coalesce(p_dead, 'infinity'), false)
         FROM queen.log_segments s
         LEFT JOIN queen.log_dirty d ON d.partition_id = s.partition_id AND d.base_offset = s.base_offset
         WHERE s.partition_id = r_at.partition_id AND s.base_offset >= judged_to AND s.base_offset < least(p_upto, r_at.keyed_to)
           AND s.created_at <= coalesce(p_young, 'infinity')
         ORDER BY s.base_offset)
    LOOP
        IF v_frames >= p_max_frames OR v_bytes >= 16777216 OR judged >= 10000 THEN
            more := true;
            EXIT;
        END IF;
        judged := judged + 1;
        IF r.due THEN
            v_bases := v_bases || r.base_offset;
            v_frames := v_frames + r.frames;
            v_bytes := v_bytes + r.bytes;
        ELSE
            untouched := untouched + r.frames;
        END IF;
        IF NOT r.again THEN
            judged_to := r.end_offset + 1;
        END IF;
    END LOOP;
    IF v_bases = '{}' THEN
        RETURN;
    END IF;

    SELECT array_agg(ROW(s.base_offset, s.end_offset, s.frames, s.bytes, f.frames, f.bytes, coalesce(f.payloads, '{}'),
        CASE WHEN s.transaction_ids IS NOT NULL THEN queen._unless_all_null(f.txns) END, queen._unless_all_null(f.keys),
        CASE WHEN s.trace_ids IS NOT NULL THEN f.traces END,
        CASE WHEN s.producer_subs IS NOT NULL THEN queen._unless_all_null(f.subs) END,
        coalesce(f.offsets, '{}'), f.buried, f.buried_at, f.tombstones, d.gone)::queen.compacted_segment ORDER BY s.base_offset)
    INTO segments
    FROM unnest(v_bases) b (base)
    JOIN queen.log_segments s ON s.partition_id = r_at.partition_id AND s.base_offset = b.base
    LEFT JOIN LATERAL (
        SELECT x.gone FROM queen.log_dirty x WHERE x.partition_id = r_at.partition_id AND x.base_offset = b.base LIMIT 1
    ) d ON true
    CROSS JOIN LATERAL (
        SELECT count(*) AS slots, count(x.payload) AS whole,
               count(*) FILTER (WHERE x.kept)::integer AS frames,
               coalesce(sum(octet_length(x.payload) + coalesce(octet_length(x.txn), 0) + coalesce(octet_length(x.key), 0))
                   FILTER (WHERE x.kept), 0)::bigint AS bytes,
               array_agg(x.payload) FILTER (WHERE x.kept) AS payloads,
               array_agg(x.txn) FILTER (WHERE x.kept) AS txns,
               array_agg(x.key) FILTER (WHERE x.kept) AS keys,
               array_agg(x.trace) FILTER (WHERE x.kept) AS traces,
               array_agg(x.sub) FILTER (WHERE x.kept) AS subs,
               array_agg(x.at) FILTER (WHERE x.kept) AS offsets,
               array_agg(x.key) FILTER (WHERE x.buried) AS buried,
               array_agg(x.at) FILTER (WHERE x.buried) AS buried_at,
               coalesce(bool_or(x.kept AND x.latest AND x.dead), false) AS tombstones
        FROM (
            -- In the order of the arrays: a probe for some of their elements can only be a nested loop over them. What is
            -- noted as obsolete needs none, nor what is not, unless it is a tombstone.
            SELECT f.*, k."offset" = f.at AS latest, v.buried,
                   NOT (f.gone OR v.buried OR f.unsure AND coalesce(k."offset" > f.at, false)) AS kept
            FROM (
                SELECT g.*, queen._is_tombstone(g.payload) AS dead, d.gone IS NULL AS unsure,
                       d.gone IS NOT NULL AND get_bit(d.gone, (g.at - s.base_offset)::integer) = 1 AS gone
                FROM (
                    SELECT u.payload, u.txn, u.key, u.trace, u.sub, coalesce(u.off, s.base_offset + u.ord - 1) AS at
                    FROM unnest(s.payloads, s.transaction_ids, s.keys, s.trace_ids, s.producer_subs, s.offsets)
                        WITH ORDINALITY u (payload, txn, key, trace, sub, off, ord)
                ) g
                OFFSET 0
            ) f
            LEFT JOIN LATERAL (
                SELECT l."offset" FROM queen.log_keys l
                WHERE l.partition_id = r_at.partition_id AND l.key = f.key AND (f.unsure OR f.dead AND NOT f.gone)
                LIMIT 1
            ) k ON true
            CROSS JOIN LATERAL (
                SELECT coalesce(k."offset" = f.at AND f.dead AND s.created_at < coalesce(p_dead, 'infinity'), false) AS buried
            ) v
            OFFSET 0 -- judged once, not once an aggregate
        ) x
    ) f
    -- What was damaged by hand is not touched.
    WHERE f.slots = s.frames AND f.whole = s.frames AND (s.offsets IS NULL OR cardinality(s.offsets) = s.frames);
END $$;
REVOKE ALL ON FUNCTION queen._compacted(queen.log_compaction, bigint, bigint, timestamptz, timestamptz, integer) FROM PUBLIC;
