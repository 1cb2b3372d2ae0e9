/*
 * Purpose:     the queues of a tenant by a label, 'namespace' or 'task'; those without one are left out.
 * Locks:       none.  Isolation: any; one statement.
 * Volatility:  STABLE.
 * Bounds:      the queues of the tenant and their partitions.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      C-31, S-26.
 */
CREATE OR REPLACE FUNCTION queen._labels(
    p_kind text,
    p_tenant_id uuid
) RETURNS TABLE (
    label text,
    queues bigint,
    partitions bigint,
    total bigint,
    pending bigint
)
LANGUAGE sql STABLE AS $$
    SELECT l.label, count(*), coalesce(sum(p.partitions), 0)::bigint,
        coalesce(sum(s.total_messages), 0)::bigint, coalesce(sum(s.pending_messages), 0)::bigint
    FROM (
        SELECT q.id, CASE p_kind WHEN 'namespace' THEN q.namespace WHEN 'task' THEN q.task END AS label
        FROM queen.queues q
        WHERE q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
    ) l
    LEFT JOIN (
        SELECT p.queue_id, count(*) AS partitions
        FROM queen.log_partitions p
        GROUP BY p.queue_id
    ) p ON p.queue_id = l.id
    LEFT JOIN queen.stats s ON s.stat_type = 'queue' AND s.queue_id = l.id
    WHERE l.label <> ''
    GROUP BY l.label
$$;
REVOKE ALL ON FUNCTION queen._labels(text, uuid) FROM PUBLIC;
