/*
 * Purpose:     partitions of a queue that may hold something free for a group: some of those held from before the floor,
 *              then a walk by time of last write from a random place above it, so that consumers spread and no
 *              partition is last for ever. The claim verifies each under its lock; a stale candidate just yields
 *              nothing. A long walk raises the floor, so that the next one is short. With p_quick a few steps of that
 *              walk only, which are enough while most partitions have something: who gets nothing out of it asks again; and
 *              before them, most times, the partition that this session took from before, so that consumers that are as
 *              many as partitions do not run after each other's.
 * Locks:       as _raise_floor, which never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: random, fresh snapshots, may write the floor.
 * Bounds:      512 rows for a cap of 128 or more (or none), else four times the cap within 64..512; the walk ends with
 *              them. With p_quick 4 rows out of 16 held, 16 at a random place and the 64 newest partitions.
 * Idempotency: changes nothing but the floor.  Raises: nothing.
 * Source:      O-6..O-10.
 */
CREATE OR REPLACE FUNCTION queen._candidates(
    p_queue_id uuid,
    p_group text,
    p_max_partitions integer,
    p_quick boolean DEFAULT false
) RETURNS TABLE (id uuid)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_want integer := CASE WHEN p_max_partitions BETWEEN 1 AND 127 THEN least(greatest(4 * p_max_partitions, 64), 512) ELSE 512 END;
    v_ids uuid[] := '{}'::uuid[];
    v_seen integer := 0;
    r_mark queen.consumer_watermarks;
    r record;
    v_low timestamptz;
    v_start timestamptz;
    c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    v_place uuid;
    v_from timestamptz;
    v_from_id uuid;
    v_to timestamptz;
BEGIN
    IF p_quick AND p_max_partitions = 1 AND random() < 0.9 THEN
        v_ids := queen._own_lane(p_queue_id, p_group);
        IF v_ids <> '{}' THEN
            RETURN QUERY SELECT u.id FROM unnest(v_ids) u (id);
            RETURN;
        END IF;
    END IF;
    v_place := gen_random_uuid();
    SELECT * INTO r_mark FROM queen.consumer_watermarks w WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group;
    v_low := queen._floor_bound(r_mark.last_empty_scan_at);
    v_start := queen._random_moment(p_queue_id, v_low);
    v_from := v_start;
    v_from_id := v_place;
    -- Now and then nobody is quick, so that what neither probe meets is not last for ever.
    IF p_quick AND random() < 0.99 THEN
        IF r_mark.held <> '{}' AND random() < 0.75 THEN
            v_ids := queen._free_of((queen._rotated(r_mark.held))[1 : 16], p_group);
        END IF;
        IF v_ids = '{}' THEN
            v_ids := queen._free_of(ARRAY(
                SELECT p.id FROM queen.log_partitions p
                WHERE p.queue_id = p_queue_id AND (p.last_write_at, p.id) >= (v_from, v_from_id)
                ORDER BY p.last_write_at, p.id
                LIMIT 16), p_group);
        END IF;
        IF v_ids = '{}' THEN
            -- The newest ones: where consumers keep up, what is owed was written last.
            v_ids := queen._free_of(ARRAY(
                SELECT p.id FROM queen.log_partitions p
                WHERE p.queue_id = p_queue_id AND p.last_write_at >= v_low
                ORDER BY p.last_write_at DESC, p.id DESC
                LIMIT 64), p_group);
        END IF;
        RETURN QUERY SELECT u.id FROM unnest(v_ids) u (id);
        RETURN;
    END IF;
    -- Loops, because a walk counts what it passes and ends early.
    IF r_mark.held <> '{}' THEN
        FOR r IN
            SELECT s.id, s.owed AND coalesce(s.leased_until <= clock_timestamp(), true) AS free
            FROM unnest(queen._rotated(r_mark.held)) u (id)
            JOIN queen._standing(p_group) s ON s.id = u.id
        LOOP
            v_seen := v_seen + 1;
            IF r.free THEN
                v_ids := v_ids || r.id;
                EXIT WHEN cardinality(v_ids) = v_want;
            END IF;
        END LOOP;
    END IF;
    -- However many are held, those above the floor must not starve.
    IF cardinality(v_ids) < v_want OR random() < 0.25 THEN
        v_want := v_want + cardinality(v_ids);
        v_to := 'infinity';
        LOOP
            FOR r IN
                SELECT s.id, s.owed AND coalesce(s.leased_until <= clock_timestamp(), true) AS free
                FROM queen._standing(p_group) s
                WHERE s.queue_id = p_queue_id
                  AND (s.last_write_at, s.id) >= (v_from, v_from_id) AND (s.last_write_at, s.id) < (v_to, v_place)
                ORDER BY s.last_write_at, s.id
            LOOP
                v_seen := v_seen + 1;
                IF r.free THEN
                    v_ids := v_ids || r.id;
                    EXIT WHEN cardinality(v_ids) >= v_want;
                END IF;
            END LOOP;
            EXIT WHEN cardinality(v_ids) >= v_want OR v_to = v_start;
            v_to := v_start;
            v_from := v_low;
            v_from_id := c_first;
        END LOOP;
    END IF;
    IF v_seen > 64 AND coalesce(r_mark.updated_at < clock_timestamp() - interval '1 second', true) THEN
        PERFORM queen._raise_floor(p_queue_id, p_group);
    END IF;
    RETURN QUERY SELECT u.id FROM (SELECT DISTINCT x.id FROM unnest(v_ids) x (id)) u ORDER BY random();
END $$;
REVOKE ALL ON FUNCTION queen._candidates(uuid, text, integer, boolean) FROM PUBLIC;

/*
 * Purpose:     where a walk for a floor begins: a partition written after the floor has last_write_at two seconds below it
 *              at least, for it is a second of a stamp, and a push leaves it alone for one second more.
 * Locks:       none.  Isolation: any.  Volatility: STABLE, as timestamp arithmetic is.  Bounds: none.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.2 rule 2.
 */
CREATE OR REPLACE FUNCTION queen._floor_bound(p_floor timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT coalesce(p_floor - interval '2 seconds', '-infinity'::timestamptz)
$$;
REVOKE ALL ON FUNCTION queen._floor_bound(timestamptz) FROM PUBLIC;

/*
 * Purpose:     a second between the first and the last write that a walk would meet.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: random.  Bounds: two key probes.  Idempotency: none.
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
BEGIN
    SELECT min(p.last_write_at) AS first, max(p.last_write_at) AS last INTO r_span
    FROM queen.log_partitions p
    WHERE p.queue_id = p_queue_id AND p.last_write_at >= p_low;
    RETURN coalesce(date_trunc('second', r_span.first + random() * (r_span.last - r_span.first)), p_low);
END $$;
REVOKE ALL ON FUNCTION queen._random_moment(uuid, timestamptz) FROM PUBLIC;

-- An array from a random element on, around its end.
CREATE OR REPLACE FUNCTION queen._rotated(p_ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_at integer := floor(random() * cardinality(p_ids))::integer;
BEGIN
    RETURN p_ids[v_at + 1 :] || p_ids[: v_at];
END $$;
REVOKE ALL ON FUNCTION queen._rotated(uuid[]) FROM PUBLIC;
