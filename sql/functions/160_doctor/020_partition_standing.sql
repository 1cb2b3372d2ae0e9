/*
 * Purpose:     where every partition of a tenant's queues stands, with its dead letters, its size and the age of what it
 *              owes: the rows of queen.partition_status, which queen.queue_status adds up.
 * Locks:       none.  Isolation: any; one statement, so every number is of one moment.
 * Volatility:  VOLATILE: ages are of this moment.
 * Bounds:      partitions x groups of the queues, five key probes of segments a partition, its dead letters.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      S-11 to S-18, S-20, design 3.2 rules 4 and 7.
 */
CREATE OR REPLACE FUNCTION queen._partition_standing(
    p_tenant_id uuid,
    p_queue text
) RETURNS SETOF queen.partition_status_row
LANGUAGE sql VOLATILE AS $$
    SELECT
        q.name, b.name, b.log_start, b.head_offset,
        b.total, b.pending, b.processing, b.pending - b.processing, greatest(b.total - b.pending - d.dead, 0), d.dead,
        o.oldest_at,
        queen._age_seconds(o.oldest_at),
        CASE WHEN b.head_offset >= b.log_start THEN b.head_stamp END,
        queen._partition_size(h.id, h.log_start, h.head_cum, h.removed_bytes),
        h.last_write_at, h.settled, h.created_at, q.id, h.id
    FROM queen._backlog(ARRAY(
        SELECT x.id
        FROM queen.queues x
        WHERE x.tenant_id = p_tenant_id AND x.deleted_at IS NULL AND (p_queue IS NULL OR x.name = p_queue COLLATE "C")), NULL) b
    JOIN queen.partition_head h ON h.id = b.partition_id
    JOIN queen.queues q ON q.id = b.queue_id
    CROSS JOIN LATERAL (SELECT count(*) AS dead FROM queen.log_dlq l WHERE l.partition_id = h.id) d
    CROSS JOIN LATERAL (
        SELECT CASE WHEN b.pending > 0 THEN queen._oldest_pending_at(h.id, h.log_start, b.next_offset) END AS oldest_at
    ) o
$$;
REVOKE ALL ON FUNCTION queen._partition_standing(uuid, text) FROM PUBLIC;
