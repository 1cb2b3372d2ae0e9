/*
 * Purpose:     raise the floor of the search of a group as far as is safe: to the newest clock mark that every transaction
 *              still running is younger than. A push that the scan cannot see yet will stamp later than that mark, so
 *              its partition stays above the floor whenever it commits, also when the clock steps back, because every push
 *              honours the mark. What is owed below the new floor, leased or not, goes to held. With more than 1000 of
 *              them the floor stops there.
 * Locks:       the advisory lock of (queue, group), tried: who moves cursors back takes it first, so that no scan that missed
 *              the move outlives it. The row of the floor, or before there is one the queue row FOR KEY SHARE, both SKIP
 *              LOCKED. Never waits.
 * Isolation:   READ COMMITTED: everything is read after the lock, the tables after the mark was chosen.
 * Volatility:  VOLATILE: writes, and each statement needs a newer snapshot.
 * Bounds:      the partitions written since the floor before; at most once a second a (queue, group).
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      O-10, E-37, design 3.2 rule 6, design 4 (clock marks).
 */
CREATE OR REPLACE FUNCTION queen._raise_floor(
    p_queue_id uuid,
    p_group text
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_mark queen.consumer_watermarks;
    v_floor timestamptz;
    v_held uuid[] := '{}'::uuid[];
    r record;
BEGIN
    IF NOT pg_try_advisory_xact_lock(queen._floor_lock(p_queue_id, p_group)) THEN
        RETURN;
    END IF;
    -- A deletion of the queue that is open holds the floor's row, or else the queue's.
    PERFORM FROM queen.consumer_watermarks w WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group FOR NO KEY UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        PERFORM FROM queen.queues q WHERE q.id = p_queue_id FOR KEY SHARE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    SELECT * INTO r_mark FROM queen.consumer_watermarks w WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group;
    IF r_mark.updated_at > clock_timestamp() - interval '1 second' THEN
        RETURN;
    END IF;
    v_floor := greatest(r_mark.last_empty_scan_at, queen._quiet_mark());
    IF r_mark.held <> '{}' THEN
        v_held := ARRAY(
            SELECT s.id FROM (SELECT DISTINCT x.id FROM unnest(r_mark.held) x (id)) u
            JOIN queen._standing(p_group) s ON s.id = u.id
            WHERE s.owed);
    END IF;
    -- A loop, because it ends when held is full.
    FOR r IN
        SELECT s.id, s.last_write_at, s.owed
        FROM queen._standing(p_group) s
        WHERE s.queue_id = p_queue_id
          AND s.last_write_at >= queen._floor_bound(r_mark.last_empty_scan_at)
          AND s.last_write_at < queen._floor_bound(v_floor)
        ORDER BY s.last_write_at
    LOOP
        CONTINUE WHEN NOT r.owed OR r.id = ANY (v_held);
        IF cardinality(v_held) >= 1000 THEN
            v_floor := r.last_write_at + interval '2 seconds';
            EXIT;
        END IF;
        v_held := v_held || r.id;
    END LOOP;
    INSERT INTO queen.consumer_watermarks AS w (queue_id, consumer_group, last_empty_scan_at, held)
    VALUES (p_queue_id, p_group, coalesce(v_floor, 'epoch'), v_held)
    ON CONFLICT (queue_id, consumer_group) DO UPDATE
    SET last_empty_scan_at = greatest(w.last_empty_scan_at, excluded.last_empty_scan_at), held = excluded.held, updated_at = clock_timestamp();
END $$;
REVOKE ALL ON FUNCTION queen._raise_floor(uuid, text) FROM PUBLIC;

/*
 * Purpose:     the first floor of a group that owes nothing up to the newest mark that was quiet before its cursors were set.
 * Locks:       none of its own; the caller holds the advisory lock of (queue, group).
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.
 * Idempotency: yes: a floor that is there stays.  Raises: nothing.
 * Source:      O-10, design 3.2 rule 6.
 */
CREATE OR REPLACE FUNCTION queen._start_at_floor(
    p_queue_id uuid,
    p_group text,
    p_floor timestamptz
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, last_empty_scan_at)
    SELECT p_queue_id, p_group, p_floor
    WHERE p_floor IS NOT NULL
    ON CONFLICT (queue_id, consumer_group) DO NOTHING;
END $$;
REVOKE ALL ON FUNCTION queen._start_at_floor(uuid, text, timestamptz) FROM PUBLIC;

/*
 * Purpose:     the newest clock mark whose transaction id lies below that of every transaction still running: whatever is not
 *              visible yet stamps no earlier. Where nobody notes the clock, this does, when its transaction
 *              has no id yet.
 * Locks:       none, or as _mark_clock.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: may write a mark.
 * Bounds:      the marks noted since the oldest running transaction began.
 * Idempotency: none.  Raises: nothing; NULL without such a mark.
 * Source:      design 4 (marks instead of activity), F147, F149.
 */
CREATE OR REPLACE FUNCTION queen._quiet_mark() RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_mark timestamptz;
BEGIN
    SELECT m.marked_at INTO v_mark FROM queen.clock_marks m
    WHERE m.xid < pg_snapshot_xmin(pg_current_snapshot())
    ORDER BY m.marked_at DESC
    LIMIT 1;
    IF pg_current_xact_id_if_assigned() IS NULL
       AND NOT EXISTS (SELECT FROM queen.clock_marks m WHERE m.marked_at > clock_timestamp() - interval '3 seconds') THEN
        PERFORM queen._mark_clock();
    END IF;
    RETURN v_mark;
END $$;
REVOKE ALL ON FUNCTION queen._quiet_mark() FROM PUBLIC;
