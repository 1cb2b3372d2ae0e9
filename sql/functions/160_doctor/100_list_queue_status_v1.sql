/*
 * Purpose:     every queue with its numbers as they are now; the rates and the stored bytes are those that the reconciler
 *              and the retained-bytes lane counted last.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      as _partition_standing.
 * Idempotency: reads only.
 * Raises:      QN403 when a tenant is named without the right to.
 * Source:      S-11 to S-19, S-23, S-30, F131.
 */
CREATE OR REPLACE FUNCTION queen.list_queue_status_v1(
    p_queue text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.queue_status_row
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET jit = off AS $$
    SELECT
        q.name, coalesce(q.namespace, ''), coalesce(q.task, ''),
        coalesce(s.partitions, 0), coalesce(s.messages, 0), coalesce(s.pending, 0), coalesce(s.processing, 0),
        coalesce(s.pending - s.processing, 0), coalesce(s.completed, 0), coalesce(s.dead_letters, 0),
        s.oldest_pending_at, queen._age_seconds(s.oldest_pending_at), s.newest_message_at, coalesce(s.size_bytes, 0),
        coalesce(c.retained_bytes, 0), coalesce(c.ingested_per_second, 0), coalesce(c.processed_per_second, 0), c.last_computed_at,
        q.created_at, q.id
    FROM queen.queues q
    LEFT JOIN (
        SELECT
            p.queue_id, count(*) AS partitions,
            sum(p.messages)::bigint AS messages, sum(p.pending)::bigint AS pending, sum(p.processing)::bigint AS processing,
            sum(p.completed)::bigint AS completed, sum(p.dead_letters)::bigint AS dead_letters,
            min(p.oldest_pending_at) AS oldest_pending_at, max(p.newest_message_at) AS newest_message_at,
            sum(p.size_bytes)::bigint AS size_bytes
        FROM queen._partition_standing(queen._tenant(p_tenant_id), p_queue) p
        GROUP BY p.queue_id
    ) s ON s.queue_id = q.id
    LEFT JOIN queen.stats c ON c.stat_type = 'queue' AND c.stat_key = q.id::text COLLATE "C"
    WHERE q.tenant_id = (SELECT queen._tenant(p_tenant_id)) AND q.deleted_at IS NULL
      AND (p_queue IS NULL OR q.name = p_queue COLLATE "C")
    ORDER BY q.name
$$;
COMMENT ON FUNCTION queen.list_queue_status_v1(text, uuid) IS
'Queues with their numbers as they are now, all or the one that is named: the rows of the view queen.queue_status.';
REVOKE ALL ON FUNCTION queen.list_queue_status_v1(text, uuid) FROM PUBLIC;
