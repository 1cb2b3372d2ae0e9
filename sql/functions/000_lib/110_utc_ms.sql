/*
 * Purpose:     a time as the management routes show it; NULL stays NULL.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE: converted to UTC first, so the session's time zone has no say.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      E-6, W-21, F125.
 */
CREATE OR REPLACE FUNCTION queen._utc_ms(p_at timestamptz) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT to_char(queen._shown_time(p_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
REVOKE ALL ON FUNCTION queen._utc_ms(timestamptz) FROM PUBLIC;
COMMENT ON FUNCTION queen._utc_ms(timestamptz) IS 'A time as UTC text with milliseconds and a literal Z.';
