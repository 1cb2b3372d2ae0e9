/*
 * Purpose:     one bounded step that removes the rows of deleted queues: messages from the oldest on, hashes, keys, cursors
 *              and dead letters, then the partition, then what hangs on the queue, then the queue. Each step leaves a state
 *              from which the next goes on, whoever runs it. Traces stay.
 * Locks:       advisory 737001 shared (whoever holds it exclusively stops every sweep); the queue FOR UPDATE SKIP LOCKED, so that
 *              nobody who adds a partition or a group to it is half way; its partitions FOR UPDATE SKIP LOCKED; their cursors and
 *              dead letters, SKIP LOCKED. It never waits: what another session holds is left to the next step.
 * Isolation:   READ COMMITTED only: what is left is looked for after the locks.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows (at most 10000) of all tables together.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 for p_max_rows below 1.
 * Source:      issue 4 item 8, R-49, design 5, T-13, F099.
 */
CREATE OR REPLACE FUNCTION queen.log_reclaim_step_v1(p_max_rows integer DEFAULT 1000) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET jit = off
AS $$
DECLARE
    r_out queen.step_row;
    v_max integer := least(p_max_rows, 10000);
    v_id uuid;
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    r_out.worked := 0;
    IF pg_try_advisory_xact_lock_shared(queen._lock_id('retention')) THEN
        FOREACH v_id IN ARRAY ARRAY(SELECT q.id FROM queen.queues q WHERE q.deleted_at IS NOT NULL ORDER BY q.deleted_at, q.id LIMIT v_max)
        LOOP
            PERFORM FROM queen.queues q WHERE q.id = v_id FOR UPDATE SKIP LOCKED;
            IF FOUND THEN
                r_out.worked := r_out.worked + queen._reclaim_queue(v_id, v_max - r_out.worked);
            END IF;
            EXIT WHEN r_out.worked >= v_max;
        END LOOP;
    END IF;
    r_out.done := r_out.worked < v_max;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_reclaim_step_v1(integer) IS
'One bounded step that removes the rows of deleted queues; answers how many went and whether none is left that can go now.';
REVOKE ALL ON FUNCTION queen.log_reclaim_step_v1(integer) FROM PUBLIC;

/*
 * Purpose:     the part of a step that goes to one queue, whose row the caller has locked FOR UPDATE in an earlier statement.
 *              What hangs on a queue is found in the catalogue, so that no table can be forgotten, and is removed in
 *              bounded pieces before the cascade would remove it at once.
 * Locks:       as log_reclaim_step_v1.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      p_max rows.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 4 item 8.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_queue(
    p_queue_id uuid,
    p_max integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_id uuid;
    v_done integer := 0;
    v_rows integer;
    r_leaf record;
BEGIN
    FOREACH v_id IN ARRAY ARRAY(SELECT p.id FROM queen.log_partitions p WHERE p.queue_id = p_queue_id ORDER BY p.name LIMIT p_max)
    LOOP
        PERFORM FROM queen.log_partitions p WHERE p.id = v_id FOR UPDATE SKIP LOCKED;
        IF FOUND THEN
            v_done := v_done + queen._reclaim_partition(v_id, p_max - v_done);
        END IF;
        EXIT WHEN v_done >= p_max;
    END LOOP;
    IF v_done >= p_max OR EXISTS (SELECT FROM queen.log_partitions p WHERE p.queue_id = p_queue_id) THEN
        RETURN v_done;
    END IF;
    FOR r_leaf IN
        SELECT c.conrelid::regclass AS tab, a.attname AS col
        FROM pg_catalog.pg_constraint c
        JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        WHERE c.confrelid = 'queen.queues'::regclass AND c.contype = 'f' AND c.conrelid <> 'queen.log_partitions'::regclass
        ORDER BY c.oid
    LOOP
        -- Dynamic: the tables are those of the catalogue.
        EXECUTE format('DELETE FROM %1$s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$s WHERE %2$I = $1 LIMIT $2 FOR UPDATE SKIP LOCKED))',
            r_leaf.tab, r_leaf.col) USING p_queue_id, p_max - v_done;
        GET DIAGNOSTICS v_rows = ROW_COUNT;
        v_done := v_done + v_rows;
        EXECUTE format('SELECT count(*) FROM (SELECT FROM %s WHERE %I = $1 LIMIT 1) x', r_leaf.tab, r_leaf.col) INTO v_rows USING p_queue_id;
        IF v_done >= p_max OR v_rows > 0 THEN
            RETURN v_done;
        END IF;
    END LOOP;
    DELETE FROM queen.queues q WHERE q.id = p_queue_id;
    RETURN v_done + 1;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_queue(uuid, integer) FROM PUBLIC;

/*
 * Purpose:     the part of a step that goes to one partition of a deleted queue, whose row the caller has locked FOR UPDATE in an
 *              earlier statement: so no push, first contact or seek is half way, and what comes later finds it gone. An ack
 *              under way holds its cursor, which is then left, and with it the partition. Messages go from the oldest on,
 *              each piece with its row of the audit.
 * Locks:       cursors and dead letters, SKIP LOCKED.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      p_max rows.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 4 item 8, design 3.2 rules 1, 3 and 5, R-6.
 */
CREATE OR REPLACE FUNCTION queen._reclaim_partition(
    p_partition_id uuid,
    p_max integer
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_left integer := p_max;
    v_rows integer;
BEGIN
    v_left := v_left - queen._reclaim_segments(p_partition_id, v_left);
    v_left := v_left - queen._reclaim_txns(p_partition_id, v_left);
    -- A compactor that reads keys holds this row, and no lock on the partition.
    DELETE FROM queen.log_compaction k WHERE k.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_compaction x WHERE x.partition_id = p_partition_id FOR UPDATE SKIP LOCKED));
    IF EXISTS (SELECT FROM queen.log_compaction k WHERE k.partition_id = p_partition_id) THEN
        RETURN p_max - v_left;
    END IF;
    DELETE FROM queen.log_keys k WHERE k.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_keys x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    DELETE FROM queen.log_dirty k WHERE k.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_dirty x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    -- Cursors before letters: an ack that files a letter holds its cursor.
    DELETE FROM queen.log_consumers c WHERE c.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_consumers x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    IF EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = p_partition_id) THEN
        RETURN p_max - v_left;
    END IF;
    DELETE FROM queen.log_dlq d WHERE d.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_dlq x WHERE x.partition_id = p_partition_id LIMIT v_left FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    v_left := v_left - v_rows;
    IF v_left <= 0
       OR EXISTS (SELECT FROM queen.log_dlq d WHERE d.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_segments s WHERE s.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_txns x WHERE x.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_keys k WHERE k.partition_id = p_partition_id)
       OR EXISTS (SELECT FROM queen.log_dirty k WHERE k.partition_id = p_partition_id) THEN
        RETURN p_max - v_left;
    END IF;
    DELETE FROM queen.log_partitions p WHERE p.id = p_partition_id;
    RETURN p_max - v_left + 1;
END $$;
REVOKE ALL ON FUNCTION queen._reclaim_partition(uuid, integer) FROM PUBLIC;

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
