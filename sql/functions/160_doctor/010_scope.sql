/*
 * Purpose:     whose queues an operator's function shows: all of them to the server's role and to the owner of the schema,
 *              to everybody else those of the own tenant; the size of a partition by the formula; and a number with its noun.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: depends on the session's role; one statement.
 * Bounds:      the roles; one key probe of segments.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      E-5, design 3.2 rule 7.
 */
CREATE OR REPLACE FUNCTION queen._sees_all_tenants() RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_roles r
        WHERE (r.rolname = 'queen_server' OR r.oid = (SELECT n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'queen'))
          AND pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER'))
$$;
REVOKE ALL ON FUNCTION queen._sees_all_tenants() FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._partition_size(
    p_partition_id uuid,
    p_log_start bigint,
    p_head_cum bigint,
    p_removed_bytes bigint
) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT coalesce(p_head_cum - p_removed_bytes - (
        SELECT s.cum_bytes - s.orig_bytes
        FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start
        ORDER BY s.base_offset
        LIMIT 1), 0)
$$;
REVOKE ALL ON FUNCTION queen._partition_size(uuid, bigint, bigint, bigint) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._counted(p_n numeric, p_noun text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT p_n || ' ' || p_noun || CASE WHEN p_n = 1 THEN '' ELSE 's' END
$$;
REVOKE ALL ON FUNCTION queen._counted(numeric, text) FROM PUBLIC;
