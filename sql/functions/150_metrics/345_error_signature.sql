/*
 * Purpose:     an error text without the parts that differ from message to message.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE.
 * Bounds:      the first 2000 characters; 120 are answered.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      spec 5.5 of the HTTP API (dlq-signatures).
 */
CREATE OR REPLACE FUNCTION queen._error_signature(p_error text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT left(btrim(regexp_replace(regexp_replace(regexp_replace(regexp_replace(left(coalesce(p_error, ''), 2000),
        '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|\m[0-9a-fA-F]{16,}\M', '<id>', 'g'),
        '\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?', '<date>', 'g'),
        '\d+', '<n>', 'g'),
        '\s+', ' ', 'g')), 120)
$$;
REVOKE ALL ON FUNCTION queen._error_signature(text) FROM PUBLIC;
COMMENT ON FUNCTION queen._error_signature(text) IS 'An error text with ids, dates and numbers replaced by <id>, <date> and <n>.';
