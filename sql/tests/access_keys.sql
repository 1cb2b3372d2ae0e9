-- create_api_key_v1, list_api_keys_v1, revoke_api_key_v1, log_use_api_key_v1.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/access_keys.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.code(p_statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE p_statement;
    RETURN 'ok';
EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE;
END $$;

DO $$
DECLARE
    c_other CONSTANT uuid := 'b0000000-0000-4000-8000-000000000001';
    r queen.api_key_row;
    v_hash bytea := sha256('one');
BEGIN
    SELECT * INTO r FROM queen.create_api_key_v1('shop', 'write-only', v_hash);
    ASSERT (r.name, r.role, r.tenant_id) = ('shop', 'write-only', '00000000-0000-0000-0000-000000000001'::uuid) AND r.last_used_at IS NULL, 'as given: ' || r::text;
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1('shop', 'admin', sha256('two'))$s$) = 'QN409', 'a name is taken while its key lives';
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1('other', 'admin', sha256('one'))$s$) = 'QN409', 'a hash belongs to one key';
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1(n, r, h) FROM (VALUES ('', 'admin', sha256('x'))) v (n, r, h)$s$) = 'QN400', 'no name';
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1('x', 'root', sha256('x'))$s$) = 'QN400', 'an unknown role';
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1('x', NULL, sha256('x'))$s$) = 'QN400', 'no role';
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1('x', 'admin', 'short')$s$) = 'QN400', 'no hash';
    ASSERT pg_temp.code($s$SELECT queen.create_api_key_v1('x', 'admin', NULL)$s$) = 'QN400', 'a null hash';

    SELECT * INTO r FROM queen.log_use_api_key_v1(v_hash);
    ASSERT r.name = 'shop' AND r.last_used_at > clock_timestamp() - interval '1 minute', 'found, and noted';
    UPDATE queen.api_keys SET last_used_at = clock_timestamp() - interval '59 seconds';
    PERFORM queen.log_use_api_key_v1(v_hash);
    ASSERT (SELECT last_used_at < clock_timestamp() - interval '58 seconds' FROM queen.api_keys), 'noted once a minute';
    ASSERT NOT EXISTS (SELECT FROM queen.log_use_api_key_v1(sha256('two'))), 'an unknown key is no row';

    PERFORM queen.create_api_key_v1('shop', 'admin', sha256('b'), c_other);
    ASSERT (SELECT count(*) = 1 FROM queen.list_api_keys_v1()) AND (SELECT count(*) = 1 FROM queen.list_api_keys_v1(c_other)), 'each tenant its own';
    -- A key that is called as another one's id does not shield that one, nor is it revoked for it.
    PERFORM queen.create_api_key_v1((SELECT k.id::text FROM queen.list_api_keys_v1() k), 'admin', sha256('c'));
    PERFORM queen.revoke_api_key_v1((SELECT k.id::text FROM queen.list_api_keys_v1() k WHERE k.name = 'shop'));
    ASSERT (SELECT count(*) = 1 FROM queen.list_api_keys_v1() WHERE revoked_at IS NULL AND name = 'shop'), 'the name comes before the id';
    SELECT * INTO r FROM queen.revoke_api_key_v1('shop');
    ASSERT r.revoked_at IS NOT NULL AND NOT EXISTS (SELECT FROM queen.log_use_api_key_v1(v_hash)), 'revoked is gone';
    ASSERT pg_temp.code($s$SELECT queen.revoke_api_key_v1('shop')$s$) = 'QN404', 'twice';
    ASSERT (SELECT revoked_at IS NULL FROM queen.list_api_keys_v1(c_other)), 'the other tenant keeps its own';
    PERFORM queen.create_api_key_v1('shop', 'read-only', sha256('d'));
END $$;

ROLLBACK;
