/*
 * Purpose:     note the clock, then a transaction id: whoever reads the mark knows that every transaction with a smaller
 *              id started before it. Floors stamps when the clock jumps back, and serves safeTime without activity.
 *              Also drops marks older than a day and the member rows of leases that ended an hour ago.
 * Locks:       none.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: the clock is read before the transaction id is drawn.
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
    -- In a transaction that has its id already, the clock now would be later than the id.
    v_at timestamptz := CASE WHEN pg_current_xact_id_if_assigned() IS NULL THEN clock_timestamp() ELSE now() END;
BEGIN
    INSERT INTO queen.clock_marks (marked_at, xid) VALUES (v_at, pg_current_xact_id()) ON CONFLICT DO NOTHING;
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
'Note the clock beside a transaction id; called every two seconds by the settle loop and by run_maintenance_v1.';
REVOKE ALL ON FUNCTION queen.log_mark_clock_v1() FROM PUBLIC;
