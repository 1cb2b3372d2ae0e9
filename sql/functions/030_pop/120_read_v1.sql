/*
 * Purpose:     look at messages of one partition without taking them: no lease, no cursor, nothing written.
 * Locks:       none.  Isolation: any.
 * Volatility:  VOLATILE: shows what committed before each call.
 * Bounds:      p_max_rows messages (at most 10000).
 * Idempotency: reads only.
 * Raises:      QN404 when queue or partition does not exist; QN400 for p_max_rows below 1.
 * Source:      issue "The main job" (tail moves no cursor), design 5 item 2.
 */
CREATE OR REPLACE FUNCTION queen.read_v1(
    p_queue text,
    p_partition text DEFAULT 'Default',
    p_from_offset bigint DEFAULT NULL,
    p_max_rows integer DEFAULT 100,
    p_since timestamptz DEFAULT NULL
) RETURNS SETOF queen.popped_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    r_head queen.partition_head;
    v_from bigint;
    v_max integer := least(p_max_rows, 10000);
BEGIN
    IF coalesce(v_max, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    SELECT h.* INTO r_head
    FROM queen.queues q
    JOIN queen.partition_head h ON h.queue_id = q.id AND h.name = p_partition
    WHERE q.tenant_id = queen._current_tenant() AND q.name = p_queue AND q.deleted_at IS NULL;
    IF r_head.id IS NULL THEN
        PERFORM queen._raise('QN404', 'Queue or partition not found', 'p_queue');
    END IF;
    v_from := coalesce(p_from_offset,
        CASE WHEN p_since IS NOT NULL THEN queen._seed_cursor(r_head.id, 'timestamp', p_since) + 1
             WHEN r_head.removed_frames > 0 THEN queen._last_from(r_head.id, r_head.log_start, v_max)
             ELSE r_head.head_offset - v_max + 1 END);
    v_from := greatest(v_from, r_head.log_start);
    RETURN QUERY
    SELECT m.*
    FROM queen.log_segments s
    CROSS JOIN LATERAL queen._messages(r_head.id, r_head.name, '', NULL, 0, s.created_at, s.id_base, s.base_offset,
        s.base_offset, s.payloads, s.transaction_ids, s.keys, s.offsets) m
    WHERE s.partition_id = r_head.id
      AND s.base_offset >= greatest(r_head.log_start, v_from - 1000)
      AND s.end_offset >= v_from
      AND m."offset" >= v_from
    ORDER BY s.base_offset, m."offset"
    LIMIT v_max;
END $$;
COMMENT ON FUNCTION queen.read_v1(text, text, bigint, integer, timestamptz) IS
'Look at messages of a partition from an offset or a time on (neither: the last ones); takes no lease and moves no cursor.';
REVOKE ALL ON FUNCTION queen.read_v1(text, text, bigint, integer, timestamptz) FROM PUBLIC;

/*
 * Purpose:     the offset from which on a partition that compaction took frames of holds its last p_count messages.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE, as its caller.
 * Bounds:      walks back over the segments that hold them.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._last_from(
    p_partition_id uuid,
    p_log_start bigint,
    p_count integer
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_seg queen.log_segments;
    v_left integer := p_count;
BEGIN
    -- A loop, because it ends when there are enough.
    FOR r_seg IN
        SELECT s.* FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start AND s.frames > 0
        ORDER BY s.base_offset DESC
    LOOP
        IF r_seg.frames >= v_left THEN
            RETURN coalesce(r_seg.offsets[r_seg.frames - v_left + 1], r_seg.end_offset - v_left + 1);
        END IF;
        v_left := v_left - r_seg.frames;
    END LOOP;
    RETURN p_log_start;
END $$;
REVOKE ALL ON FUNCTION queen._last_from(uuid, bigint, integer) FROM PUBLIC;
