/*
 * Purpose:     what a subscription wish means: mode all, new or timestamp, and its instant. Queue mode is always all.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: the text "now" reads the clock of the statement.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing: a time that PostgreSQL cannot read counts as new (O-14).
 * Source:      O-14, E-36, F037.
 */
CREATE OR REPLACE FUNCTION queen._subscription(
    p_group text,
    p_mode text,
    p_from text,
    OUT mode text,
    OUT since timestamptz
)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    mode := 'all';
    since := 'epoch';
    IF p_group COLLATE "C" = '__QUEUE_MODE__' THEN
        RETURN;
    END IF;
    IF coalesce(btrim(p_from), '') <> '' AND lower(btrim(p_from)) <> 'now' THEN
        BEGIN
            since := p_from::timestamptz;
            mode := 'timestamp';
            RETURN;
        EXCEPTION WHEN data_exception THEN
            NULL;
        END;
        mode := 'new';
    ELSIF lower(btrim(p_from)) = 'now' OR lower(btrim(p_mode)) IN ('new', 'new-only', 'new_only', 'newonly') THEN
        mode := 'new';
    END IF;
    IF mode = 'new' THEN
        since := clock_timestamp();
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._subscription(text, text, text) FROM PUBLIC;

/*
 * Purpose:     the subscription time of a call that repeats, for a caller that waits, one that found nothing p_waited_ms ago: a
 *              wish for what is new counts from then (0: from now), else the push that made the partition would be skipped.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: reads the clock.
 * Bounds:      waits of a day.  Idempotency: none.  Raises: nothing.
 * Source:      O-14, O-16, F035.
 */
CREATE OR REPLACE FUNCTION queen._since_wait(
    p_mode text,
    p_from text,
    p_waited_ms integer
) RETURNS text
LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN p_waited_ms > 0
             AND (lower(btrim(p_from)) = 'now'
                  OR coalesce(btrim(p_from), '') = '' AND lower(btrim(p_mode)) IN ('new', 'new-only', 'new_only', 'newonly'))
            THEN queen._utc(clock_timestamp() - make_interval(secs => least(p_waited_ms, 90000000) / 1000.0))
        ELSE p_from END
$$;
REVOKE ALL ON FUNCTION queen._since_wait(text, text, integer) FROM PUBLIC;

/*
 * Purpose:     where a cursor of a partition starts: all = before the log start; new = at the head; timestamp = before
 *              the first segment stamped at or after the instant, else at the head.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: needs a fresh snapshot.
 * Bounds:      a forward key walk from the log start to the instant.
 * Idempotency: reads only.  Raises: nothing; NULL when the partition is gone.
 * Source:      O-15, O-18, F035.
 */
CREATE OR REPLACE FUNCTION queen._seed_cursor(
    p_partition_id uuid,
    p_mode text,
    p_since timestamptz
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_head queen.partition_head;
BEGIN
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    RETURN CASE p_mode
        WHEN 'all' THEN greatest(r_head.log_start - 1, -1)
        WHEN 'new' THEN r_head.head_offset
        ELSE coalesce((
            SELECT s.base_offset - 1
            FROM queen.log_segments s
            WHERE s.partition_id = p_partition_id AND s.base_offset >= r_head.log_start AND s.created_at >= p_since
            ORDER BY s.base_offset
            LIMIT 1), r_head.head_offset)
    END;
END $$;
REVOKE ALL ON FUNCTION queen._seed_cursor(uuid, text, timestamptz) FROM PUBLIC;

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
    INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, last_empty_scan_at)
    SELECT p_queue_id, p_group, v_floor
    WHERE r_sub.mode = 'new' AND v_floor IS NOT NULL
      AND v_seeded = (SELECT count(*) FROM queen.log_partitions p WHERE p.queue_id = p_queue_id)
    ON CONFLICT (queue_id, consumer_group) DO NOTHING;
EXCEPTION WHEN foreign_key_violation THEN
    PERFORM queen._raise('40001', 'the queue was deleted meanwhile; retry the call');
END $$;
REVOKE ALL ON FUNCTION queen._register_group(uuid, uuid, text, text, text, boolean) FROM PUBLIC;

/*
 * Purpose:     register a group on a queue, made when missing, but do not wait for long on somebody who makes or deletes the
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
    p_conflation boolean DEFAULT false
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_before text := current_setting('lock_timeout');
    v_queue_id uuid;
BEGIN
    PERFORM set_config('lock_timeout', '50ms', true);
    v_queue_id := queen._ensure_queue(p_queue, p_tenant_id);
    PERFORM queen._register_group(v_queue_id, p_tenant_id, p_group, p_mode, p_from, p_conflation);
    PERFORM set_config('lock_timeout', v_before, true);
    RETURN (
        SELECT m.conflation FROM queen.consumer_groups_metadata m
        WHERE m.tenant_id = p_tenant_id AND m.consumer_group = p_group AND m.queue_id = v_queue_id
          AND m.partition_name = '' AND m.namespace = '' AND m.task = '');
EXCEPTION WHEN lock_not_available THEN
    RETURN NULL; -- the setting went back with what was made
END $$;
REVOKE ALL ON FUNCTION queen._register_unless_busy(text, uuid, text, text, text, boolean) FROM PUBLIC;
