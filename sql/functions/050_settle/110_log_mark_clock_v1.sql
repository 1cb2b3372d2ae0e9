/*
 * Purpose:     note the clock, and a transaction id beside what was noted before: see _mark_clock. Floors stamps when the clock
 *              jumps back, and serves safeTime without activity. Also drops marks older than a day and the member rows of
 *              leases that ended an hour ago.
 * Locks:       rows of marks and leases, SKIP LOCKED.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: reads the clock, writes.
 * Bounds:      one row written; at most 1000 old rows of each kind removed.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      design 3.2 rule 6, design 4 (safeTime).
 */
CREATE OR REPLACE FUNCTION queen.log_mark_clock_v1() RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    r_out queen.step_row;
    v_at timestamptz := queen._mark_clock();
BEGIN
    DELETE FROM queen.clock_marks m WHERE m.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.clock_marks x WHERE x.marked_at < v_at - interval '1 day'
        ORDER BY x.marked_at LIMIT 1000 FOR UPDATE SKIP LOCKED));
    DELETE FROM queen.log_lease_members m WHERE m.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.log_lease_members x WHERE x.expires_at < v_at - interval '1 hour'
        ORDER BY x.expires_at LIMIT 1000 FOR UPDATE SKIP LOCKED));
    r_out.worked := 1;
    r_out.done := true;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_mark_clock_v1() IS
'Note the clock, and a transaction id beside the readings noted before; called every two seconds by the settle loop and by run_maintenance_v1.';
REVOKE ALL ON FUNCTION queen.log_mark_clock_v1() FROM PUBLIC;

/*
 * Purpose:     note the clock in a new mark, without an id as yet (the largest there is), and give the marks that are there
 *              already an id that is drawn now. So whoever reads a mark with an id knows: every transaction with a later id
 *              could see the mark when it stamped, and honours it, whatever the clock did since. An id drawn together with the
 *              reading would not do: while its own transaction runs nobody sees the mark, and a clock that steps back just then
 *              lets a push with a later id stamp below it. Not so of a push above READ COMMITTED, whose snapshot may be older than the
 *              mark and its id later: when the clock steps back while such a transaction is open, its stamp may lie below the mark.
 *              A mark by_search is no sign that somebody settles heads.
 * Locks:       the newest marks without an id, FOR UPDATE SKIP LOCKED.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: reads the clock, writes. The id is drawn by the row locks, after the snapshot that sees the marks; in a
 *              transaction that has one already it would be older than they may be, so there none is given.
 * Bounds:      one row written, and the newest ten looked at.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      design 3.2 rule 6, design 4 (safeTime), C-40.
 */
CREATE OR REPLACE FUNCTION queen._mark_clock(p_by_search boolean DEFAULT false) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_at timestamptz := clock_timestamp();
    v_none xid8 := '18446744073709551615';
BEGIN
    IF pg_current_xact_id_if_assigned() IS NULL THEN
        UPDATE queen.clock_marks m SET xid = pg_current_xact_id()
        WHERE m.ctid = ANY (ARRAY(
            SELECT x.ctid FROM queen.clock_marks x
            WHERE x.xid = v_none
              AND x.marked_at >= (SELECT min(n.marked_at) FROM (SELECT t.marked_at FROM queen.clock_marks t ORDER BY t.marked_at DESC LIMIT 10) n)
            FOR UPDATE SKIP LOCKED));
    END IF;
    INSERT INTO queen.clock_marks (marked_at, xid, by_search) VALUES (v_at, v_none, p_by_search) ON CONFLICT DO NOTHING;
    RETURN v_at;
END $$;
REVOKE ALL ON FUNCTION queen._mark_clock(boolean) FROM PUBLIC;
