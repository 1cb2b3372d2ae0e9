/*
 * Purpose:     insert the segments and sidecar rows of a group whose repeats are gone, and touch the partition row when
 *              its head rule asks for it.
 * Locks:       none of its own; the caller holds the partition row.
 * Isolation:   as the caller.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one segment row and one sidecar row a slice of 1000 frames or 1 MiB; stamps 1 us apart.
 * Idempotency: none.
 * Raises:      23505 when another transaction took the offsets (only above READ COMMITTED).
 * Source:      design 3.1, 3.2 rule 2, 3.4, P-21..P-25, E-22, E-23.
 */
CREATE OR REPLACE FUNCTION queen._store_slices(
    p_grp integer,
    r_part queen.log_partitions,
    p_first bigint,
    p_stamp timestamptz,
    p_cum bigint,
    p_high text,
    p_payloads text[],
    p_ids text[],
    p_keys text[],
    p_trace_ids text[],
    p_producer_subs text[],
    p_nonce bigint,
    p_items integer[]
) RETURNS queen.push_row[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_out queen.push_row;
    v_rows queen.push_row[];
    v_count integer := cardinality(p_payloads);
    v_bytes bigint := queen._frame_bytes(p_payloads, p_ids, p_keys);
    v_whole boolean := v_count <= 1000 AND (v_bytes <= 1048576 OR v_count = 1);
    v_seed bigint := queen._id_seed(r_part.id);
    v_nonce bigint := coalesce(p_nonce, queen._draw_nonce());
    v_high text COLLATE "C" := p_high;
    v_lo text COLLATE "C";
    v_hi text COLLATE "C";
    v_hashes bigint[];
    v_prefix text;
    v_from integer := 1;
    v_to integer := v_count;
    v_stamp timestamptz := p_stamp;
    v_cum bigint := p_cum;
    v_payloads text[] := p_payloads;
    v_ids text[] := p_ids;
    v_keys text[] := p_keys;
BEGIN
    r_out.grp := p_grp;
    r_out.status := 'queued';
    r_out.partition_id := r_part.id;
    LOOP
        IF NOT v_whole THEN
            v_to := queen._slice_end(p_payloads, p_ids, p_keys, v_from);
            v_payloads := p_payloads[v_from : v_to];
            v_ids := p_ids[v_from : v_to];
            v_keys := p_keys[v_from : v_to];
            v_bytes := queen._frame_bytes(v_payloads, v_ids, v_keys);
        END IF;
        r_out.base_offset := p_first + v_from - 1;
        r_out.frames := v_to - v_from + 1;
        r_out.id_base := queen._id_base(v_stamp, v_nonce);
        r_out.created_at := v_stamp;
        r_out.first_item := v_from - 1;
        r_out.items := p_items[v_from : v_to];
        v_prefix := left(r_out.id_base::text, 31);
        v_cum := v_cum + v_bytes;
        IF v_ids IS NULL AND r_out.frames = 1 THEN
            v_lo := v_prefix || '00000';
            v_hi := v_lo;
            v_hashes := ARRAY[hashtextextended(v_lo, v_seed)];
        ELSIF v_ids IS NULL THEN
            v_lo := v_prefix || '00000';
            v_hi := v_prefix || lpad(to_hex(r_out.frames - 1), 5, '0');
            v_hashes := ARRAY(
                SELECT hashtextextended(v_prefix || lpad(to_hex(k), 5, '0'), v_seed) FROM generate_series(0, r_out.frames - 1) k);
        ELSE
            SELECT array_agg(hashtextextended(i.id COLLATE "C", v_seed)), min(left(i.id, 64) COLLATE "C"), max(left(i.id, 64) COLLATE "C")
            INTO v_hashes, v_lo, v_hi
            FROM (
                SELECT coalesce(u.id, v_prefix || lpad(to_hex(u.ord - 1), 5, '0')) AS id
                FROM unnest(v_ids) WITH ORDINALITY u (id, ord)
            ) i;
        END IF;
        WITH segment AS (
            INSERT INTO queen.log_segments (
                partition_id, base_offset, end_offset, created_at, id_base, frames, bytes, orig_bytes, cum_bytes,
                payloads, transaction_ids, keys, trace_ids, producer_subs)
            VALUES (
                r_part.id, r_out.base_offset, p_first + v_to - 1, v_stamp, r_out.id_base, r_out.frames, v_bytes, v_bytes, v_cum,
                v_payloads, queen._unless_all_null(v_ids), queen._unless_all_null(v_keys),
                queen._unless_all_null(p_trace_ids[v_from : v_to])::uuid[], queen._unless_all_null(p_producer_subs[v_from : v_to]))
        )
        INSERT INTO queen.log_txns (partition_id, base_offset, end_offset, created_at, hashes, lo, hi, high, out_of_order)
        VALUES (r_part.id, r_out.base_offset, p_first + v_to - 1, v_stamp, v_hashes, v_lo, v_hi,
                greatest(v_high, v_hi), v_lo <= v_high);
        v_rows := v_rows || r_out;
        EXIT WHEN v_to = v_count;
        v_high := greatest(v_high, v_hi);
        v_from := v_to + 1;
        v_stamp := v_stamp + interval '1 microsecond';
    END LOOP;

    IF queen._writes_head(r_part, v_stamp) THEN
        UPDATE queen.log_partitions p
        SET last_write_at = greatest(p.last_write_at, date_trunc('second', v_stamp)),
            last_offset = p_first + v_count - 1,
            last_stamp = v_stamp,
            last_cum = v_cum,
            settled = false,
            oldest_live_at = coalesce(p.oldest_live_at, p_stamp),
            oldest_txn_at = coalesce(p.oldest_txn_at, p_stamp)
        WHERE p.id = r_part.id;
    END IF;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._store_slices(integer, queen.log_partitions, bigint, timestamptz, bigint, text,
    text[], text[], text[], text[], text[], bigint, integer[]) FROM PUBLIC;

/*
 * Purpose:     an array, or NULL when it holds nothing but NULLs: a segment keeps optional columns only when used.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one pass in C.
 * Idempotency: yes.  Raises: nothing.  Source: design 3 (log_segments).
 */
CREATE OR REPLACE FUNCTION queen._unless_all_null(p_array text[]) RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN array_remove(p_array, NULL) <> '{}' THEN p_array END
$$;
REVOKE ALL ON FUNCTION queen._unless_all_null(text[]) FROM PUBLIC;
