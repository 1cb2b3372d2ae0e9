/*
 * Purpose:     traces of one message, traces that share a name, and the names there are. All of them outlive the queue.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      the first 1000 traces of a message; p_limit rows (at most 1000) after p_offset; the index rows of a name, and
 *              for the names those of all names of the tenant.
 * Idempotency: reads only.
 * Raises:      QN400 for a negative limit or offset.
 * Source:      spec 4.10.
 */
CREATE OR REPLACE FUNCTION queen._trace_document(
    r_trace queen.message_traces,
    p_more jsonb
) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT queen._with_data(p_more || jsonb_build_object(
        'id', r_trace.id,
        'event_type', r_trace.event_type,
        'consumer_group', r_trace.consumer_group,
        'worker_id', r_trace.worker_id,
        'created_at', queen._utc_ms(r_trace.created_at),
        'trace_names', coalesce((SELECT jsonb_agg(n.trace_name ORDER BY n.trace_name) FROM queen.message_trace_names n WHERE n.trace_id = r_trace.id), '[]')),
        r_trace.data)
$$;
REVOKE ALL ON FUNCTION queen._trace_document(queen.message_traces, jsonb) FROM PUBLIC;

/*
 * Purpose:     add the data of a trace to its document, as it was sent: it never becomes jsonb.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one document.
 * Idempotency: yes.  Raises: nothing.  Source: design 3.1 (payloads), F003.
 */
CREATE OR REPLACE FUNCTION queen._with_data(
    p_document jsonb,
    p_data text
) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT (left(p_document::text, -1) || ', "data": ' || queen._as_json(p_data)::text || '}')::json
$$;
REVOKE ALL ON FUNCTION queen._with_data(jsonb, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen.list_traces_v1(
    p_partition_id uuid,
    p_transaction_id text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    RETURN (
        SELECT json_build_object('traces', coalesce(json_agg(queen._trace_document(x.t, '{}') ORDER BY (x.t).created_at, (x.t).id), '[]'))
        FROM (
            SELECT t FROM queen.message_traces t
            WHERE t.partition_id = p_partition_id
              AND hashtextextended(t.transaction_id, 0) = hashtextextended(p_transaction_id COLLATE "C", 0)
              AND t.transaction_id = p_transaction_id AND t.tenant_id = v_tenant
            ORDER BY t.created_at, t.id
            LIMIT 1000
        ) x);
END $$;
COMMENT ON FUNCTION queen.list_traces_v1(uuid, text, uuid) IS 'What was noted about one message, oldest first; also when the message is gone.';
REVOKE ALL ON FUNCTION queen.list_traces_v1(uuid, text, uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen.list_traces_by_name_v1(
    p_trace_name text,
    p_limit integer DEFAULT 100,
    p_offset integer DEFAULT 0,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_limit integer := least(p_limit, 1000);
BEGIN
    PERFORM queen._check_page(p_limit, p_offset);
    RETURN (
        SELECT json_build_object(
            'traces', coalesce(json_agg(queen._trace_document(x.t, jsonb_build_object(
                'transaction_id', (x.t).transaction_id,
                'partition_id', (x.t).partition_id,
                'queue_name', (x.t).queue_name,
                'partition_name', (x.t).partition_name,
                'message_payload', NULL)) ORDER BY x.created_at, (x.t).id), '[]'),
            'total', (SELECT count(*) FROM queen.message_trace_names n WHERE n.tenant_id = v_tenant AND n.trace_name = p_trace_name COLLATE "C"),
            'pagination', json_build_object('limit', v_limit, 'offset', p_offset))
        FROM (
            SELECT t, n.created_at
            FROM queen.message_trace_names n
            JOIN queen.message_traces t ON t.id = n.trace_id
            WHERE n.tenant_id = v_tenant AND n.trace_name = p_trace_name COLLATE "C"
            ORDER BY n.created_at, n.trace_id
            LIMIT v_limit
            OFFSET p_offset
        ) x);
END $$;
COMMENT ON FUNCTION queen.list_traces_by_name_v1(text, integer, integer, uuid) IS 'Traces of any message under one name, oldest first.';
REVOKE ALL ON FUNCTION queen.list_traces_by_name_v1(text, integer, integer, uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen.list_trace_names_v1(
    p_limit integer DEFAULT 50,
    p_offset integer DEFAULT 0,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_limit integer := least(p_limit, 1000);
BEGIN
    PERFORM queen._check_page(p_limit, p_offset);
    RETURN (
        WITH page AS (
            SELECT n.trace_name, count(*) AS traces, max(n.created_at) AS last_seen, count(*) OVER () AS total
            FROM queen.message_trace_names n
            WHERE n.tenant_id = v_tenant
            GROUP BY n.trace_name
            ORDER BY max(n.created_at) DESC, n.trace_name
            LIMIT v_limit
            OFFSET p_offset
        )
        SELECT json_build_object(
            'trace_names', coalesce(json_agg(json_build_object(
                'trace_name', p.trace_name,
                'trace_count', p.traces,
                'message_count', (SELECT count(DISTINCT (t.partition_id, t.transaction_id))
                                  FROM queen.message_trace_names n JOIN queen.message_traces t ON t.id = n.trace_id
                                  WHERE n.tenant_id = v_tenant AND n.trace_name = p.trace_name),
                'last_seen', queen._utc_ms(p.last_seen)) ORDER BY p.last_seen DESC, p.trace_name), '[]'),
            'total', coalesce(max(p.total), (SELECT count(DISTINCT n.trace_name) FROM queen.message_trace_names n WHERE n.tenant_id = v_tenant)),
            'pagination', json_build_object('limit', v_limit, 'offset', p_offset))
        FROM page p);
END $$;
COMMENT ON FUNCTION queen.list_trace_names_v1(integer, integer, uuid) IS 'The names that traces go by, the one used last first, with how many traces and messages each ties together.';
REVOKE ALL ON FUNCTION queen.list_trace_names_v1(integer, integer, uuid) FROM PUBLIC;
