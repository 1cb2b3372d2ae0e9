/*
 * Purpose:     a stored time as one that can be shown and reckoned with: between the second day of year 1 and the last of year
 *              9999, as RFC 3339 has four digits for a year, and a difference with infinity is an error. Somebody may have
 *              written such a time into a row by hand. NULL stays NULL.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      none.  Idempotency: yes.  Raises: nothing.
 * Source:      design 7 (a step never fails on a stored value), F082.
 */
CREATE OR REPLACE FUNCTION queen._shown_time(p_at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_at < '0001-01-02 00:00:00+00' THEN '0001-01-02 00:00:00+00'
                WHEN p_at > '9999-12-31 00:00:00+00' THEN '9999-12-31 00:00:00+00' ELSE p_at END
$$;
REVOKE ALL ON FUNCTION queen._shown_time(timestamptz) FROM PUBLIC;
