/*
 * Purpose:     add an API key. The secret never comes here: p_sha256 is the SHA-256 of the key as it is sent.
 * Locks:       the new row.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.  Idempotency: none; a second call with the name is refused.
 * Raises:      QN400 for a bad name, role or hash; QN409 when a key of that name, or that hash, is there; QN403 for a foreign tenant.
 * Source:      issue 6 item 3.
 */
CREATE OR REPLACE FUNCTION queen.create_api_key_v1(
    p_name text,
    p_role text,
    p_sha256 bytea,
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
    PERFORM queen._check_name(p_name, 'p_name');
    IF p_name = '' THEN
        PERFORM queen._raise('QN400', 'p_name is empty', 'p_name');
    ELSIF (p_role IN ('admin', 'read-write', 'read-only', 'write-only')) IS NOT TRUE THEN
        PERFORM queen._raise('QN400', 'p_role must be admin, read-write, read-only or write-only', 'p_role');
    ELSIF (octet_length(p_sha256) = 32) IS NOT TRUE THEN
        PERFORM queen._raise('QN400', 'p_sha256 must have 32 bytes', 'p_sha256');
    END IF;
    INSERT INTO queen.api_keys (tenant_id, name, role, sha256)
    VALUES (v_tenant, p_name, p_role, p_sha256)
    ON CONFLICT DO NOTHING
    RETURNING id, tenant_id, name, role, created_at, last_used_at, revoked_at INTO r_out;
    IF NOT FOUND THEN
        PERFORM queen._raise('QN409', 'a key of this name is in use already', 'p_name');
    END IF;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.create_api_key_v1(text, text, bytea, uuid) IS
'Add an API key, of which the database learns only the SHA-256.';
REVOKE ALL ON FUNCTION queen.create_api_key_v1(text, text, bytea, uuid) FROM PUBLIC;
