/*
 * Purpose:     revoke an API key by its name or its id. Servers that have seen the key take it for up to ten more seconds.
 * Locks:       the key's row.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.  Idempotency: a second call finds no live key of the name.
 * Raises:      QN404 when no live key has the name or id; QN403 for a foreign tenant.
 * Source:      issue 6 item 3.
 */
CREATE OR REPLACE FUNCTION queen.revoke_api_key_v1(
    p_name text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.api_key_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    r_out queen.api_key_row;
BEGIN
    PERFORM queen._require_read_committed();
    -- A key whose name is another one's id must not be revoked in its place.
    UPDATE queen.api_keys k SET revoked_at = clock_timestamp()
    WHERE k.id = (
        SELECT f.id FROM queen.api_keys f
        WHERE f.tenant_id = v_tenant AND f.revoked_at IS NULL AND (f.name = p_name OR f.id::text = lower(p_name))
        ORDER BY f.name = p_name DESC
        LIMIT 1) AND k.revoked_at IS NULL
    RETURNING k.id, k.tenant_id, k.name, k.role, k.created_at, k.last_used_at, k.revoked_at INTO r_out;
    IF NOT FOUND THEN
        PERFORM queen._raise('QN404', 'no key of this name is in use', 'p_name');
    END IF;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.revoke_api_key_v1(text, uuid) IS
'Revoke an API key by its name or id; servers stop taking it within ten seconds.';
REVOKE ALL ON FUNCTION queen.revoke_api_key_v1(text, uuid) FROM PUBLIC;
