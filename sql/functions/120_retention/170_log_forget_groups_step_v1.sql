/*
 * Purpose:     one bounded step that tidies the activity of groups: rows of queues that are gone, and all but the newest row
 *              of a group once they are an hour old.
 * Locks:       rows of group_activity, SKIP LOCKED.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows (1 to 10000) rows deleted; one pass over the table, a row a group and queue.
 * Idempotency: yes.
 * Raises:      QN403 for a session of another tenant than the default one; QN400 at another isolation level.
 * Source:      design 5 (groupIdleSeconds), F099.
 */
CREATE OR REPLACE FUNCTION queen.log_forget_groups_step_v1(
    p_max_rows integer DEFAULT 1000
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    r_out queen.step_row;
    v_rows integer := least(greatest(coalesce(p_max_rows, 1000), 1), 10000);
BEGIN
    PERFORM queen._require_whole_server();
    PERFORM queen._require_read_committed();
    DELETE FROM queen.group_activity a
    WHERE a.ctid = ANY (ARRAY(
        SELECT x.ctid FROM queen.group_activity x
        WHERE NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = x.queue_id)
           OR (x.last_active_at < clock_timestamp() - interval '1 hour' AND EXISTS (
                SELECT FROM queen.group_activity n
                WHERE n.queue_id = x.queue_id AND n.consumer_group = x.consumer_group
                  AND (n.last_active_at, n.slot) > (x.last_active_at, x.slot) AND n.leased_until >= x.leased_until))
        LIMIT v_rows
        FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS r_out.worked = ROW_COUNT;
    r_out.done := r_out.worked < v_rows;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_forget_groups_step_v1(integer) IS
'One bounded step that drops what is known of the activity of groups whose queue is gone; answers how many rows and whether none is left.';
REVOKE ALL ON FUNCTION queen.log_forget_groups_step_v1(integer) FROM PUBLIC;
