/*
 * Purpose:     drop the positions of spool files that are gone from the server's disk: all of a spool but those in p_keep.
 * Locks:       the rows removed.  Isolation: any.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the rows of one spool, one a file.
 * Idempotency: yes.
 * Raises:      QN400 when p_keep is no list.
 * Source:      P-34.
 */
CREATE OR REPLACE FUNCTION queen.log_forget_spool_v1(
    p_spool_id uuid,
    p_keep bigint[]
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    r_out queen.step_row;
BEGIN
    IF NOT queen._is_list(p_keep) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_keep');
    END IF;
    DELETE FROM queen.spool_files f WHERE f.spool_id = p_spool_id AND f.file <> ALL (coalesce(p_keep, '{}'));
    GET DIAGNOSTICS r_out.worked = ROW_COUNT;
    r_out.done := true;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_forget_spool_v1(uuid, bigint[]) IS
'Forget the replay positions of a spool''s files, but those named; called when a file was removed from the disk.';
REVOKE ALL ON FUNCTION queen.log_forget_spool_v1(uuid, bigint[]) FROM PUBLIC;
