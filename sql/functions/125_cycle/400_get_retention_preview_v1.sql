/*
 * Purpose:     what the next sweep would delete from a queue, by which rule, without deleting anything: the cuts are those
 *              that the steps make. The document has at most 1000 partitions, those with the oldest messages; totals are over
 *              all that were looked at, and complete is false when there was more than p_max_partitions, or more in one
 *              of them than p_max_rows segments.
 * Locks:       none.
 * Isolation:   READ COMMITTED; at another level the answer is of one moment.
 * Volatility:  VOLATILE: reads the clock.
 * Bounds:      p_max_partitions (1 to 100000) partitions, p_max_rows (1 to 100000) segments in each.
 * Idempotency: reads only.
 * Raises:      QN404 for an unknown queue.
 * Source:      issue 4 item 6, R-9..R-15, R-25, design 5 item 2.
 */
CREATE OR REPLACE FUNCTION queen.get_retention_preview_v1(
    p_queue text,
    p_max_partitions integer DEFAULT 10000,
    p_max_rows integer DEFAULT 100000,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    r_queue queen.queues;
    r_rules queen.retention_cutoff_row;
    v_parts integer := least(greatest(coalesce(p_max_partitions, 10000), 1), 100000);
    v_rows integer := least(greatest(coalesce(p_max_rows, 100000), 1), 100000);
BEGIN
    PERFORM queen._check_name(p_queue, 'queue');
    r_queue := queen._find_queue(p_queue, queen._tenant(p_tenant_id));
    SELECT * INTO r_rules FROM queen.log_retention_cutoffs_v1(ARRAY[r_queue.id]);
    RETURN (
        WITH lane AS MATERIALIZED (
            SELECT p.id, p.name, p.txns_start FROM queen.log_partitions p
            WHERE p.queue_id = r_queue.id
              AND (p.oldest_live_at < greatest(r_rules.age_before, r_rules.completed_before, r_rules.evict_before)
                   OR p.oldest_live_at IS NOT NULL AND (r_rules.max_bytes > 0 OR r_rules.max_messages > 0)
                   OR p.oldest_txn_at < r_rules.hashes_before)
            ORDER BY least(p.oldest_live_at, p.oldest_txn_at), p.id
            LIMIT v_parts + 1
        ),
        cut AS MATERIALIZED (
            SELECT l.id, l.name, c.* FROM (SELECT * FROM lane LIMIT v_parts) l
            CROSS JOIN LATERAL queen._preview_cuts(l.id, r_rules, v_rows) c
        ),
        hash AS (
            SELECT count(*) FILTER (WHERE h.hash_rows > 0) AS partitions, coalesce(sum(h.hash_rows), 0)::bigint AS rows,
                   coalesce(bool_or(h.hash_rows >= v_rows), false) AS clipped
            FROM (SELECT * FROM lane LIMIT v_parts) l
            CROSS JOIN LATERAL queen._hash_cut(l.id, l.txns_start, r_rules.hashes_before, v_rows) h
        )
        SELECT json_build_object(
            'queue', r_queue.name,
            'at', queen._utc_ms(r_rules.at),
            'rules', json_build_object(
                'ageBefore', queen._utc_ms(r_rules.age_before),
                'completedBefore', queen._utc_ms(r_rules.completed_before),
                'evictBefore', queen._utc_ms(r_rules.evict_before),
                'hashesBefore', queen._utc_ms(r_rules.hashes_before),
                'maxBytes', r_rules.max_bytes,
                'maxMessages', r_rules.max_messages,
                'holdBefore', queen._utc_ms(r_rules.hold_before),
                'hold', nullif(r_rules.hold, '')),
            'wouldDelete', (
                SELECT coalesce(json_agg(json_build_object('rule', g.rule, 'partitions', g.partitions, 'segments', g.segments,
                    'messages', g.messages, 'unread', g.unread, 'bytes', g.bytes) ORDER BY g.rule), '[]')
                FROM (
                    SELECT c.rule, count(*) AS partitions, sum(c.segments) AS segments, sum(c.frames) AS messages, sum(c.unread) AS unread, sum(c.bytes) AS bytes
                    FROM cut c GROUP BY c.rule
                ) g),
            'totals', (
                SELECT json_build_object('partitions', count(DISTINCT c.id), 'segments', coalesce(sum(c.segments), 0), 'messages', coalesce(sum(c.frames), 0),
                    'unread', coalesce(sum(c.unread), 0), 'bytes', coalesce(sum(c.bytes), 0))
                FROM cut c),
            'hashes', (SELECT json_build_object('partitions', h.partitions, 'rows', h.rows) FROM hash h),
            'partitions', (
                SELECT coalesce(json_agg(json_build_object('partition', c.name, 'partitionId', c.id, 'rule', c.rule, 'firstOffset', c.first_offset,
                    'lastOffset', c.boundary - 1, 'segments', c.segments, 'messages', c.frames, 'unread', c.unread, 'bytes', c.bytes)
                    ORDER BY c.name COLLATE "C", c.first_offset), '[]')
                FROM (SELECT * FROM cut LIMIT 1000) c),
            'complete', (SELECT count(*) FROM lane) <= v_parts AND NOT (SELECT coalesce(bool_or(c.clipped), false) FROM cut c)
                AND NOT (SELECT h.clipped FROM hash h)));
END $$;
COMMENT ON FUNCTION queen.get_retention_preview_v1(text, integer, integer, uuid) IS
'What the next sweep would delete from a queue, and by which rule; nothing is deleted.';
REVOKE ALL ON FUNCTION queen.get_retention_preview_v1(text, integer, integer, uuid) FROM PUBLIC;

/*
 * Purpose:     the cuts that the phases of a sweep would make in one partition, one after the other: the rules of retention, then
 *              maxWaitTimeSeconds from where they stop.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE, as _retention_cut.
 * Bounds:      p_max_rows segments.  Idempotency: reads only.  Raises: nothing.
 * Source:      issue 4 item 6.
 */
CREATE OR REPLACE FUNCTION queen._preview_cuts(
    p_partition_id uuid,
    r_rules queen.retention_cutoff_row,
    p_max_rows integer
) RETURNS SETOF queen.retention_cut_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_cut queen.retention_cut_row;
    v_from bigint;
    v_clipped boolean;
BEGIN
    FOR r_cut IN
        SELECT * FROM queen._retention_cut(p_partition_id, r_rules.age_before, r_rules.completed_before, r_rules.max_bytes, r_rules.max_messages,
            r_rules.idle_groups, r_rules.idle_before, p_max_rows, 'retention', true)
    LOOP
        RETURN NEXT r_cut;
        v_from := r_cut.boundary;
    END LOOP;
    IF r_rules.evict_before IS NOT NULL THEN
        SELECT * INTO r_cut FROM queen._retention_cut(p_partition_id, r_rules.evict_before, NULL, NULL, NULL, NULL, NULL, p_max_rows,
            'max_wait_time_eviction', true);
        IF r_cut.boundary > coalesce(v_from, -1) THEN
            v_clipped := r_cut.clipped;
            r_cut := queen._weigh_cut(p_partition_id, 'max_wait_time_eviction', coalesce(v_from, r_cut.first_offset), r_cut.boundary);
            r_cut.clipped := v_clipped;
            RETURN NEXT r_cut;
        END IF;
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._preview_cuts(uuid, queen.retention_cutoff_row, integer) FROM PUBLIC;
