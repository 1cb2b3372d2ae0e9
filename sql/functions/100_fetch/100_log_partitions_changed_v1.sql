/*
 * Purpose:     partitions of queues, by name, or those written at or after a time, by time and name, a page an entry; with
 *              the time below which the answer is complete. Feed it back as the next p_sinces: no overlap is needed, since
 *              last_write_at may be up to 1 s older than the newest write and p_sinces is widened by 2 s here.
 * Locks:       none.
 * Isolation:   READ COMMITTED only: under one snapshot a transaction could be in neither the activity nor the pages.
 * Volatility:  VOLATILE though it writes nothing: the safe time comes first, and each later statement needs a newer
 *              snapshot, for the same reason. Never declare it STABLE, never read a table before _watermark.
 * Bounds:      64 entries of 1000 partitions, one tail probe each; every page is a walk along an index.
 * Idempotency: reads only.
 * Raises:      QN400 for another isolation level, more than 64 entries, arrays of unequal length or that are no lists, a bad queue name. An
 *              unknown queue or a cursor of another mode or queue is the error of its entry.
 * Source:      seed queues-and-resources, C-32..C-43, design 4, F144..F153.
 */
CREATE OR REPLACE FUNCTION queen.log_partitions_changed_v1(
    p_queues text[],
    p_sinces timestamptz[] DEFAULT NULL,
    p_afters text[] DEFAULT NULL,
    p_limits integer[] DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.changed_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
SET max_parallel_workers_per_gather = 0
AS $$
DECLARE
    r_out queen.changed_row;
    r_cursor record;
    v_queue_id uuid;
    v_safe_time timestamptz;
    v_from timestamptz;
    v_after text;
    v_limit integer;
    v_next_safe timestamptz;
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_changed(p_queues, p_sinces, p_afters, p_limits);
    r_out.entry := -1;
    SELECT w.safe_time, w.degraded, w.held_by
    INTO v_safe_time, r_out.safe_time_degraded, r_out.safe_time_held_by
    FROM queen._watermark((
        SELECT min(coalesce(s.since, 'epoch'::timestamptz)) FROM unnest(p_queues, p_sinces) s (queue, since))) w;
    r_out.safe_time := least(v_safe_time, (
        SELECT min(c.safe_time) FROM unnest(p_afters) a (cursor), queen._parse_changed_cursor(a.cursor) c));
    RETURN NEXT r_out;

    -- A loop, because each entry has its own page and its own error.
    FOR v_i IN 1 .. coalesce(cardinality(p_queues), 0)
    LOOP
        r_out.entry := v_i - 1;
        r_cursor := queen._parse_changed_cursor(p_afters[v_i]);
        SELECT q.id INTO v_queue_id FROM queen.queues q
        WHERE q.tenant_id = queen._tenant(p_tenant_id) AND q.name = p_queues[v_i] AND q.deleted_at IS NULL;
        r_out.error := CASE
            WHEN v_queue_id IS NULL THEN 'UNKNOWN_TOPIC_OR_PARTITION'
            WHEN p_afters[v_i] IS NOT NULL AND (
                r_cursor.mode IS DISTINCT FROM CASE WHEN p_sinces[v_i] IS NULL THEN 'n' ELSE 't' END
                OR r_cursor.queue_id <> v_queue_id::text) THEN 'BAD_CURSOR'
        END;
        IF r_out.error IS NOT NULL THEN
            RETURN NEXT r_out;
            CONTINUE;
        END IF;
        v_limit := least(greatest(coalesce(p_limits[v_i], 1000), 1), 1000);
        v_next_safe := least(v_safe_time, r_cursor.safe_time);
        v_after := r_cursor.name;
        IF p_sinces[v_i] IS NULL THEN
            RETURN QUERY
            SELECT v_i - 1, r_out.safe_time, r_out.safe_time_degraded, r_out.safe_time_held_by, h.name, h.head_offset, h.log_start,
                   h.last_write_at,
                   CASE WHEN row_number() OVER () = v_limit THEN queen._changed_cursor('n', v_queue_id, v_next_safe, NULL, h.name) END,
                   NULL::text
            FROM (
                SELECT p.name, p.head_offset, p.log_start, p.last_write_at FROM queen.partition_head p
                WHERE p.queue_id = v_queue_id AND p.name >= coalesce(v_after, '') AND p.name IS DISTINCT FROM v_after
                ORDER BY p.name
                LIMIT v_limit
            ) h;
            CONTINUE;
        END IF;
        v_from := p_sinces[v_i] - interval '2 seconds';
        IF r_cursor.at < v_from THEN
            v_after := NULL;
        END IF;
        RETURN QUERY
        SELECT v_i - 1, r_out.safe_time, r_out.safe_time_degraded, r_out.safe_time_held_by, h.name, h.head_offset, h.log_start,
               h.last_write_at,
               CASE WHEN row_number() OVER () = v_limit THEN queen._changed_cursor('t', v_queue_id, v_next_safe, h.last_write_at, h.name) END,
               NULL::text
        FROM (
            SELECT p.name, p.head_offset, p.log_start, p.last_write_at
            FROM (
                -- The page first: the partitions of a second are sorted, and only those shown are probed for their tails.
                SELECT l.id FROM queen.log_partitions l
                WHERE l.queue_id = v_queue_id AND l.last_write_at >= greatest(v_from, r_cursor.at)
                  AND (v_after IS NULL OR (l.last_write_at, l.name) > (r_cursor.at, v_after))
                ORDER BY l.last_write_at, l.name
                LIMIT v_limit
            ) c
            JOIN queen.partition_head p ON p.id = c.id
            ORDER BY p.last_write_at, p.name
        ) h;
    END LOOP;
END $$;
COMMENT ON FUNCTION queen.log_partitions_changed_v1(text[], timestamptz[], text[], integer[], uuid) IS
'List partitions of queues, all by name or those written since a time, page by page, with the safe time to ask from next.';
REVOKE ALL ON FUNCTION queen.log_partitions_changed_v1(text[], timestamptz[], text[], integer[], uuid) FROM PUBLIC;

/*
 * Purpose:     refuse what no entry can be read from; touches no table.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the arrays given.  Idempotency: yes.
 * Raises:      QN400; the detail names the argument.
 * Source:      C-32.
 */
CREATE OR REPLACE FUNCTION queen._check_changed(
    p_queues text[],
    p_sinces timestamptz[],
    p_afters text[],
    p_limits integer[]
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_queue text;
    v_entries integer := coalesce(cardinality(p_queues), 0);
BEGIN
    IF v_entries > 64 THEN
        PERFORM queen._raise('QN400', 'at most 64 entries are allowed', 'entries');
    ELSIF NOT (queen._is_list(p_queues) AND queen._is_list(p_sinces) AND queen._is_list(p_afters) AND queen._is_list(p_limits)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'entries');
    ELSIF cardinality(p_sinces) <> v_entries OR cardinality(p_afters) <> v_entries OR cardinality(p_limits) <> v_entries THEN
        PERFORM queen._raise('QN400', 'every array must have one element an entry', 'entries');
    END IF;
    FOREACH v_queue IN ARRAY coalesce(p_queues, '{}')
    LOOP
        PERFORM queen._check_name(v_queue, 'queue');
        IF v_queue = '' THEN
            PERFORM queen._raise('QN400', 'queue must not be empty', 'queue');
        END IF;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._check_changed(text[], timestamptz[], text[], integer[]) FROM PUBLIC;
