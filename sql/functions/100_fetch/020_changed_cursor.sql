/*
 * Purpose:     the cursor of a sweep over partitions: mode (n: by name, t: by time), check sum, queue id, safe time of the
 *              first page, time and name of the last partition shown; times in microseconds. The check sum tells a cursor
 *              that was cut or written by hand; a safe time in it can only lower the answer's.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.
 * Bounds:      400 characters.
 * Idempotency: yes.
 * Raises:      nothing: what is no cursor has no mode.
 * Source:      C-36, C-37, design 4, F151, F153.
 */
CREATE OR REPLACE FUNCTION queen._changed_cursor(
    p_mode text,
    p_queue_id uuid,
    p_safe_time timestamptz,
    p_at timestamptz,
    p_name text
) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT concat_ws('|', p_mode, left(md5(p_mode || b.body), 8), b.body)
    FROM (SELECT concat_ws('|', p_queue_id, queen._micros(p_safe_time), queen._micros(p_at), p_name) AS body) b
$$;
REVOKE ALL ON FUNCTION queen._changed_cursor(text, uuid, timestamptz, timestamptz, text) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen._parse_changed_cursor(
    p_cursor text,
    OUT mode text,
    OUT queue_id text,
    OUT safe_time timestamptz,
    OUT at timestamptz,
    OUT name text
)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    v_part text[];
BEGIN
    v_part := CASE WHEN char_length(p_cursor) <= 400 THEN
        regexp_match(p_cursor, '^([nt])\|([0-9a-f]{8})\|(([0-9a-f-]{36})\|(\d{1,16})\|(\d{1,16})\|(.*))$') END;
    IF v_part[2] = left(md5(v_part[1] || v_part[3]), 8) THEN
        mode := v_part[1];
        queue_id := v_part[4];
        safe_time := 'epoch'::timestamptz + v_part[5]::bigint * interval '1 microsecond';
        at := 'epoch'::timestamptz + v_part[6]::bigint * interval '1 microsecond';
        name := v_part[7];
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._parse_changed_cursor(text) FROM PUBLIC;

-- Microseconds since the epoch; times before it count as it.
CREATE OR REPLACE FUNCTION queen._micros(p_at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT (extract(epoch FROM greatest(queen._shown_time(p_at), 'epoch'::timestamptz)) * 1000000)::bigint
$$;
REVOKE ALL ON FUNCTION queen._micros(timestamptz) FROM PUBLIC;
