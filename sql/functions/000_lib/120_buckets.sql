/*
 * Purpose:     the width in minutes of the buckets in which a time range is shown.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      S-40, spec 5.2 of the HTTP API.
 */
CREATE OR REPLACE FUNCTION queen._bucket_minutes(
    p_from timestamptz,
    p_to timestamptz
) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN extract(epoch FROM p_to) - extract(epoch FROM p_from) <= 3600 THEN 1
        WHEN extract(epoch FROM p_to) - extract(epoch FROM p_from) <= 6 * 3600 THEN 5
        WHEN extract(epoch FROM p_to) - extract(epoch FROM p_from) <= 24 * 3600 THEN 15
        WHEN extract(epoch FROM p_to) - extract(epoch FROM p_from) <= 7 * 24 * 3600 THEN 60
        ELSE 360
    END
$$;
COMMENT ON FUNCTION queen._bucket_minutes(timestamptz, timestamptz) IS 'Minutes a bucket for a time range: 1 up to an hour, 5 up to six, 15 up to a day, 60 up to a week, else 360.';
REVOKE ALL ON FUNCTION queen._bucket_minutes(timestamptz, timestamptz) FROM PUBLIC;

/*
 * Purpose:     the beginning of the bucket that a time lies in. Buckets count from the epoch in UTC, so the session's
 *              time zone has no say, and minute buckets nest in all wider ones.
 * Locks:       none.  Isolation: any.
 * Volatility:  IMMUTABLE.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing.
 * Source:      spec 5.2 of the HTTP API, F125.
 */
CREATE OR REPLACE FUNCTION queen._bucket(
    p_at timestamptz,
    p_minutes integer
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT date_bin(make_interval(mins => p_minutes), p_at, '1970-01-01 00:00:00+00'::timestamptz)
$$;
COMMENT ON FUNCTION queen._bucket(timestamptz, integer) IS 'Beginning of the bucket of that many minutes that a time lies in.';
REVOKE ALL ON FUNCTION queen._bucket(timestamptz, integer) FROM PUBLIC;
