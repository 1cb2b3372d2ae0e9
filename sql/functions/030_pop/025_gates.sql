/*
 * Purpose:     the visibility gates of a queue, safe for any stored value: a gate of zero or less is open, an absurd one
 *              never raises.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: reads the clock.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      O-20, O-23, W-3, design 3.2 rule 6, design 7 (a step never fails on a stored option), F082.
 */
CREATE OR REPLACE FUNCTION queen._seconds_ago(p_seconds integer) RETURNS timestamptz
LANGUAGE sql VOLATILE AS $$
    SELECT clock_timestamp() - make_interval(secs => p_seconds)
$$;
REVOKE ALL ON FUNCTION queen._seconds_ago(integer) FROM PUBLIC;

-- Whether a stamp lies inside the window; one more than 5 s ahead of the clock counts as old. A partition is held back while
-- its newest segment does, and its oldest one that is not read: or one that is written all the time would starve (W-3).
CREATE OR REPLACE FUNCTION queen._window_is_shut(
    p_window integer,
    p_newest timestamptz
) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT p_window > 0
       AND p_newest > queen._seconds_ago(p_window)
       AND p_newest <= queen._seconds_ago(-5)
$$;
REVOKE ALL ON FUNCTION queen._window_is_shut(integer, timestamptz) FROM PUBLIC;

/*
 * Purpose:     the stamp of the first segment that holds something a cursor has not passed; NULL when there is none.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: a fresh snapshot.
 * Bounds:      one key probe: no segment spans more than 1000 offsets.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-20, O-23, W-3.
 */
CREATE OR REPLACE FUNCTION queen._oldest_unread(
    p_partition_id uuid,
    p_log_start bigint,
    p_committed bigint
) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (
        SELECT s.created_at FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= greatest(p_log_start, p_committed - 999)
          AND s.end_offset > p_committed AND queen._last_offset(s) > p_committed
        ORDER BY s.base_offset
        LIMIT 1);
END $$;
REVOKE ALL ON FUNCTION queen._oldest_unread(uuid, bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     whether a pop of a partition that owes something would find it due, as far as the gates of its queue go. One
 *              with nothing left to read counts as due, so that a pop seals its cursor; and one without a cursor (p_committed is
 *              null), so that a pop makes it: retention waits only for the cursors that are there.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: reads the clock, fresh snapshots.
 * Bounds:      one key probe, and one more behind a window.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-20, O-23, O-51, W-3.
 */
CREATE OR REPLACE FUNCTION queen._is_due(
    p_window integer,
    p_delay integer,
    p_partition_id uuid,
    p_log_start bigint,
    p_committed bigint
) RETURNS boolean
LANGUAGE plpgsql VOLATILE COST 1000 AS $$
DECLARE
    v_oldest timestamptz;
BEGIN
    IF p_committed IS NULL OR coalesce(p_window, 0) <= 0 AND coalesce(p_delay, 0) <= 0 THEN
        RETURN true;
    END IF;
    v_oldest := queen._oldest_unread(p_partition_id, p_log_start, p_committed);
    IF p_delay > 0 AND v_oldest > queen._seconds_ago(p_delay) THEN
        RETURN false;
    END IF;
    RETURN (queen._window_is_shut(p_window, v_oldest)
            AND queen._window_is_shut(p_window, (SELECT h.head_stamp FROM queen.partition_head h WHERE h.id = p_partition_id))) IS NOT TRUE;
END $$;
REVOKE ALL ON FUNCTION queen._is_due(integer, integer, uuid, bigint, bigint) FROM PUBLIC;
