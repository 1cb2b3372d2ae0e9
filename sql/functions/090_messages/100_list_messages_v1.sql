/*
 * Purpose:     browse messages, newest first, by queue, partition, labels, time and status. Status is that of the consumers
 *              without a group; a message with a dead letter is dead_letter and nothing else.
 * Locks:       none.  Isolation: any; STABLE keeps every read on one snapshot.
 * Volatility:  STABLE.
 * Bounds:      p_limit messages (at most 1000) after p_offset; looks at the 10000 partitions written last among those that
 *              the filter leaves, and in each at as many offsets as the page needs. Payloads only of the page.
 * Idempotency: reads only.
 * Raises:      QN400 for a negative limit or offset, or an unknown status.
 * Source:      spec 4.8 (GET /api/v1/messages).
 */
CREATE OR REPLACE FUNCTION queen.list_messages_v1(
    p_queue text DEFAULT NULL,
    p_partition text DEFAULT NULL,
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_status text DEFAULT NULL,
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_limit integer DEFAULT 200,
    p_offset integer DEFAULT 0,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.message_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_from timestamptz := coalesce(p_from, statement_timestamp() - interval '1 hour');
    -- To the end of its minute, so that a reader who asks by the minute sees all of it.
    v_to timestamptz := date_trunc('minute', coalesce(p_to, clock_timestamp())) + interval '1 minute';
    v_rows integer := least(p_limit, 1000);
BEGIN
    PERFORM queen._check_page(p_limit, p_offset);
    IF p_status NOT IN ('pending', 'processing', 'completed', 'dead_letter') THEN
        PERFORM queen._raise('QN400', 'status must be pending, processing, completed or dead_letter', 'status');
    END IF;
    RETURN QUERY
    SELECT m.*
    FROM (
        SELECT l.queue, l.id, l.name, o.at, o.created_at
        FROM queen._browsed(v_tenant, p_queue, p_partition, p_namespace, p_task, v_from) l
        CROSS JOIN LATERAL queen._browsed_offsets(l.id, p_status, v_from, v_to, v_rows::bigint + p_offset) o
        ORDER BY o.created_at DESC, l.id, o.at DESC
        LIMIT v_rows
        OFFSET p_offset
    ) x
    CROSS JOIN LATERAL queen._message_at(x.queue, x.id, x.name, x.at) m
    ORDER BY x.created_at DESC, x.id, x.at DESC;
END $$;
COMMENT ON FUNCTION queen.list_messages_v1(text, text, text, text, text, timestamptz, timestamptz, integer, integer, uuid) IS
'Browse messages, newest first, with where each stands; the last hour unless you say from when.';
REVOKE ALL ON FUNCTION queen.list_messages_v1(text, text, text, text, text, timestamptz, timestamptz, integer, integer, uuid) FROM PUBLIC;

/*
 * Purpose:     partitions that a browse looks at: those written last, at most 10000.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: 10000 rows; the partitions of the queues chosen.
 * Idempotency: reads only.  Raises: nothing.  Source: spec 4.8.
 */
CREATE OR REPLACE FUNCTION queen._browsed(
    p_tenant_id uuid,
    p_queue text,
    p_partition text,
    p_namespace text,
    p_task text,
    p_from timestamptz
) RETURNS TABLE (queue queen.queues, id uuid, name text)
LANGUAGE sql STABLE AS $$
    SELECT q, p.id, p.name
    FROM queen.queues q
    JOIN queen.log_partitions p ON p.queue_id = q.id
    WHERE q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
      AND (p_queue IS NULL OR q.name = p_queue COLLATE "C")
      AND (p_namespace IS NULL OR q.namespace = p_namespace COLLATE "C")
      AND (p_task IS NULL OR q.task = p_task COLLATE "C")
      AND (p_partition IS NULL OR p.name = p_partition COLLATE "C")
      -- The row's stamp is whole seconds and may be a second behind (design 3.2 rule 2).
      AND p.last_write_at >= p_from - interval '3 seconds'
    ORDER BY p.last_write_at DESC, p.id
    LIMIT 10000
$$;
REVOKE ALL ON FUNCTION queen._browsed(uuid, text, text, text, text, timestamptz) FROM PUBLIC;

/*
 * Purpose:     the newest offsets of a partition in a span of time and with a status.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      p_max_rows offsets; the segments that hold them; halving for the ends of the span.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      spec 4.8.
 */
CREATE OR REPLACE FUNCTION queen._browsed_offsets(
    p_partition_id uuid,
    p_status text,
    p_from timestamptz,
    p_to timestamptz,
    p_max_rows bigint
) RETURNS TABLE (at bigint, created_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
DECLARE
    r_head queen.partition_head;
    r_cur queen.log_consumers;
    v_low bigint;
    v_high bigint;
    v_leased bigint;
BEGIN
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    SELECT * INTO r_cur FROM queen.log_consumers c WHERE c.partition_id = p_partition_id AND c.consumer_group = '__QUEUE_MODE__';
    v_leased := CASE WHEN r_cur.lease_expires_at > statement_timestamp() THEN r_cur.batch_end END;
    v_low := CASE WHEN r_head.oldest_live_at >= p_from THEN r_head.log_start
                  ELSE queen._first_base_since(p_partition_id, r_head.log_start, r_head.head_offset, p_from) END;
    v_high := CASE WHEN r_head.head_stamp < p_to THEN r_head.head_offset
                   ELSE coalesce(queen._first_base_since(p_partition_id, r_head.log_start, r_head.head_offset, p_to) - 1, r_head.head_offset) END;
    IF v_low IS NULL THEN
        RETURN; -- nothing that young, and greatest would pass over it
    END IF;
    v_low := greatest(v_low, CASE p_status WHEN 'processing' THEN r_cur.committed + 1
                                           WHEN 'pending' THEN coalesce(v_leased, r_cur.committed) + 1 END);
    v_high := least(v_high, CASE p_status WHEN 'completed' THEN coalesce(r_cur.committed, -1)
                                          WHEN 'processing' THEN coalesce(v_leased, -1) END);
    IF p_status = 'dead_letter' THEN
        RETURN QUERY
        SELECT o.at, s.created_at
        FROM (SELECT DISTINCT d."offset" AS at FROM queen.log_dlq d
              WHERE d.partition_id = p_partition_id AND d."offset" BETWEEN v_low AND v_high
              ORDER BY 1 DESC LIMIT p_max_rows) o
        CROSS JOIN LATERAL (
            SELECT l.created_at FROM queen.log_segments l
            WHERE l.partition_id = p_partition_id AND l.base_offset BETWEEN r_head.log_start AND o.at
            ORDER BY l.base_offset DESC LIMIT 1) s;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT o.at, s.created_at
    FROM (
        SELECT l.base_offset, l.end_offset, l.created_at, l.offsets FROM queen.log_segments l
        WHERE l.partition_id = p_partition_id AND l.base_offset BETWEEN greatest(r_head.log_start, v_low - 1000) AND v_high
        ORDER BY l.base_offset DESC
    ) s
    CROSS JOIN LATERAL (
        SELECT g AS at FROM generate_series(least(s.end_offset, v_high), greatest(s.base_offset, v_low), -1) g WHERE s.offsets IS NULL
        UNION ALL
        SELECT u FROM unnest(s.offsets) u WHERE u BETWEEN v_low AND v_high
    ) o
    WHERE p_status IS NULL
       OR NOT EXISTS (SELECT FROM queen.log_dlq d WHERE d.partition_id = p_partition_id AND d."offset" = o.at)
    LIMIT p_max_rows;
END $$;
REVOKE ALL ON FUNCTION queen._browsed_offsets(uuid, text, timestamptz, timestamptz, bigint) FROM PUBLIC;

/*
 * Purpose:     how what a browse looks at is consumed: by consumers without a group, by how many named groups.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      the consumers of at most 10000 partitions.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      spec 4.8 (mode).
 */
CREATE OR REPLACE FUNCTION queen.message_mode_v1(
    p_queue text DEFAULT NULL,
    p_partition text DEFAULT NULL,
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.message_mode_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
    SELECT coalesce(bool_or(c.consumer_group = '__QUEUE_MODE__'), false),
           count(DISTINCT c.consumer_group) FILTER (WHERE c.consumer_group <> '__QUEUE_MODE__')
    FROM queen._browsed(queen._tenant(p_tenant_id), p_queue, p_partition, p_namespace, p_task, '-infinity') l
    JOIN queen.log_consumers c ON c.partition_id = l.id
$$;
COMMENT ON FUNCTION queen.message_mode_v1(text, text, text, text, uuid) IS
'How queues are consumed: whether without a group, and by how many named groups.';
REVOKE ALL ON FUNCTION queen.message_mode_v1(text, text, text, text, uuid) FROM PUBLIC;
