/*
 * Purpose:     the document of GET /api/v1/status/analytics: how many of the messages that are kept were stored in each
 *              minute, hour or day of a range (the last 24 hours by default), in UTC, with zeros in between.
 * Locks:       none.
 * Isolation:   any; one statement.
 * Volatility:  STABLE.
 * Bounds:      at most 100,000 points; the visible segment rows of the queues that match (no payload is read).
 * Idempotency: reads only.
 * Raises:      QN400 when the range has more points; QN403 when a tenant is named without the right to.
 * Source:      http-api 5.4; design 3.2 rule 5.
 */
CREATE OR REPLACE FUNCTION queen.get_message_series_v1(
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_interval text DEFAULT 'hour',
    p_queue text DEFAULT NULL,
    p_namespace text DEFAULT NULL,
    p_task text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_from timestamptz := coalesce(p_from, statement_timestamp() - interval '24 hours');
    v_to timestamptz := coalesce(p_to, statement_timestamp());
    v_interval text := CASE WHEN p_interval IN ('minute', 'day') THEN p_interval ELSE 'hour' END;
    v_seconds bigint := CASE v_interval WHEN 'minute' THEN 60 WHEN 'day' THEN 86400 ELSE 3600 END;
BEGIN
    IF extract(epoch FROM v_to - v_from) / v_seconds > 100000 THEN
        PERFORM queen._raise('QN400', format('from and to are more than 100000 %ss apart', v_interval), 'interval');
    END IF;
    RETURN (
        WITH stored AS (
            SELECT date_trunc(v_interval, s.created_at, 'UTC') AS at, sum(s.frames) AS messages
            FROM queen.queues q
            JOIN queen.log_partitions p ON p.queue_id = q.id
            JOIN queen.log_segments s ON s.partition_id = p.id AND s.base_offset >= p.log_start
            WHERE q.tenant_id = v_tenant AND q.deleted_at IS NULL
              AND (p_queue IS NULL OR q.name = p_queue)
              AND (p_namespace IS NULL OR q.namespace = p_namespace)
              AND (p_task IS NULL OR q.task = p_task)
              AND s.created_at >= v_from AND s.created_at <= v_to
            GROUP BY 1
        ),
        point AS (
            SELECT to_timestamp(g.second) AS at
            FROM generate_series(
                extract(epoch FROM date_trunc(v_interval, v_from, 'UTC'))::bigint,
                extract(epoch FROM v_to)::bigint, v_seconds) g (second)
            WHERE v_from <= v_to
        )
        SELECT json_build_object(
            'dataPoints', coalesce(json_agg(json_build_object(
                'timestamp', queen._utc_ms(p.at),
                'messages', coalesce(s.messages, 0)) ORDER BY p.at), '[]'),
            'interval', v_interval,
            'from', queen._utc_ms(v_from),
            'to', queen._utc_ms(v_to))
        FROM point p
        LEFT JOIN stored s ON s.at = p.at);
END $$;
COMMENT ON FUNCTION queen.get_message_series_v1(timestamptz, timestamptz, text, text, text, text, uuid) IS
'How many of the messages that are kept were stored in each minute, hour or day of a range.';
REVOKE ALL ON FUNCTION queen.get_message_series_v1(timestamptz, timestamptz, text, text, text, text, uuid) FROM PUBLIC;
