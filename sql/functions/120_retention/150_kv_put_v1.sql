/*
 * Purpose:     store one small value of the caller's tenant under a namespace and key, over what is there. With
 *              p_ttl_seconds it ends so many seconds from now, else never.
 * Locks:       the value's row; first in the lock order, so call it before anything else of ours in a transaction.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row; a value of at most 64 KiB as text.
 * Idempotency: yes, but for the version.
 * Raises:      QN400 for a namespace, key or p_ttl_seconds out of bounds, or no value (the detail names it); QN413 for a
 *              larger value; QN403 for a foreign tenant; 55P03 when somebody holds the row for 5 s.
 * Source:      E-40, L-1, R-44.
 */
CREATE OR REPLACE FUNCTION queen.kv_put_v1(
    p_namespace text,
    p_key text,
    p_value jsonb,
    p_ttl_seconds integer DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.kv_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
BEGIN
    PERFORM queen._check_kv_name(p_namespace, p_key);
    IF p_value IS NULL THEN
        PERFORM queen._raise('QN400', 'value must not be null (the JSON null is a value)', 'value');
    ELSIF octet_length(p_value::text) > 65536 THEN
        PERFORM queen._raise('QN413', 'value is larger than 64 KiB', 'value');
    ELSIF p_ttl_seconds < 1 THEN
        PERFORM queen._raise('QN400', 'ttlSeconds must be at least 1', 'ttlSeconds');
    END IF;
    RETURN QUERY
    INSERT INTO queen.kv AS k (tenant_id, namespace, key, value, expires_at)
    VALUES (queen._tenant(p_tenant_id), p_namespace, p_key, p_value, clock_timestamp() + make_interval(secs => p_ttl_seconds))
    ON CONFLICT (tenant_id, namespace, key) DO UPDATE
    SET value = EXCLUDED.value, version = EXCLUDED.version, expires_at = EXCLUDED.expires_at, updated_at = EXCLUDED.updated_at
    RETURNING k.namespace, k.key, k.value, k.version, k.expires_at, k.updated_at;
END $$;
COMMENT ON FUNCTION queen.kv_put_v1(text, text, jsonb, integer, uuid) IS
'Store one small value under a namespace and key, for good or for p_ttl_seconds; answers it with its version, which only tells whether it changed.';
REVOKE ALL ON FUNCTION queen.kv_put_v1(text, text, jsonb, integer, uuid) FROM PUBLIC;
