/*
 * Purpose:     which tenant a call works for. A session's own tenant is the default one; only the server's
 *              role (queen_server, or the owner of the schema) may name another.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: depends on the session's role.
 * Bounds:      no table is read.
 * Idempotency: yes.
 * Raises:      QN403 when another tenant is named without the right to.
 * Source:      E-5, design 4.
 */
CREATE OR REPLACE FUNCTION queen._current_tenant() RETURNS uuid
LANGUAGE sql STABLE AS $$
    SELECT '00000000-0000-0000-0000-000000000001'::uuid
$$;
REVOKE ALL ON FUNCTION queen._current_tenant() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._tenant(p_tenant_id uuid) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_tenant_id IS NULL OR p_tenant_id = queen._current_tenant() THEN
        RETURN queen._current_tenant();
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_roles r
        WHERE (r.rolname = 'queen_server' OR r.oid = (SELECT n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'queen'))
          AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER')
    ) THEN
        PERFORM queen._raise('QN403', 'this role may not name a tenant', 'p_tenant_id');
    END IF;
    RETURN p_tenant_id;
END $$;
REVOKE ALL ON FUNCTION queen._tenant(uuid) FROM PUBLIC;
