/*
 * Purpose:     one queue in detail: identity, all 21 options, every partition with its counts, totals.
 * Locks:       none.
 * Isolation:   any; STABLE keeps every read on one snapshot.
 * Volatility:  STABLE.
 * Bounds:      partitions x groups rows, the queue's visible segment rows (no payload is read) and its dead letters.
 * Idempotency: yes.
 * Raises:      QN404 when there is no such queue.
 * Source:      C-20 to C-22, S-15 to S-17, E-6.
 */
CREATE OR REPLACE FUNCTION queen._partition_document(
    p_row queen.backlog_row,
    p_dead bigint
) RETURNS json
LANGUAGE sql STABLE AS $$
    SELECT json_build_object(
        'id', p_row.partition_id,
        'name', p_row.name,
        'createdAt', queen._utc_ms(p_row.created_at),
        'stats', json_build_object(
            'total', p_row.total,
            'pending', p_row.pending,
            'processing', p_row.processing,
            'completed', greatest(p_row.total - p_row.pending - p_dead, 0),
            'failed', NULL,
            'deadLetter', p_dead),
        'oldestMessage', queen._utc_ms(CASE WHEN p_row.pending > 0
            THEN queen._oldest_pending_at(p_row.partition_id, p_row.log_start, p_row.next_offset) END),
        'newestMessage', queen._utc_ms(CASE WHEN p_row.head_offset >= p_row.log_start THEN p_row.head_stamp END))
$$;
REVOKE ALL ON FUNCTION queen._partition_document(queen.backlog_row, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen.get_queue_v1(
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
                b AS row, b.name, b.total, b.pending, b.processing,
                (SELECT count(*) FROM queen.log_dlq d WHERE d.partition_id = b.partition_id) AS dead,
                s.segments, s.bytes
            FROM queen._backlog(ARRAY[r_queue.id], NULL) b
            CROSS JOIN LATERAL queen._stored(b.partition_id, b.log_start) s
        ),
        whole AS (
            SELECT
                coalesce(sum(p.total), 0) AS total,
                coalesce(sum(p.pending), 0) AS pending,
                coalesce(sum(p.processing), 0) AS processing,
                coalesce(sum(greatest(p.total - p.pending - p.dead, 0)), 0) AS completed,
                coalesce(sum(p.dead), 0) AS dead,
                coalesce(sum(p.segments), 0) AS segments,
                coalesce(sum(p.bytes), 0) AS bytes,
                coalesce(json_agg(queen._partition_document(p.row, p.dead) ORDER BY p.name COLLATE "C"), '[]') AS partitions
            FROM part p
        )
        SELECT json_build_object(
            'id', r_queue.id,
            'name', r_queue.name,
            'namespace', coalesce(r_queue.namespace, ''),
            'task', coalesce(r_queue.task, ''),
            'createdAt', queen._utc_ms(r_queue.created_at),
            'options', queen._options_document(r_queue),
            'partitions', w.partitions,
            'totals', json_build_object(
                'total', w.total,
                'pending', w.pending,
                'processing', w.processing,
                'completed', w.completed,
                'failed', NULL,
                'deadLetter', w.dead),
            'retainedBytes', w.bytes,
            'segments', json_build_object('segments', w.segments, 'messages', w.total))
        FROM whole w);
END $$;
COMMENT ON FUNCTION queen.get_queue_v1(text, uuid) IS
'Everything about one queue: its options, its partitions with their counts, oldest pending and newest message, and the totals.';
REVOKE ALL ON FUNCTION queen.get_queue_v1(text, uuid) FROM PUBLIC;
