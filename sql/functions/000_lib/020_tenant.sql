/*
 * Purpose:     which tenant a call works for. A session's own tenant is that of its login role in tenant_roles, else the
 *              default one, whatever role it has set; only the server's role (queen_server, or the owner of the schema)
 *              may name another, and only who works for the default one may touch the switches of the whole server.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: depends on the session's role.
 * Bounds:      one key probe.
 * Idempotency: yes.
 * Raises:      QN403 when another tenant is named without the right to, or the server is not the session's to switch.
 * Source:      E-5, design 4.
 */
-- Not in SQL, which would plan it anew in every call of every function: 120 us instead of 10.
CREATE OR REPLACE FUNCTION queen._current_tenant() RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce(
        (SELECT t.tenant_id FROM queen.tenant_roles t WHERE t.role = pg_catalog.to_regrole(pg_catalog.quote_ident(session_user))),
        '00000000-0000-0000-0000-000000000001'::uuid);
END $$;
REVOKE ALL ON FUNCTION queen._current_tenant() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._tenant(p_tenant_id uuid) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_own uuid := queen._current_tenant();
BEGIN
    IF p_tenant_id IS NULL OR p_tenant_id = v_own THEN
        RETURN v_own;
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

CREATE OR REPLACE FUNCTION queen._require_whole_server() RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM queen._tenant('00000000-0000-0000-0000-000000000001');
END $$;
REVOKE ALL ON FUNCTION queen._require_whole_server() FROM PUBLIC;
