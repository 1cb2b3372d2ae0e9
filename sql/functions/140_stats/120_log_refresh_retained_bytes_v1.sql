/*
 * Purpose:     measure what every queue keeps on disk: the compressed bytes of its payloads and its segment rows. Writes
 *              the two columns that belong to it, and once an hour a row of queue_size_history a queue.
 * Locks:       the advisory lock of the task (tried); none on rows while it scans; then rows of stats in the order of
 *              queue ids. None on a queue.
 * Isolation:   READ COMMITTED only: rows must be read after their locks.
 * Volatility:  VOLATILE: writes.
 * Bounds:      every visible segment row (sizes come from the tuple, no payload is read); a written row a queue.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level; 55P03 when the rows of stats are held for 5 s.
 * Source:      S-10, S-30 to S-34, design 5; issue 5.2.
 */
CREATE OR REPLACE FUNCTION queen.log_refresh_retained_bytes_v1() RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
SET lock_timeout = '5s' AS $$
DECLARE
    v_busy boolean;
    v_queues uuid[];
    v_bytes bigint[];
    v_segments bigint[];
    v_updated integer := 0;
    v_changed integer := 0;
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    v_busy := NOT pg_try_advisory_xact_lock(queen._lock_id('retained_bytes'));
    IF NOT v_busy THEN
        -- Every queue gets a value, 0 too: a reader of quotas must see an emptied one. The size is taken where the row is
        -- read (OFFSET 0), since a join may rewrite the array and so change its size.
        SELECT array_agg(t.id ORDER BY t.id), array_agg(t.bytes ORDER BY t.id), array_agg(t.segments ORDER BY t.id)
        INTO v_queues, v_bytes, v_segments
        FROM (
            SELECT q.id, coalesce(sum(g.size), 0)::bigint AS bytes, count(g.size) AS segments
            FROM queen.queues q
            LEFT JOIN (
                queen.log_partitions p
                JOIN (
                    SELECT s.partition_id, s.base_offset, pg_column_size(s.payloads) AS size
                    FROM queen.log_segments s
                    OFFSET 0
                ) g ON g.partition_id = p.id AND g.base_offset >= p.log_start
            ) ON p.queue_id = q.id
            WHERE q.deleted_at IS NULL
            GROUP BY q.id
        ) t;
        SELECT s.updated, s.changed INTO v_updated, v_changed
        FROM queen._store_retained_bytes(v_queues, v_bytes, v_segments, clock_timestamp()) s;
    END IF;
    RETURN json_strip_nulls(json_build_object(
        'queuesUpdated', v_updated,
        'queuesChanged', v_changed,
        'retainedBytes', coalesce((SELECT sum(b) FROM unnest(v_bytes) b), 0),
        'segments', coalesce((SELECT sum(n) FROM unnest(v_segments) n), 0),
        'refreshedAt', queen._utc_ms(clock_timestamp()),
        'busy', nullif(v_busy, false)));
END $$;
COMMENT ON FUNCTION queen.log_refresh_retained_bytes_v1() IS
'Measure how many bytes and segment rows every queue keeps, store it, and note it once an hour for a look at growth.';
REVOKE ALL ON FUNCTION queen.log_refresh_retained_bytes_v1() FROM PUBLIC;

/*
 * Purpose:     write measured sizes: the two columns of the lane, and a row of history the first time in an hour.
 * Locks:       rows of stats in the order of queue ids.
 * Isolation:   READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      a row a queue, and the noted hours of queues that are gone.  Idempotency: yes.  Raises: nothing.
 * Source:      S-31, S-32.
 */
CREATE OR REPLACE FUNCTION queen._store_retained_bytes(
    p_queue_ids uuid[],
    p_bytes bigint[],
    p_segments bigint[],
    p_at timestamptz,
    OUT updated integer,
    OUT changed integer
)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM FROM queen.stats s WHERE s.stat_type = 'queue' ORDER BY s.queue_id FOR NO KEY UPDATE;
    SELECT count(*) INTO changed
    FROM queen.stats s
    JOIN unnest(p_queue_ids, p_bytes, p_segments) m (queue_id, bytes, segments) ON m.queue_id = s.queue_id
    WHERE s.stat_type = 'queue' AND (s.retained_bytes, s.segment_count) <> (m.bytes, m.segments);
    UPDATE queen.stats s
    SET retained_bytes = m.bytes, segment_count = m.segments
    FROM unnest(p_queue_ids, p_bytes, p_segments) m (queue_id, bytes, segments)
    WHERE s.stat_type = 'queue' AND s.queue_id = m.queue_id;
    GET DIAGNOSTICS updated = ROW_COUNT;
    INSERT INTO queen.queue_size_history (queue_id, hour_at, retained_bytes, segment_count)
    SELECT q.id, date_trunc('hour', p_at, 'UTC'), m.bytes, m.segments
    FROM unnest(p_queue_ids, p_bytes, p_segments) m (queue_id, bytes, segments)
    JOIN queen.queues q ON q.id = m.queue_id AND q.deleted_at IS NULL
    ON CONFLICT DO NOTHING;
    -- The ids are found one by one in the key, however many hours each has.
    WITH RECURSIVE noted AS (
        (SELECT h.queue_id FROM queen.queue_size_history h ORDER BY h.queue_id LIMIT 1)
        UNION ALL
        SELECT n.queue_id
        FROM noted o
        CROSS JOIN LATERAL (SELECT h.queue_id FROM queen.queue_size_history h WHERE h.queue_id > o.queue_id ORDER BY h.queue_id LIMIT 1) n
    )
    DELETE FROM queen.queue_size_history h
    WHERE h.queue_id = ANY (ARRAY(
        SELECT n.queue_id FROM noted n WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = n.queue_id AND q.deleted_at IS NULL)));
END $$;
REVOKE ALL ON FUNCTION queen._store_retained_bytes(uuid[], bigint[], bigint[], timestamptz) FROM PUBLIC;
