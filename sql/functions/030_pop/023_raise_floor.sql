/*
 * Purpose:     raise the floor of the search of a group as far as is safe: to the newest clock mark that every transaction
 *              still running is younger than. A push that the scan cannot see yet will stamp later than that mark, so
 *              its partition stays above the floor whenever it commits, also when the clock steps back, because every push
 *              honours the mark. What is owed below the new floor, leased or not, goes to held. With more than 1000 of
 *              them the floor stops there, and so it does behind p_rows partitions (NULL: however many); the next search
 *              then goes on.
 * Locks:       the advisory lock of (queue, group), tried: who moves cursors back takes it first, so that no scan that missed
 *              the move outlives it. The row of the floor, or before there is one the queue row FOR KEY SHARE, both SKIP
 *              LOCKED. Before them as _mark_clock. Never waits.
 * Isolation:   READ COMMITTED: the mark is chosen first, everything else is read after the lock.
 * Volatility:  VOLATILE: writes, and each statement needs a newer snapshot.
 * Bounds:      p_rows of the partitions written since the floor before, and those held; at most once a second a (queue, group),
 *              unless it stopped behind p_rows.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      O-10, E-37, design 3.2 rule 6, design 4 (clock marks).
 */
CREATE OR REPLACE FUNCTION queen._raise_floor(
    p_queue_id uuid,
    p_group text,
    p_rows integer DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_mark queen.consumer_watermarks;
    c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    v_low timestamptz;
    v_low_id uuid;
    v_high timestamptz;
    v_high_id uuid := c_first;
    v_held uuid[] := '{}'::uuid[];
    v_stopped boolean;
    v_mark timestamptz := queen._quiet_mark(); -- first, while this transaction may have no id yet
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
    IF NOT queen._floor_is_due(r_mark.updated_at) THEN
        RETURN;
    END IF;
    v_low := queen._floor_bound(r_mark.last_empty_scan_at);
    v_low_id := coalesce(r_mark.last_empty_scan_id, c_first);
    v_high := queen._floor_bound(greatest(r_mark.last_empty_scan_at, v_mark, 'epoch'));
    IF r_mark.held <> '{}' THEN
        v_held := ARRAY(
            SELECT s.id FROM (SELECT DISTINCT x.id FROM unnest(r_mark.held) x (id)) u
            JOIN queen._owing(p_group) s ON s.id = u.id
            WHERE s.owed);
    END IF;
    SELECT p.last_write_at, p.id INTO r FROM queen.log_partitions p
    WHERE p_rows IS NOT NULL
      AND p.queue_id = p_queue_id AND (p.last_write_at, p.id) > (v_low, v_low_id) AND (p.last_write_at, p.id) <= (v_high, v_high_id)
    ORDER BY p.last_write_at, p.id
    OFFSET p_rows LIMIT 1;
    v_stopped := FOUND;
    IF v_stopped THEN
        v_high := r.last_write_at;
        v_high_id := r.id;
    END IF;
    -- A loop, because it ends when held is full.
    FOR r IN
        SELECT s.id, s.last_write_at
        FROM queen._owing(p_group) s
        WHERE s.queue_id = p_queue_id AND (s.last_write_at, s.id) > (v_low, v_low_id) AND (s.last_write_at, s.id) <= (v_high, v_high_id) AND s.owed
        ORDER BY s.last_write_at, s.id
    LOOP
        CONTINUE WHEN r.id = ANY (v_held);
        IF cardinality(v_held) >= 1000 THEN
            v_high := v_low; -- behind the last one that is held
            v_high_id := v_low_id;
            v_stopped := false;
            EXIT;
        END IF;
        v_held := v_held || r.id;
        v_low := r.last_write_at;
        v_low_id := r.id;
    END LOOP;
    INSERT INTO queen.consumer_watermarks (queue_id, consumer_group, last_empty_scan_at, last_empty_scan_id, held, updated_at)
    VALUES (p_queue_id, p_group, v_high + interval '1 second', v_high_id, v_held, clock_timestamp() - make_interval(secs => v_stopped::integer))
    ON CONFLICT (queue_id, consumer_group) DO UPDATE
    SET last_empty_scan_at = excluded.last_empty_scan_at, last_empty_scan_id = excluded.last_empty_scan_id, held = excluded.held,
        updated_at = excluded.updated_at;
END $$;
REVOKE ALL ON FUNCTION queen._raise_floor(uuid, text, integer) FROM PUBLIC;

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
 *              visible yet stamps no earlier. Where nobody has noted the clock for a second, this does, in the name
 *              of the search, when its transaction has no id yet.
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
       AND NOT EXISTS (SELECT FROM queen.clock_marks m WHERE m.marked_at > clock_timestamp() - interval '1 second') THEN
        PERFORM queen._mark_clock(true);
    END IF;
    RETURN v_mark;
END $$;
REVOKE ALL ON FUNCTION queen._quiet_mark() FROM PUBLIC;
