/*
 * Purpose:     lock the cursor row of (partition, group) when nobody holds a live lease on it; create it, seeded, at
 *              first contact. Answers no row when somebody else holds it: never waits, never steals a live lease. With the mode
 *              registered, which no client has, no cursor is made for a group that is not registered.
 * Locks:       the consumer row, FOR UPDATE SKIP LOCKED; at first contact transaction advisory try-locks and the partition
 *              row, FOR KEY SHARE SKIP LOCKED, before it. It never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes, and each statement needs a newer snapshot.
 * Bounds:      one row.
 * Idempotency: none.
 * Raises:      nothing: a partition removed meanwhile answers no row.
 * Source:      O-16, O-17, O-25..O-29, F026, F043.
 */
CREATE OR REPLACE FUNCTION queen._claim_first_contact(
    p_partition_id uuid,
    p_queue_id uuid,
    p_group text,
    p_mode text,
    p_from text
) RETURNS SETOF queen.log_consumers
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_mode text := 'all';
    v_since timestamptz := 'epoch'::timestamptz;
BEGIN
    PERFORM FROM queen.log_consumers c WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
    IF FOUND OR NOT pg_try_advisory_xact_lock_shared(queen._cursors_lock(p_queue_id, p_group))
       OR NOT pg_try_advisory_xact_lock(queen._first_contact_lock(p_partition_id, p_group)) THEN
        RETURN; -- leased, or somebody seeks, deletes the group, or makes this cursor
    END IF;
    -- A partition under deletion is not waited for: this call may hold cursors that the deletion wants.
    PERFORM FROM queen.log_partitions p WHERE p.id = p_partition_id FOR KEY SHARE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;

    IF p_group COLLATE "C" <> '__QUEUE_MODE__' THEN
        -- Registering seeded every partition there was. One without a cursor was committed later, whatever its stamps say,
        -- so a group that asked for what comes gets all of it (O-16, F035).
        SELECT CASE m.subscription_mode WHEN 'timestamp' THEN 'timestamp' ELSE 'all' END, m.subscription_timestamp
        INTO v_mode, v_since
        FROM queen.consumer_groups_metadata m
        WHERE m.queue_id = p_queue_id AND m.consumer_group = p_group AND m.partition_name = '';
        IF NOT FOUND THEN
            IF p_mode = 'registered' THEN
                RETURN; -- the group was deleted meanwhile
            END IF;
            SELECT s.mode, s.since INTO v_mode, v_since FROM queen._subscription(p_group, p_mode, p_from) s;
            -- A time that cannot be read must not skip a backlog here (O-16).
            IF v_mode = 'new' AND coalesce(btrim(p_from), '') NOT IN ('', 'now') AND lower(btrim(p_from)) <> 'now' THEN
                v_mode := 'all';
            END IF;
        END IF;
    END IF;
    INSERT INTO queen.log_consumers (partition_id, consumer_group, committed)
    SELECT p.id, p_group, queen._seed_cursor(p.id, v_mode, v_since)
    FROM queen.log_partitions p
    WHERE p.id = p_partition_id
    ON CONFLICT (partition_id, consumer_group) DO NOTHING;
    RETURN QUERY
    SELECT * FROM queen.log_consumers c
    WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
      AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
    FOR UPDATE SKIP LOCKED;
END $$;
REVOKE ALL ON FUNCTION queen._claim_first_contact(uuid, uuid, text, text, text) FROM PUBLIC;
