/*
 * Purpose:     find a live API key by the SHA-256 of what a client sent, and note that it is used, at most once a minute.
 * Locks:       the key's row, when the use is noted.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one key probe, at most one row.  Idempotency: yes.
 * Raises:      nothing; no row when there is no such key.
 * Source:      issue 6 item 3.
 */
CREATE OR REPLACE FUNCTION queen.log_use_api_key_v1(p_sha256 bytea) RETURNS SETOF queen.api_key_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM queen._require_read_committed();
    UPDATE queen.api_keys k SET last_used_at = clock_timestamp()
    WHERE k.sha256 = p_sha256 AND k.revoked_at IS NULL
      AND (k.last_used_at IS NULL OR k.last_used_at < clock_timestamp() - interval '1 minute');
    RETURN QUERY
    SELECT k.id, k.tenant_id, k.name, k.role, k.created_at, k.last_used_at, k.revoked_at
    FROM queen.api_keys k
    WHERE k.sha256 = p_sha256 AND k.revoked_at IS NULL;
END $$;
COMMENT ON FUNCTION queen.log_use_api_key_v1(bytea) IS
'Find the API key with this SHA-256 and note that it is used.';
REVOKE ALL ON FUNCTION queen.log_use_api_key_v1(bytea) FROM PUBLIC;
