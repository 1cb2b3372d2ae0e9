/*
 * Purpose:     read messages of partitions from absolute offsets: no group, no lease, no cursor. Each entry answers its
 *              bounds first, then slices of segments in offset order. A partition that nobody pushed to is an empty log.
 *              For psql there is read_v1.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: bounds and messages are read under one snapshot, so that nothing can go between the two.
 * Bounds:      1024 entries; an entry 10000 frames and its byte limit (1 MiB, at most 8) of payloads as they are stored,
 *              a call 64 MiB as stored and 64 MiB as answered. Only the first segment of a call may be larger.
 * Idempotency: reads only.
 * Raises:      QN400 for more than 1024 entries, arrays of unequal length, a bad name, a negative offset. An unknown
 *              queue, or an offset below the log's start or above its end, is the error of its entry.
 * Source:      O-57..O-59, http-api 6.1.
 */
CREATE OR REPLACE FUNCTION queen.log_fetch_v1(
    p_queues text[],
    p_partitions text[],
    p_offsets bigint[],
    p_max_bytes integer[] DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.fetch_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    r_head record;
    r_seg queen.log_segments;
    r_slice queen.pop_row;
    r_out queen.fetch_row;
    v_max integer;
    v_left integer;
    v_stored bigint;
    v_entry bigint;
    v_call bigint := 0;
    v_shown bigint := 0;
BEGIN
    PERFORM queen._check_fetch(p_queues, p_partitions, p_offsets, p_max_bytes);
    -- Loops, because how many segments an entry may have is known only while the ones before are read.
    FOR v_i IN 1 .. coalesce(cardinality(p_queues), 0)
    LOOP
        SELECT q.id AS queue_id, h.id, h.log_start, h.head_offset INTO r_head
        FROM queen.queues q
        LEFT JOIN queen.partition_head h ON h.queue_id = q.id AND h.name = p_partitions[v_i]
        WHERE q.tenant_id = queen._tenant(p_tenant_id) AND q.name = p_queues[v_i] AND q.deleted_at IS NULL;
        r_out := queen._fetch_bounds(v_i - 1, r_head.queue_id IS NOT NULL, r_head.log_start, r_head.head_offset, p_offsets[v_i]);
        RETURN NEXT r_out;
        CONTINUE WHEN r_out.error IS NOT NULL OR r_out.high_watermark = p_offsets[v_i];
        v_max := least(greatest(coalesce(p_max_bytes[v_i], 1048576), 1), 8388608);
        v_left := 10000;
        v_entry := 0;
        FOR r_seg IN
            SELECT s.* FROM queen.log_segments s
            WHERE s.partition_id = r_head.id AND s.base_offset >= coalesce((
                SELECT c.base_offset FROM queen.log_segments c
                WHERE c.partition_id = r_head.id AND c.base_offset >= r_head.log_start AND c.base_offset <= p_offsets[v_i]
                ORDER BY c.base_offset DESC LIMIT 1), p_offsets[v_i])
              AND s.frames > 0
            ORDER BY s.base_offset
        LOOP
            EXIT WHEN v_left = 0;
            CONTINUE WHEN r_seg.end_offset < p_offsets[v_i];
            v_stored := pg_column_size(r_seg.payloads);
            EXIT WHEN v_shown > 0 AND (v_entry + v_stored > v_max OR v_call + v_stored > 67108864
                OR v_shown + r_seg.bytes + 150 * r_seg.frames > 67108864);
            r_slice := queen._slice(r_slice, r_seg, p_offsets[v_i], v_left);
            CONTINUE WHEN r_slice.payloads IS NULL;
            r_out.created_at := r_slice.created_at;
            r_out.id_base := r_slice.id_base;
            r_out.segment_base := r_slice.segment_base;
            r_out.first_offset := r_slice.first_offset;
            r_out.payloads := r_slice.payloads;
            r_out.transaction_ids := r_slice.transaction_ids;
            r_out.offsets := r_slice.offsets;
            r_out.keys := r_slice.keys;
            v_left := v_left - cardinality(r_slice.payloads);
            v_entry := v_entry + v_stored;
            v_call := v_call + v_stored;
            v_shown := v_shown + r_seg.bytes + 150 * r_seg.frames;
            RETURN NEXT r_out;
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION queen.log_fetch_v1(text[], text[], bigint[], integer[], uuid) IS
'Read messages of partitions from absolute offsets, with the bounds of each log; takes no lease and moves no cursor.';
REVOKE ALL ON FUNCTION queen.log_fetch_v1(text[], text[], bigint[], integer[], uuid) FROM PUBLIC;

/*
 * Purpose:     the first row of an entry: the bounds of its log, or why there is nothing to read.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: none.
 * Idempotency: yes.  Raises: nothing.
 * Source:      O-57, O-58.
 */
CREATE OR REPLACE FUNCTION queen._fetch_bounds(
    p_entry integer,
    p_known boolean,
    p_log_start bigint,
    p_head bigint,
    p_offset bigint
) RETURNS queen.fetch_row
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    r_out queen.fetch_row;
BEGIN
    r_out.entry := p_entry;
    r_out.high_watermark := coalesce(p_head + 1, 0);
    r_out.log_start := coalesce(p_log_start, 0);
    r_out.error := CASE
        WHEN NOT p_known THEN 'UNKNOWN_TOPIC_OR_PARTITION'
        WHEN p_offset < r_out.log_start OR p_offset > r_out.high_watermark THEN 'OFFSET_OUT_OF_RANGE'
    END;
    r_out.created_at := 'epoch'::timestamptz;
    r_out.id_base := '00000000-0000-0000-0000-000000000000'::uuid;
    r_out.segment_base := 0;
    r_out.first_offset := 0;
    r_out.payloads := '{}'::text[];
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._fetch_bounds(integer, boolean, bigint, bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     refuse what no entry can be read from; touches no table.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the arrays given.  Idempotency: yes.
 * Raises:      QN400; the detail names the argument.
 * Source:      http-api 6.1.
 */
CREATE OR REPLACE FUNCTION queen._check_fetch(
    p_queues text[],
    p_partitions text[],
    p_offsets bigint[],
    p_max_bytes integer[]
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_entries integer := coalesce(cardinality(p_queues), 0);
    r_entry record;
BEGIN
    IF v_entries > 1024 THEN
        PERFORM queen._raise('QN400', 'at most 1024 entries are allowed', 'entries');
    ELSIF NOT (queen._is_list(p_queues) AND queen._is_list(p_partitions) AND queen._is_list(p_offsets) AND queen._is_list(p_max_bytes)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'entries');
    ELSIF coalesce(cardinality(p_partitions), 0) <> v_entries OR coalesce(cardinality(p_offsets), 0) <> v_entries OR cardinality(p_max_bytes) <> v_entries THEN
        PERFORM queen._raise('QN400', 'every array must have one element an entry', 'entries');
    END IF;
    FOR r_entry IN
        SELECT e.* FROM unnest(p_queues, p_partitions, p_offsets) e (queue, part, "offset")
        WHERE queen._is_bad_name(e.queue) OR queen._is_bad_name(e.part) OR e."offset" IS NULL OR e."offset" < 0
        LIMIT 1
    LOOP
        PERFORM queen._check_name(r_entry.queue, 'queue');
        PERFORM queen._check_name(r_entry.part, 'partition');
        PERFORM queen._raise('QN400', 'offset must be 0 or more', 'offset');
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._check_fetch(text[], text[], bigint[], integer[]) FROM PUBLIC;
