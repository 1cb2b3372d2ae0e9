/*
 * Purpose:     one dead letter, by its id.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      one row.
 * Idempotency: reads only.
 * Raises:      nothing; no row when there is no such dead letter, or it is another tenant's.
 * Source:      E-32, A-38 (what a server seals before it replays it).
 */
CREATE OR REPLACE FUNCTION queen.get_dead_letter_v1(
    p_id uuid,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.dead_letter_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    RETURN QUERY SELECT d.* FROM queen._dead_letters(queen._tenant(p_tenant_id)) d WHERE d.id = p_id;
END $$;
COMMENT ON FUNCTION queen.get_dead_letter_v1(uuid, uuid) IS
'Look at one dead letter: what failed, for which group, why, and the payload as it was.';
REVOKE ALL ON FUNCTION queen.get_dead_letter_v1(uuid, uuid) FROM PUBLIC;
