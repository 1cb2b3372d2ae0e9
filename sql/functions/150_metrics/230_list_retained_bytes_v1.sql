/*
 * Purpose:     what queues keep on disk, the largest first: for gauges, which cannot grow without bound.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      a row of stats a queue; at most p_max_rows rows.
 * Idempotency: reads only.
 * Raises:      nothing; nothing is returned when p_max_rows is not positive.
 * Source:      issue 5 item 5, S-33, S-41 (queues of one name are added up).
 */
CREATE OR REPLACE FUNCTION queen.list_retained_bytes_v1(p_max_rows integer DEFAULT 1000) RETURNS SETOF queen.retained_bytes_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
AS $$
    SELECT q.name, sum(s.retained_bytes)::bigint, sum(s.segment_count)::bigint, count(*) OVER ()
    FROM queen.stats s
    JOIN queen.queues q ON q.id = s.queue_id AND q.deleted_at IS NULL
    WHERE (q.tenant_id = (SELECT queen._current_tenant()) OR (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001'))
      AND s.stat_type = 'queue' AND s.retained_bytes > 0
    GROUP BY q.name
    ORDER BY 2 DESC, 1
    LIMIT greatest(p_max_rows, 0)
$$;
COMMENT ON FUNCTION queen.list_retained_bytes_v1(integer) IS
'How many bytes of payload queues keep on disk, as last measured, the largest first, at most so many.';
REVOKE ALL ON FUNCTION queen.list_retained_bytes_v1(integer) FROM PUBLIC;
