/*
 * Purpose:     the document of GET /api/v1/status/queues/:queue, the older detail of a queue. All of it is live.
 * Locks:       none.
 * Isolation:   any; STABLE keeps every read on one snapshot.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows of the queue and its dead letters; key probes of segments.
 * Idempotency: reads only.
 * Raises:      QN404 when there is no such queue.
 * Source:      C-21 to C-23, http-api 5.4. batchesConsumed is 0: cursors do not count batches.
 */
CREATE OR REPLACE FUNCTION queen.get_queue_status_v1(
    p_queue text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    r_queue queen.queues := queen._find_queue(p_queue, queen._tenant(p_tenant_id));
BEGIN
    RETURN (
        WITH part AS (
            SELECT
                b.name, queen._partition_document(b, d.dead) AS doc, d.dead, b.total, b.pending, b.processing,
                c.consumed, c.active_at
            FROM queen._backlog(ARRAY[r_queue.id], NULL) b
            CROSS JOIN LATERAL (
                SELECT count(*) AS dead FROM queen.log_dlq d WHERE d.partition_id = b.partition_id
            ) d
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(k.total_consumed), 0) AS consumed, max(k.lease_acquired_at) AS active_at
                FROM queen.log_consumers k WHERE k.partition_id = b.partition_id
            ) c
        )
        SELECT json_build_object(
            'queue', json_build_object(
                'id', r_queue.id,
                'name', r_queue.name,
                'namespace', coalesce(r_queue.namespace, ''),
                'task', coalesce(r_queue.task, ''),
                'priority', r_queue.priority,
                'createdAt', queen._utc_ms(r_queue.created_at),
                'config', json_build_object(
                    'leaseTime', r_queue.lease_time,
                    'retryLimit', coalesce(r_queue.retry_limit, 3),
                    'retryDelay', r_queue.retry_delay,
                    'ttl', r_queue.ttl,
                    'maxQueueSize', r_queue.max_queue_size,
                    'deadLetterQueue', coalesce(r_queue.dead_letter_queue, true))),
            'partitions', coalesce(json_agg(json_build_object(
                'id', p.doc -> 'id',
                'name', p.name,
                'createdAt', p.doc -> 'createdAt',
                'messages', p.doc -> 'stats',
                'stats', p.doc -> 'stats',
                'cursor', json_build_object('totalConsumed', p.consumed, 'batchesConsumed', 0),
                'lastActivity', queen._utc_ms(p.active_at),
                'oldestMessage', p.doc -> 'oldestMessage',
                'newestMessage', p.doc -> 'newestMessage') ORDER BY p.name COLLATE "C"), '[]'),
            'totals', json_build_object('messages', json_build_object(
                'total', coalesce(sum(p.total), 0),
                'pending', coalesce(sum(p.pending), 0),
                'processing', coalesce(sum(p.processing), 0),
                'completed', coalesce(sum(greatest(p.total - p.pending - p.dead, 0)), 0),
                'failed', NULL,
                'deadLetter', coalesce(sum(p.dead), 0))))
        FROM part p);
END $$;
COMMENT ON FUNCTION queen.get_queue_status_v1(text, uuid) IS
'One queue with its partitions, how much of each was consumed and when it was last leased, counted now.';
REVOKE ALL ON FUNCTION queen.get_queue_status_v1(text, uuid) FROM PUBLIC;
