/*
 * Purpose:     read the next keyed frames of a partition into the compactor's map, and note which segments now hold a frame
 *              that a newer one of its key supersedes, or the tombstone that is the newest of its key. The newest segment is
 *              read too (M-20): its keys count, though it is never rewritten. NULL when another compactor or a deletion has
 *              the partition.
 * Locks:       the partition row FOR KEY SHARE SKIP LOCKED: it cannot go, and pushes do not wait; then the compactor's row, FOR
 *              UPDATE SKIP LOCKED. Rows of log_keys and log_dirty are leaves that only its holder writes.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      segments until they hold p_max_frames frames or 16 MiB together.
 * Idempotency: yes: what is below keyed_to is not read again.
 * Raises:      nothing.
 * Source:      design 5 item 1 (log_keys, keyed_to), M-20, M-21, Z-3, F105, F115, K-10.
 */
CREATE OR REPLACE FUNCTION queen._note_keys(
    p_partition_id uuid,
    p_max_frames integer
) RETURNS queen.compact_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_at queen.log_compaction;
    r_head queen.partition_head;
    r_out queen.compact_row;
    r_seg record;
    v_from bigint;
    v_upto bigint;
    v_frames bigint := 0;
    v_bytes bigint := 0;
BEGIN
    IF NOT queen._hold_compaction(p_partition_id) THEN
        RETURN NULL;
    END IF;
    SELECT * INTO r_at FROM queen.log_compaction c WHERE c.partition_id = p_partition_id;
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    v_from := greatest(r_at.keyed_to, r_head.log_start);
    v_upto := r_head.head_offset;
    r_out.worked := 0;
    r_out.done := false;
    r_out.frames_read := 0;
    r_out.frames_kept := 0;
    -- A loop, because it ends when there is enough, and no plan knows that.
    FOR r_seg IN
        SELECT s.end_offset, s.frames, s.bytes FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= v_from
        ORDER BY s.base_offset
    LOOP
        v_upto := r_seg.end_offset;
        r_out.worked := r_out.worked + 1;
        v_frames := v_frames + r_seg.frames;
        v_bytes := v_bytes + r_seg.bytes;
        EXIT WHEN v_frames >= p_max_frames OR v_bytes >= 16777216;
    END LOOP;

    -- One statement, so that what the map held before is what the new rows supersede.
    WITH frame AS MATERIALIZED (
        SELECT f.key, f.at, f.base_offset, f.dead, lead(f.at) OVER (PARTITION BY f.key ORDER BY f.at) IS NOT NULL AS obsolete
        FROM (
            SELECT u.key, coalesce(u.off, s.base_offset + u.ord - 1) AS at, s.base_offset, queen._is_tombstone(u.payload) AS dead
            FROM queen.log_segments s
            CROSS JOIN LATERAL unnest(s.keys, s.payloads, s.offsets) WITH ORDINALITY u (key, payload, off, ord)
            WHERE s.partition_id = p_partition_id AND s.base_offset >= v_from AND s.base_offset <= v_upto AND s.keys IS NOT NULL
              AND u.key IS NOT NULL
            OFFSET 0 -- looked at here: the sort shall not carry the payloads
        ) f
    ), latest AS MATERIALIZED (
        SELECT f.key, f.at, f.base_offset, f.dead, k.row, k.at AS old_at, k.base_offset AS old_base
        FROM frame f
        LEFT JOIN LATERAL (
            -- The limit keeps it a probe for each row, whatever the statistics say; so it does below.
            SELECT l.ctid AS row, l."offset" AS at, l.base_offset FROM queen.log_keys l WHERE l.partition_id = p_partition_id AND l.key = f.key LIMIT 1
        ) k ON true
        WHERE NOT f.obsolete
    ), added AS (
        -- Nobody else writes rows of this partition, so there is no conflict to look out for, and no row moves.
        INSERT INTO queen.log_keys (partition_id, key, "offset", base_offset)
        SELECT p_partition_id, l.key, l.at, l.base_offset FROM latest l WHERE l.row IS NULL
    ), moved AS (
        UPDATE queen.log_keys k SET "offset" = l.at, base_offset = l.base_offset
        FROM latest l
        WHERE k.ctid = l.row AND l.old_at < l.at
    )
    INSERT INTO queen.log_dirty AS d (partition_id, base_offset, created_at, obsolete, tombstones, gone)
    SELECT p_partition_id, x.base_offset, s.created_at, x.obsolete, x.tombstones, queen._offset_bits(x.gone, x.base_offset, s.end_offset)
    FROM (
        SELECT y.base_offset, bool_or(y.obsolete) AS obsolete, bool_or(NOT y.obsolete) AS tombstones, array_agg(y.at) FILTER (WHERE y.obsolete) AS gone
        FROM (
            SELECT f.base_offset, f.at, f.obsolete FROM frame f WHERE f.obsolete OR f.dead
            UNION ALL
            SELECT l.old_base, l.old_at, true FROM latest l WHERE l.old_at < l.at AND l.old_base >= r_head.log_start
        ) y
        GROUP BY y.base_offset
    ) x
    CROSS JOIN LATERAL (
        SELECT l.created_at, l.end_offset FROM queen.log_segments l
        WHERE l.partition_id = p_partition_id AND l.base_offset = x.base_offset LIMIT 1
    ) s
    ON CONFLICT (partition_id, base_offset) DO UPDATE
    SET obsolete = d.obsolete OR excluded.obsolete, tombstones = d.tombstones OR excluded.tombstones, gone = d.gone | excluded.gone;

    -- Due until a step has looked at what this made dirty.
    UPDATE queen.log_compaction c SET keyed_to = greatest(c.keyed_to, v_upto + 1), key_steps = c.key_steps + 1, due_at = '-infinity'
    WHERE c.partition_id = p_partition_id;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._note_keys(uuid, integer) FROM PUBLIC;

/*
 * Purpose:     a bit for each offset of a segment, set for those given.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: the span of a segment, at most 1000.
 * Idempotency: yes.  Raises: nothing, for offsets of the segment.
 * Source:      design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._offset_bits(
    p_offsets bigint[],
    p_base bigint,
    p_end bigint
) RETURNS bit varying
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_bits bit varying := repeat('0', (p_end - p_base + 1)::integer)::bit varying;
    v_offset bigint;
BEGIN
    FOREACH v_offset IN ARRAY coalesce(p_offsets, '{}')
    LOOP
        v_bits := set_bit(v_bits, (v_offset - p_base)::integer, 1);
    END LOOP;
    RETURN v_bits;
END $$;
REVOKE ALL ON FUNCTION queen._offset_bits(bigint[], bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     be the compactor of a partition until the transaction ends; false when another one is, or the partition goes.
 * Locks:       the partition row FOR KEY SHARE SKIP LOCKED, then the compactor's row FOR UPDATE SKIP LOCKED.
 * Isolation:   READ COMMITTED.  Volatility: VOLATILE: makes the row.
 * Bounds:      one row.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.2 rule 1, 3.3.
 */
CREATE OR REPLACE FUNCTION queen._hold_compaction(p_partition_id uuid) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM queen.log_partitions p WHERE p.id = p_partition_id FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- Insert-or-ignore alone would wait for whoever holds the row.
    INSERT INTO queen.log_compaction (partition_id)
    SELECT p_partition_id WHERE NOT EXISTS (SELECT FROM queen.log_compaction c WHERE c.partition_id = p_partition_id)
    ON CONFLICT (partition_id) DO NOTHING;
    PERFORM FROM queen.log_compaction c WHERE c.partition_id = p_partition_id FOR UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION queen._hold_compaction(uuid) FROM PUBLIC;

/*
 * Purpose:     whether the payload of a keyed frame deletes its key: the JSON null, and nothing else (an empty text, an empty
 *              object and the string "null" are values). What a server encrypted is a value here, whatever it holds.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one payload, of which long ones are not looked at.
 * Idempotency: yes.  Raises: nothing.
 * Source:      design 5 item 1, M-25, M-26, F109.
 */
CREATE OR REPLACE FUNCTION queen._is_tombstone(p_payload text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT p_payload = 'null' OR octet_length(p_payload) BETWEEN 5 AND 64 AND btrim(p_payload, E' \t\n\r') = 'null'
$$;
REVOKE ALL ON FUNCTION queen._is_tombstone(text) FROM PUBLIC;
