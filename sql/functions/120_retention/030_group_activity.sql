/*
 * Purpose:     note that a group did something on a queue, at most once a second; with p_lease_seconds, that it may hold a
 *              lease for so long.
 * Locks:       a row of the group that nobody holds, if there is one; else a row of its own. Never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one key probe, once a second one row.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      design 5 (groupIdleSeconds).
 */
CREATE OR REPLACE FUNCTION queen._touch_group(
    p_queue_id uuid,
    p_group text,
    p_lease_seconds integer DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    v_until timestamptz := v_now + make_interval(secs => greatest(p_lease_seconds, 0));
BEGIN
    IF EXISTS (
        SELECT FROM queen.group_activity a
        WHERE a.queue_id = p_queue_id AND a.consumer_group = p_group AND a.last_active_at > v_now - interval '1 second'
          AND (a.leased_until > v_until - interval '1 second' OR p_lease_seconds IS NULL)
    ) THEN
        RETURN;
    END IF;
    UPDATE queen.group_activity a
    SET last_active_at = greatest(a.last_active_at, v_now), leased_until = greatest(a.leased_until, v_until)
    FROM (
        SELECT x.slot FROM queen.group_activity x
        WHERE x.queue_id = p_queue_id AND x.consumer_group = p_group
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) l
    WHERE a.queue_id = p_queue_id AND a.consumer_group = p_group AND a.slot = l.slot;
    IF NOT FOUND THEN
        INSERT INTO queen.group_activity (queue_id, consumer_group, slot, last_active_at, leased_until)
        VALUES (p_queue_id, p_group, queen._draw_nonce(), v_now, coalesce(v_until, v_now));
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._touch_group(uuid, text, integer) FROM PUBLIC;

/*
 * Purpose:     the same for the group and the queue of each partition given.
 * Locks:       as _touch_group.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      two key probes a different partition and group.  Idempotency: yes.  Raises: nothing.
 * Source:      design 5 (groupIdleSeconds).
 */
CREATE OR REPLACE FUNCTION queen._touch_lanes(
    p_partition_ids uuid[],
    p_groups text[],
    p_lease_seconds integer DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF cardinality(p_partition_ids) = 1 THEN
        PERFORM queen._touch_group(p.queue_id, p_groups[1], p_lease_seconds)
        FROM queen.log_partitions p WHERE p.id = p_partition_ids[1] AND p_groups[1] IS NOT NULL;
        RETURN;
    END IF;
    PERFORM queen._touch_group(g.queue_id, g.grp, p_lease_seconds)
    FROM (
        SELECT DISTINCT p.queue_id, u.grp
        FROM (SELECT DISTINCT i.id, i.grp FROM unnest(p_partition_ids, p_groups) i (id, grp) WHERE i.grp IS NOT NULL) u
        JOIN queen.log_partitions p ON p.id = u.id
    ) g;
END $$;
REVOKE ALL ON FUNCTION queen._touch_lanes(uuid[], text[], integer) FROM PUBLIC;

/*
 * Purpose:     whether a group did nothing on a queue since a time. No row means active now, and so does a row that
 *              somebody holds; with p_look nothing is locked to find that out.
 * Locks:       the group's rows, SKIP LOCKED; none with p_look.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE when it locks.
 * Bounds:      the rows of one group: as many as sessions wrote at the same time.
 * Idempotency: yes.  Raises: nothing.
 * Source:      design 5 (groupIdleSeconds).
 */
CREATE OR REPLACE FUNCTION queen._is_idle(
    p_queue_id uuid,
    p_group text,
    p_before timestamptz,
    p_look boolean
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_free bigint;
    r record;
BEGIN
    IF NOT p_look THEN
        SELECT count(*) INTO v_free
        FROM (
            SELECT FROM queen.group_activity a WHERE a.queue_id = p_queue_id AND a.consumer_group = p_group
            FOR NO KEY UPDATE SKIP LOCKED
        ) x;
    END IF;
    SELECT max(a.last_active_at) < p_before AS idle, count(*) AS rows INTO r
    FROM queen.group_activity a WHERE a.queue_id = p_queue_id AND a.consumer_group = p_group;
    RETURN coalesce(r.idle, false) AND coalesce(v_free = r.rows, true);
END $$;
REVOKE ALL ON FUNCTION queen._is_idle(uuid, text, timestamptz, boolean) FROM PUBLIC;

/*
 * Purpose:     drop what is known of a group's activity on a queue, but for rows that somebody holds.
 * Locks:       the group's rows, SKIP LOCKED.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      the rows of one group.  Idempotency: yes.  Raises: nothing.
 * Source:      design 5 (groupIdleSeconds).
 */
CREATE OR REPLACE FUNCTION queen._forget_activity(
    p_queue_id uuid,
    p_group text
) RETURNS void
LANGUAGE sql VOLATILE AS $$
    DELETE FROM queen.group_activity a
    WHERE a.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.group_activity x WHERE x.queue_id = p_queue_id AND x.consumer_group = p_group FOR UPDATE SKIP LOCKED))
$$;
REVOKE ALL ON FUNCTION queen._forget_activity(uuid, text) FROM PUBLIC;
