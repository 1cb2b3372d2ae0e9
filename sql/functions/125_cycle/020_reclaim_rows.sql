/*
 * Purpose:     remove the oldest segments of a partition of a deleted queue. The start of the log moves first, in the same
 *              transaction; the audit counts what was visible, since what is below the start was counted when it went.
 * Locks:       none of its own: the caller holds the partition.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      p_max segments.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 4 item 8, design 3.2 rule 5.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_segments(
    p_partition_id uuid,
    p_max integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_start bigint;
    v_bases bigint[];
    v_end bigint;
BEGIN
    -- What is locked lies below the start and is being removed by a step of retention: to wait for it would be a deadlock.
    SELECT array_agg(x.base_offset), max(x.end_offset) INTO v_bases, v_end
    FROM (
        SELECT s.base_offset, s.end_offset FROM queen.log_segments s WHERE s.partition_id = p_partition_id
        ORDER BY s.base_offset LIMIT p_max FOR UPDATE SKIP LOCKED
    ) x;
    IF v_bases IS NULL THEN
        RETURN 0;
    END IF;
    SELECT p.log_start INTO v_start FROM queen.log_partitions p WHERE p.id = p_partition_id;
    PERFORM queen._move_log_start(p_partition_id, v_end + 1);
    WITH gone AS (
        DELETE FROM queen.log_segments s WHERE s.partition_id = p_partition_id AND s.base_offset = ANY (v_bases)
        RETURNING s.base_offset, s.end_offset, s.frames, s.bytes
    )
    INSERT INTO queen.retention_history
        (tenant_id, queue_id, partition_id, retention_type, messages_deleted, bytes_deleted, rows_deleted, first_offset, last_offset)
    SELECT q.tenant_id, q.id, p.id, '__queue_deleted__', g.frames, g.bytes, g.segments, g.first_offset, g.last_offset
    FROM queen.log_partitions p
    JOIN queen.queues q ON q.id = p.queue_id
    CROSS JOIN (
        SELECT sum(x.frames) AS frames, sum(x.bytes) AS bytes, count(*) AS segments, min(x.base_offset) AS first_offset, max(x.end_offset) AS last_offset
        FROM gone x WHERE x.base_offset >= v_start
    ) g
    WHERE p.id = p_partition_id AND g.segments > 0;
    RETURN cardinality(v_bases);
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_segments(uuid, integer) FROM PUBLIC;

/*
 * Purpose:     remove the oldest hash rows of a partition of a deleted queue, and move their watermark along.
 * Locks:       none of its own: the caller holds the partition.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      p_max rows.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 4 item 8, T-10.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_txns(
    p_partition_id uuid,
    p_max integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows integer;
BEGIN
    DELETE FROM queen.log_txns x WHERE x.partition_id = p_partition_id AND x.base_offset = ANY (ARRAY(
        SELECT t.base_offset FROM queen.log_txns t WHERE t.partition_id = p_partition_id ORDER BY t.base_offset LIMIT p_max FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    IF v_rows > 0 THEN
        UPDATE queen.log_partitions p SET (txns_start, oldest_txn_at) = (
            SELECT coalesce(min(f.base_offset), greatest(p.txns_start, p.log_start)), min(f.created_at)
            FROM (SELECT t.base_offset, t.created_at FROM queen.log_txns t WHERE t.partition_id = p.id ORDER BY t.base_offset LIMIT 1) f)
        WHERE p.id = p_partition_id;
    END IF;
    RETURN v_rows;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_txns(uuid, integer) FROM PUBLIC;
