/*
 * Purpose:     one small stored value of the caller's tenant, by namespace and key. No row when there is none or it ended.
 * Locks:       none.
 * Isolation:   any.
 * Volatility:  VOLATILE: reads the clock, for values that end.
 * Bounds:      one key probe.
 * Idempotency: reads only.
 * Raises:      QN400 for a namespace or key that none can have (detail: namespace or key); QN403 for a foreign tenant.
 * Source:      E-40, R-44.
 */
CREATE OR REPLACE FUNCTION queen.kv_get_v1(
    p_namespace text,
    p_key text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.kv_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM queen._check_kv_name(p_namespace, p_key);
    RETURN QUERY
    SELECT k.namespace, k.key, k.value, k.version, k.expires_at, k.updated_at FROM queen.kv k
    WHERE k.tenant_id = queen._tenant(p_tenant_id) AND k.namespace = p_namespace AND k.key = p_key
      AND (k.expires_at IS NULL OR k.expires_at > clock_timestamp());
END $$;
COMMENT ON FUNCTION queen.kv_get_v1(text, text, uuid) IS
'Read one small stored value by namespace and key; no row when there is none, or when it ended.';
REVOKE ALL ON FUNCTION queen.kv_get_v1(text, text, uuid) FROM PUBLIC;

/*
 * Purpose:     refuse a namespace or key that breaks the rules.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: the text given.  Idempotency: yes.
 * Raises:      QN400; the detail is namespace or key.
 * Source:      http-api 6.3 (names), design 7.
 */
CREATE OR REPLACE FUNCTION queen._check_kv_name(
    p_namespace text,
    p_key text
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_namespace IS NULL OR p_namespace COLLATE "C" !~ '^[a-z0-9][a-z0-9._-]{0,63}$' THEN
        PERFORM queen._raise('QN400', 'namespace must be 1 to 64 lower-case letters, digits, dots, underscores or hyphens, beginning with a letter or digit', 'namespace');
    ELSIF p_key IS NULL OR octet_length(p_key) NOT BETWEEN 1 AND 2048 THEN
        PERFORM queen._raise('QN400', 'key must be 1 to 2048 bytes', 'key');
    ELSIF p_key COLLATE "C" ~ '[\x01-\x1f\x7f]' THEN
        PERFORM queen._raise('QN400', 'key holds a control character', 'key');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_kv_name(text, text) FROM PUBLIC;
