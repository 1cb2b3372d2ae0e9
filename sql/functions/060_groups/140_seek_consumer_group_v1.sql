/*
 * Purpose:     move the cursors of a group, forwards or back: on one partition or on all of a queue, to the end or to a time.
 *              Nothing else moves a cursor back. Live leases end, counters of retries and attempts start anew; a late ack
 *              finds its lease gone. The cursor is made where there is none.
 * Locks:       the advisory locks of (queue, group), which keep off registration, whoever raises the floor, and first
 *              contacts; the queue row FOR KEY SHARE; partitions without a cursor FOR KEY SHARE, ids ascending; then the
 *              cursors, ids ascending. Waits for acks and pops that hold a cursor, 5 s at most.
 * Isolation:   READ COMMITTED only: heads are read after the cursors are locked.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row a partition of the queue; for a time also a walk along the key from the log start to it.
 * Idempotency: to a time yes; to the end it is the end of now.
 * Raises:      QN400 for bad names, neither end nor time, a time that cannot be read; QN404 for an unknown queue or
 *              partition, or a queue without partitions; 55P03 when somebody holds a cursor for 5 s.
 * Source:      A-36, O-12, O-15, http-api 4.7.
 */
CREATE OR REPLACE FUNCTION queen.seek_consumer_group_v1(
    p_queue text,
    p_group text,
    p_to_end boolean DEFAULT false,
    p_timestamp text DEFAULT NULL,
    p_partition text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET timezone = 'UTC'
SET lock_timeout = '5s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_queue_id uuid;
    v_since timestamptz;
    v_count integer;
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(p_queue, 'queue');
    PERFORM queen._check_name(p_group, 'consumerGroup');
    IF p_partition IS NOT NULL THEN
        PERFORM queen._check_name(p_partition, 'partition');
    END IF;
    IF NOT coalesce(p_to_end, false) THEN
        IF coalesce(p_timestamp, '') = '' THEN
            PERFORM queen._raise('QN400', 'Must specify toEnd=true or a timestamp', 'timestamp');
        END IF;
        v_since := queen._parse_time(p_timestamp, 'timestamp');
    END IF;
    SELECT q.id INTO v_queue_id FROM queen.queues q
    WHERE q.tenant_id = v_tenant AND q.name = p_queue AND q.deleted_at IS NULL;
    v_count := queen._seek(v_queue_id, p_group, v_since, p_partition);
    IF v_count > 0 THEN
        PERFORM queen._touch_group(v_queue_id, p_group);
    END IF;
    IF p_partition IS NOT NULL THEN
        IF v_count = 0 THEN
            PERFORM queen._raise('QN404', 'Partition not found');
        END IF;
        RETURN json_build_object(
            'success', true, 'consumerGroup', p_group, 'queueName', p_queue, 'partitionName', p_partition,
            'seekToEnd', v_since IS NULL, 'targetTimestamp', queen._utc_ms(v_since), 'updated', true);
    END IF;
    IF v_count = 0 THEN
        PERFORM queen._raise('QN404', 'Queue not found or has no partitions');
    END IF;
    RETURN json_build_object(
        'success', true, 'consumerGroup', p_group, 'queueName', p_queue,
        'seekToEnd', v_since IS NULL, 'targetTimestamp', queen._utc_ms(v_since), 'partitionsUpdated', v_count);
END $$;
COMMENT ON FUNCTION queen.seek_consumer_group_v1(text, text, boolean, text, text, uuid) IS
'Move a consumer group to the end of a queue (or of one partition), or to just before the first messages stored at or after a time. Leases end, and what was in flight may come again.';
REVOKE ALL ON FUNCTION queen.seek_consumer_group_v1(text, text, boolean, text, text, uuid) FROM PUBLIC;

/*
 * Purpose:     the move itself; p_since NULL is the end, p_partition NULL every partition. Answers how many there are.
 * Locks:       as seek_consumer_group_v1.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      as seek_consumer_group_v1.  Idempotency: as there.  Raises: 55P03.
 * Source:      A-36.
 */
CREATE OR REPLACE FUNCTION queen._seek(
    p_queue_id uuid,
    p_group text,
    p_since timestamptz,
    p_partition text
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_floor timestamptz := queen._quiet_mark();
    v_ids uuid[];
    v_count integer;
BEGIN
    PERFORM pg_advisory_xact_lock(queen._floor_lock(p_queue_id, p_group));
    PERFORM pg_advisory_xact_lock(queen._cursors_lock(p_queue_id, p_group));
    PERFORM FROM queen.queues q WHERE q.id = p_queue_id FOR KEY SHARE;
    v_ids := ARRAY(
        SELECT p.id FROM queen.log_partitions p
        WHERE p.queue_id = p_queue_id AND (p_partition IS NULL OR p.name = p_partition)
        ORDER BY p.id);
    -- A cursor that is missing is made under the lock of its partition, or it could outlive it.
    INSERT INTO queen.log_consumers (partition_id, consumer_group)
    SELECT l.id, p_group
    FROM (
        SELECT p.id FROM queen.log_partitions p
        WHERE p.id = ANY (v_ids)
          AND NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = p.id AND c.consumer_group = p_group)
        ORDER BY p.id
        FOR KEY SHARE
    ) l
    ON CONFLICT (partition_id, consumer_group) DO NOTHING;
    PERFORM FROM queen.log_consumers c
    WHERE c.partition_id = ANY (v_ids) AND c.consumer_group = p_group
    ORDER BY c.partition_id
    FOR UPDATE;
    UPDATE queen.log_consumers c
    SET committed = CASE WHEN p_since IS NULL THEN h.head_offset ELSE coalesce((
            SELECT s.base_offset - 1
            FROM queen.log_segments s
            WHERE s.partition_id = h.id AND s.base_offset >= h.log_start AND s.created_at >= p_since
            ORDER BY s.base_offset
            LIMIT 1), h.head_offset) END,
        batch_end = NULL, worker_id = NULL, lease_expires_at = NULL, lease_acquired_at = NULL, lease_conflated = false,
        batch_retry_count = 0, attempt_offset = NULL, attempt_count = 0
    FROM queen.partition_head h
    WHERE h.id = ANY (v_ids) AND c.partition_id = h.id AND c.consumer_group = p_group;
    GET DIAGNOSTICS v_count = ROW_COUNT;
    -- What is owed again may lie below the floor: all of it is searched anew, or the one partition is held. At the end
    -- nothing is owed but what was not visible before the heads were read.
    IF p_partition IS NOT NULL THEN
        UPDATE queen.consumer_watermarks w SET held = ARRAY(SELECT DISTINCT x.id FROM unnest(w.held || v_ids) x (id))
        WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group;
    ELSE
        DELETE FROM queen.consumer_watermarks w WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group;
        IF p_since IS NULL AND v_count > 0 THEN
            PERFORM queen._start_at_floor(p_queue_id, p_group, v_floor);
        END IF;
    END IF;
    RETURN v_count;
END $$;
REVOKE ALL ON FUNCTION queen._seek(uuid, text, timestamptz, text) FROM PUBLIC;
