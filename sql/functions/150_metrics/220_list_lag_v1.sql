/*
 * Purpose:     how far behind queues and groups are, the furthest first: for gauges, which cannot grow without bound.
 * Locks:       none.  Isolation: any; each of the two kinds is of one moment.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups, a key probe of segments where the head is not settled; at most p_max_rows rows of each kind.
 * Idempotency: reads only.
 * Raises:      nothing; nothing is returned when p_max_rows is not positive.
 * Source:      issue 5 item 5 (lag per queue and group with a cap), S-11, S-18; the lag of a group is that of its depth (C-24).
 */
CREATE OR REPLACE FUNCTION queen.list_lag_v1(p_max_rows integer DEFAULT 1000) RETURNS SETOF queen.lag_row
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off
SET work_mem = '32MB'
AS $$
    (SELECT q.name, NULL, sum(s.pending_messages)::bigint, max(s.max_lag_seconds), sum(s.dead_letter_messages)::bigint, count(*) OVER ()
     FROM queen.stats s
     JOIN queen.queues q ON q.id = s.queue_id AND q.deleted_at IS NULL
     WHERE (q.tenant_id = (SELECT queen._current_tenant()) OR (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001'))
       AND s.stat_type = 'queue' AND (s.pending_messages > 0 OR s.dead_letter_messages > 0)
     GROUP BY q.name
     ORDER BY 4 DESC, 3 DESC, 1
     LIMIT greatest(p_max_rows, 0))
    UNION ALL
    -- As group_status has it: partitions that the group has not touched yet are owed too, what compaction took is not.
    (SELECT g.queue, g.consumer_group, sum(g.lag)::bigint, 0, 0, count(*) OVER ()
     FROM (SELECT DISTINCT q.tenant_id
           FROM queen.queues q
           WHERE (q.tenant_id = (SELECT queen._current_tenant()) OR (SELECT queen._sees_all_tenants() OR queen._current_tenant() = '00000000-0000-0000-0000-000000000001'))
             AND q.deleted_at IS NULL AND p_max_rows > 0) t
     CROSS JOIN LATERAL queen._group_standing(t.tenant_id, NULL) g
     GROUP BY g.queue, g.consumer_group
     ORDER BY 3 DESC, 1, 2
     LIMIT greatest(p_max_rows, 0))
$$;
COMMENT ON FUNCTION queen.list_lag_v1(integer) IS
'How far behind queues and groups are, the furthest first, at most so many of each.';
REVOKE ALL ON FUNCTION queen.list_lag_v1(integer) FROM PUBLIC;
