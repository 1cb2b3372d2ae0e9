/*
 * Purpose:     the API keys of a tenant, revoked ones included, by name and age.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      the keys of the tenant.  Idempotency: reads only.
 * Raises:      QN403 for a foreign tenant.
 * Source:      issue 6 item 3.
 */
CREATE OR REPLACE FUNCTION queen.list_api_keys_v1(p_tenant_id uuid DEFAULT NULL) RETURNS SETOF queen.api_key_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    RETURN QUERY
    SELECT k.id, k.tenant_id, k.name, k.role, k.created_at, k.last_used_at, k.revoked_at
    FROM queen.api_keys k
    WHERE k.tenant_id = v_tenant
    ORDER BY k.name, k.created_at, k.id;
END $$;
COMMENT ON FUNCTION queen.list_api_keys_v1(uuid) IS
'List API keys, revoked ones included, without their secrets.';
REVOKE ALL ON FUNCTION queen.list_api_keys_v1(uuid) FROM PUBLIC;
