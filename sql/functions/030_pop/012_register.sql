/*
 * Purpose:     register a group on a queue at its first queue-wide pop. The one call that really inserts the row seeds
 *              the cursors of every existing partition; the others wait for that one transaction.
 * Locks:       the advisory lock of (queue, group), the registration row (insert-or-ignore), then new consumer rows.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row a partition of the queue, once in the life of a group.
 * Idempotency: yes.
 * Raises:      40001 when the queue is deleted meanwhile.
 * Source:      O-13..O-17, O-52 (the first caller's wish for conflation stays), E-34, E-35, F026, F035.
 */
CREATE OR REPLACE FUNCTION queen._register_group(
    p_queue_id uuid,
    p_tenant_id uuid,
    p_group text,
    p_mode text,
    p_from text,
    p_conflation boolean DEFAULT false
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_sub record;
    v_id uuid;
    v_floor timestamptz := queen._quiet_mark();
    v_seeded bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(queen._floor_lock(p_queue_id, p_group));
    r_sub := queen._subscription(p_group, p_mode, p_from);
    INSERT INTO queen.consumer_groups_metadata (tenant_id, consumer_group, queue_id, subscription_mode, subscription_timestamp, conflation)
    VALUES (p_tenant_id, p_group, p_queue_id, r_sub.mode, r_sub.since, p_conflation)
    ON CONFLICT (tenant_id, consumer_group, queue_id, partition_name, namespace, task) DO NOTHING
    RETURNING id INTO v_id;
    IF v_id IS NULL THEN
        RETURN;
    END IF;
    DELETE FROM queen.consumer_watermarks w WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group;
    -- As _seed_cursor, for all partitions in one statement.
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed)
    SELECT h.id, p_group, CASE r_sub.mode
        WHEN 'all' THEN greatest(h.log_start - 1, -1)
        WHEN 'new' THEN h.head_offset
        ELSE coalesce((
            SELECT s.base_offset - 1
            FROM queen.log_segments s
            WHERE s.partition_id = h.id AND s.base_offset >= h.log_start AND s.created_at >= r_sub.since
            ORDER BY s.base_offset
            LIMIT 1), h.head_offset)
        END
    FROM queen.partition_head h
    WHERE h.queue_id = p_queue_id
      -- Insert-or-ignore would wait for whoever is updating a cursor that exists already.
      AND NOT EXISTS (SELECT FROM queen.log_consumers c WHERE c.partition_id = h.id AND c.consumer_group = p_group)
    ORDER BY h.id
    ON CONFLICT (partition_id, consumer_group) DO NOTHING;
    -- A group that begins at every head owes nothing yet, so its search need not walk over all of them.
    GET DIAGNOSTICS v_seeded = ROW_COUNT;
    IF r_sub.mode = 'new' AND v_seeded = (SELECT count(*) FROM queen.log_partitions p WHERE p.queue_id = p_queue_id) THEN
        PERFORM queen._start_at_floor(p_queue_id, p_group, v_floor);
    END IF;
EXCEPTION WHEN foreign_key_violation THEN
    PERFORM queen._raise('40001', 'the queue was deleted meanwhile; retry the call');
END $$;
REVOKE ALL ON FUNCTION queen._register_group(uuid, uuid, text, text, text, boolean) FROM PUBLIC;

/*
 * Purpose:     register a group on a queue, made when missing (never when its id is given), but do not wait for long on somebody who makes or deletes the
 *              queue or registers the group: the next pop tries again. Answers whether the group conflates, NULL when it is not
 *              registered.
 * Locks:       as _ensure_queue and _register_group, for 50 ms at most; all are given back when that was not enough.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      as _register_group.  Idempotency: yes.
 * Raises:      as _register_group.
 * Source:      O-13, O-52, design 3.3 (stalls only its own partitions), F048.
 */
CREATE OR REPLACE FUNCTION queen._register_unless_busy(
    p_queue text,
    p_tenant_id uuid,
    p_group text,
    p_mode text,
    p_from text,
    p_conflation boolean DEFAULT false,
    p_queue_id uuid DEFAULT NULL
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_before text := current_setting('lock_timeout');
    v_queue_id uuid := p_queue_id;
BEGIN
    IF v_queue_id IS NOT NULL AND NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = v_queue_id AND q.deleted_at IS NULL) THEN
        RETURN NULL; -- deleted since the caller found it: a pop that waits must not make it again
    END IF;
    PERFORM set_config('lock_timeout', '50ms', true);
    IF v_queue_id IS NULL THEN
        v_queue_id := queen._ensure_queue(p_queue, p_tenant_id);
    END IF;
    PERFORM queen._register_group(v_queue_id, p_tenant_id, p_group, p_mode, p_from, p_conflation);
    PERFORM set_config('lock_timeout', v_before, true);
    RETURN (
        SELECT m.conflation FROM queen.consumer_groups_metadata m
        WHERE m.tenant_id = p_tenant_id AND m.consumer_group = p_group AND m.queue_id = v_queue_id
          AND m.partition_name = '' AND m.namespace = '' AND m.task = '');
EXCEPTION WHEN lock_not_available THEN
    RETURN NULL; -- the setting went back with what was made
END $$;
REVOKE ALL ON FUNCTION queen._register_unless_busy(text, uuid, text, text, text, boolean, uuid) FROM PUBLIC;
