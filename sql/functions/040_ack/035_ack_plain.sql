/*
 * Purpose:     apply, for many cursors at once, the acks that are as ordinary as can be: the whole of a leased batch, in the
 *              order it was delivered, all completed, one group of items for the cursor. What they do is what _ack_group does
 *              with them. Answers the positions (from 1) of the groups that were carried out; the others were not touched.
 * Locks:       consumer rows, FOR UPDATE SKIP LOCKED; never a partition row.
 * Isolation:   READ COMMITTED: the sidecar is read after the cursors are locked.
 * Volatility:  VOLATILE: writes.
 * Bounds:      a few key probes a group.
 * Idempotency: the cursor moves only through greatest; a repeat finds no lease and is left to _ack_group.
 * Raises:      nothing.
 * Source:      A-4..A-9, A-13, design 3.4; perf 4 (push, take and ack of one message a call by many callers).
 */
CREATE OR REPLACE FUNCTION queen._ack_plain(
    p_tenant_id uuid,
    p_partition_ids uuid[],
    p_consumer_groups text[],
    p_lease_ids text[],
    p_counts integer[],
    p_transaction_ids text[],
    p_statuses text[]
) RETURNS integer[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_held record;
    v_done integer[];
BEGIN
    SELECT array_agg(g.ord) AS ords, array_agg(g.id) AS ids, array_agg(g.start) AS starts, array_agg(c.committed) AS committed,
           array_agg(c.batch_end) AS batch_ends
    INTO r_held
    FROM (
        SELECT w.*, count(*) OVER (PARTITION BY w.id, w.grp COLLATE "C") AS same
        FROM (
            SELECT x.id, x.grp, x.lease, x.cnt, x.ord::integer AS ord, (sum(x.cnt) OVER (ORDER BY x.ord))::integer - x.cnt AS start
            FROM unnest(p_partition_ids, p_consumer_groups, p_lease_ids, p_counts) WITH ORDINALITY x (id, grp, lease, cnt, ord)
        ) w
    ) g
    JOIN queen.log_partitions p ON p.id = g.id
    JOIN queen.queues q ON q.id = p.queue_id AND q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
    CROSS JOIN LATERAL (
        -- The limit keeps it a probe for each row, whatever the statistics say.
        SELECT k.committed, k.batch_end FROM queen.log_consumers k
        WHERE k.partition_id = g.id AND k.consumer_group = g.grp
          AND k.worker_id = g.lease COLLATE "C" AND k.lease_expires_at > clock_timestamp()
          AND NOT k.lease_conflated AND k.batch_end - k.committed = g.cnt
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    ) c
    WHERE g.same = 1 AND g.cnt > 0 AND g.lease <> ''
      AND 'completed' = ALL (p_statuses[g.start + 1 : g.start + g.cnt]);

    WITH whole AS (
        SELECT h.ord, h.id, h.batch_end
        FROM unnest(r_held.ords, r_held.ids, r_held.starts, r_held.committed, r_held.batch_ends) h (ord, id, start, committed, batch_end)
        CROSS JOIN LATERAL (
            SELECT x.base_offset, x.end_offset, x.hashes FROM queen.log_txns x
            WHERE x.partition_id = h.id AND x.base_offset <= h.committed + 1
            ORDER BY x.base_offset DESC
            LIMIT 1
        ) t
        WHERE CASE
            WHEN t.end_offset >= h.batch_end THEN t.hashes[h.committed - t.base_offset + 2 : h.batch_end - t.base_offset + 1]
            ELSE ARRAY(
                SELECT e.hash FROM queen.log_txns x
                CROSS JOIN LATERAL unnest(x.hashes[greatest(h.committed - x.base_offset + 2, 1) : h.batch_end - x.base_offset + 1])
                    WITH ORDINALITY e (hash, ord)
                WHERE x.partition_id = h.id AND x.base_offset BETWEEN t.base_offset AND h.batch_end
                ORDER BY x.base_offset, e.ord) END
            = queen._id_hashes(h.id, p_transaction_ids[h.start + 1 : h.start + (h.batch_end - h.committed)::integer])
    ), moved AS (
        UPDATE queen.log_consumers c
        SET committed = greatest(c.committed, w.batch_end), total_consumed = c.total_consumed + w.batch_end - c.committed,
            batch_end = NULL, worker_id = NULL, lease_expires_at = NULL, batch_retry_count = 0, attempt_offset = NULL, attempt_count = 0
        FROM whole w
        WHERE c.partition_id = w.id AND c.consumer_group = p_consumer_groups[w.ord]
        RETURNING w.ord
    )
    SELECT coalesce(array_agg(m.ord), '{}'::integer[]) INTO v_done FROM moved m;
    RETURN v_done;
END $$;
REVOKE ALL ON FUNCTION queen._ack_plain(uuid, uuid[], text[], text[], integer[], text[], text[]) FROM PUBLIC;

/*
 * Purpose:     the same for one cursor, by statements of one table each, which is less to set up. False, and nothing written,
 *              when anything is out of the common; _ack_group then judges it.
 * Locks:       the consumer row, FOR UPDATE SKIP LOCKED; kept also when the answer is false. See also _touch_group.
 * Isolation:   READ COMMITTED: the sidecar is read after the cursor is locked.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the sidecar rows of the batch.
 * Idempotency: as _ack_plain.  Raises: nothing.
 * Source:      A-4..A-9, A-13, design 3.4; perf 4 (push, take and ack at once).
 */
CREATE OR REPLACE FUNCTION queen._ack_batch(
    p_tenant_id uuid,
    p_partition_id uuid,
    p_group text,
    p_lease_id text,
    p_ids text[],
    p_statuses text[]
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_queue_id uuid := (SELECT p.queue_id FROM queen.log_partitions p WHERE p.id = p_partition_id);
    r_cur record;
BEGIN
    PERFORM FROM queen.queues q WHERE q.id = v_queue_id AND q.tenant_id = p_tenant_id AND q.deleted_at IS NULL;
    IF NOT FOUND OR NOT 'completed' = ALL (p_statuses) THEN
        RETURN false;
    END IF;
    SELECT c.committed, c.batch_end INTO r_cur
    FROM queen.log_consumers c
    WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
      AND c.worker_id = p_lease_id COLLATE "C" AND c.lease_expires_at > clock_timestamp()
      AND NOT c.lease_conflated AND c.batch_end - c.committed = cardinality(p_ids)
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND OR (queen._span_hashes(p_partition_id, r_cur.committed + 1, r_cur.batch_end) = queen._id_hashes(p_partition_id, p_ids)) IS NOT TRUE THEN
        RETURN false;
    END IF;
    UPDATE queen.log_consumers c
    SET committed = r_cur.batch_end, total_consumed = c.total_consumed + r_cur.batch_end - r_cur.committed,
        batch_end = NULL, worker_id = NULL, lease_expires_at = NULL, batch_retry_count = 0, attempt_offset = NULL, attempt_count = 0
    WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
    PERFORM queen._touch_group(v_queue_id, p_group);
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION queen._ack_batch(uuid, uuid, text, text, text[], text[]) FROM PUBLIC;
