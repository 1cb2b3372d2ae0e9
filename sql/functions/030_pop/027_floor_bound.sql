/*
 * Purpose:     where a walk for a floor begins: a push after the floor leaves last_write_at alone while that is at most a second
 *              older than its stamp, and else writes the second of its stamp. Either lies at most a second below the floor.
 * Locks:       none.  Isolation: any.  Volatility: STABLE, as timestamp arithmetic is.  Bounds: none.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.2 rule 2.
 */
CREATE OR REPLACE FUNCTION queen._floor_bound(p_floor timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(p_floor - interval '1 second', '-infinity'::timestamptz)
$$;
REVOKE ALL ON FUNCTION queen._floor_bound(timestamptz) FROM PUBLIC;

-- Whether a floor that was last raised then may be raised: once a second, also after a clock that stepped back.
CREATE OR REPLACE FUNCTION queen._floor_is_due(p_updated_at timestamptz) RETURNS boolean
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(p_updated_at NOT BETWEEN clock_timestamp() - interval '1 second' AND clock_timestamp(), true)
$$;
REVOKE ALL ON FUNCTION queen._floor_is_due(timestamptz) FROM PUBLIC;

/*
 * Purpose:     a second in which some partition that a walk would meet was written: every other time drawn evenly from the time
 *              between the first and the last write, else near the last one the more often the nearer. So neither many hot
 *              partitions hide an old one, nor one that is very old all the others.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: random.  Bounds: three key probes.  Idempotency: none.
 * Raises:      nothing.
 * Source:      O-6 (spread).
 */
CREATE OR REPLACE FUNCTION queen._random_moment(
    p_queue_id uuid,
    p_low timestamptz
) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_span record;
    v_seconds float;
BEGIN
    SELECT min(p.last_write_at) AS first, max(p.last_write_at) AS last INTO r_span
    FROM queen.log_partitions p
    WHERE p.queue_id = p_queue_id AND p.last_write_at >= p_low;
    v_seconds := date_part('epoch', r_span.last - r_span.first);
    v_seconds := CASE WHEN random() < 0.5 THEN random() * v_seconds ELSE exp(random() * ln(v_seconds + 1)) - 1 END;
    RETURN coalesce((
        SELECT min(p.last_write_at) FROM queen.log_partitions p
        WHERE p.queue_id = p_queue_id AND p.last_write_at >= r_span.last - make_interval(secs => v_seconds)), p_low);
END $$;
REVOKE ALL ON FUNCTION queen._random_moment(uuid, timestamptz) FROM PUBLIC;

/*
 * Purpose:     where among the partitions of a second a random look begins, which goes down: of fewer than 64 as often at their end as
 *              anywhere, or the last ones would seldom be met.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: random.  Bounds: 64 rows.  Idempotency: none.  Raises: nothing.
 * Source:      O-8.
 */
CREATE OR REPLACE FUNCTION queen._random_place(
    p_queue_id uuid,
    p_moment timestamptz
) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF random() < 0.5 THEN
        PERFORM FROM queen.log_partitions p WHERE p.queue_id = p_queue_id AND p.last_write_at = p_moment OFFSET 63 LIMIT 1;
        IF NOT FOUND THEN
            RETURN 'ffffffff-ffff-ffff-ffff-ffffffffffff';
        END IF;
    END IF;
    RETURN gen_random_uuid();
END $$;
REVOKE ALL ON FUNCTION queen._random_place(uuid, timestamptz) FROM PUBLIC;

-- An array from a random element on, around its end.
CREATE OR REPLACE FUNCTION queen._rotated(p_ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_at integer := floor(random() * cardinality(p_ids))::integer;
BEGIN
    RETURN p_ids[v_at + 1 :] || p_ids[: v_at];
END $$;
REVOKE ALL ON FUNCTION queen._rotated(uuid[]) FROM PUBLIC;
