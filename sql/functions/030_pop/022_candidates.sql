/*
 * Purpose:     partitions of a queue that may hold something free for a group: some of those held from before the floor, and some
 *              of those written since. What they cost is what was looked at, not how many were written; only while
 *              nothing is found all are looked at, so an empty answer is the truth. The claim verifies each under its lock; a
 *              stale candidate just yields nothing. A search that met many raises the floor a bit, so that the next one is
 *              short. With p_quick a few are enough: first, most times, the partition that this session took from before,
 *              so that consumers that are as many as partitions do not run after each other's. With p_only_few, too, it is not
 *              made sure that there are no others.
 * Locks:       as _raise_floor, which never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: random, fresh snapshots, may write the floor.
 * Bounds:      512 rows for a cap of 128 or more (or none), else four times the cap within 64..512; of those held, and of those
 *              above the floor. Looked at are twice as many of those held, and what _walk_above says; all, when nothing is
 *              free there. Then 128 partitions for the floor, or half as many as were looked at.
 * Idempotency: changes nothing but the floor.  Raises: nothing.
 * Source:      O-6..O-10; perf 4 (100,000 partitions, 2 pending).
 */
CREATE OR REPLACE FUNCTION queen._candidates(
    p_queue_id uuid,
    p_group text,
    p_max_partitions integer,
    p_quick boolean DEFAULT false,
    p_only_few boolean DEFAULT false
) RETURNS TABLE (id uuid)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_want integer := CASE WHEN p_max_partitions BETWEEN 1 AND 127 THEN least(greatest(4 * p_max_partitions, 64), 512) ELSE 512 END;
    v_ids uuid[] := '{}'::uuid[];
    v_held uuid[];
    r_mark queen.consumer_watermarks;
    r_few record;
    r_walk record;
BEGIN
    IF p_quick AND p_max_partitions = 1 AND random() < 0.9 THEN
        v_ids := queen._own_lane(p_queue_id, p_group);
        IF v_ids <> '{}' THEN
            RETURN QUERY SELECT u.id FROM unnest(v_ids) u (id);
            RETURN;
        END IF;
    END IF;
    SELECT * INTO r_mark FROM queen.consumer_watermarks w WHERE w.queue_id = p_queue_id AND w.consumer_group = p_group;
    r_mark.last_empty_scan_at := queen._floor_bound(r_mark.last_empty_scan_at);
    r_mark.last_empty_scan_id := coalesce(r_mark.last_empty_scan_id, '00000000-0000-0000-0000-000000000000');
    v_held := queen._rotated(coalesce(r_mark.held, '{}'));
    IF p_quick THEN
        r_few := queen._few_candidates(p_queue_id, p_group, r_mark.last_empty_scan_at, r_mark.last_empty_scan_id, v_held);
        -- Now and then nobody is quick, so that what that search does not meet is not last for ever, and the floor rises.
        IF r_few.ids <> '{}' AND random() < 0.99 OR r_few.complete OR p_only_few THEN
            RETURN QUERY SELECT u.id FROM unnest(r_few.ids) u (id);
            RETURN;
        END IF;
    END IF;
    IF v_held <> '{}' THEN
        v_ids := queen._free_of(v_held[1 : 2 * v_want], p_group, v_want);
    END IF;
    -- However many are held, those above the floor must not starve.
    r_walk := queen._walk_above(p_queue_id, p_group, r_mark.last_empty_scan_at, r_mark.last_empty_scan_id, v_want, v_ids <> '{}');
    v_ids := v_ids || r_walk.ids;
    IF v_ids = '{}' AND cardinality(v_held) > 2 * v_want THEN
        v_ids := queen._free_of(v_held[2 * v_want + 1 :], p_group, v_want);
    END IF;
    IF r_walk.seen + cardinality(v_held) > 64 AND queen._floor_is_due(r_mark.updated_at) THEN
        PERFORM queen._raise_floor(p_queue_id, p_group, greatest(r_walk.seen / 2, 128));
    END IF;
    RETURN QUERY SELECT u.id FROM (SELECT DISTINCT x.id FROM unnest(v_ids) x (id)) u ORDER BY random();
END $$;
REVOKE ALL ON FUNCTION queen._candidates(uuid, text, integer, boolean, boolean) FROM PUBLIC;

/*
 * Purpose:     the search of a pop of one partition: up to four out of 16 held, else 16 at a random place above the floor, else the
 *              64 newest, which are what is owed where consumers keep up. complete: there are no others.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: random, fresh snapshots.
 * Bounds:      96 partitions looked at.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6, O-8.
 */
CREATE OR REPLACE FUNCTION queen._few_candidates(
    p_queue_id uuid,
    p_group text,
    p_low timestamptz,
    p_low_id uuid,
    p_held uuid[],
    OUT ids uuid[],
    OUT complete boolean
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_look record;
BEGIN
    complete := false;
    -- Not always, or those above the floor would starve while something is held.
    IF p_held <> '{}' AND random() < 0.75 THEN
        ids := queen._free_of(p_held[1 : 16], p_group, 4);
        IF ids <> '{}' THEN
            RETURN;
        END IF;
    END IF;
    r_look := queen._look_below(p_queue_id, p_group, p_low, p_low_id, queen._random_moment(p_queue_id, p_low), gen_random_uuid(), 16);
    IF r_look.ids = '{}' THEN
        r_look := queen._look_below(p_queue_id, p_group, p_low, p_low_id, 'infinity', p_low_id, 64);
        complete := p_held = '{}' AND r_look.seen < 64;
    END IF;
    ids := (queen._rotated(r_look.ids))[1 : 4];
END $$;
REVOKE ALL ON FUNCTION queen._few_candidates(uuid, text, timestamptz, uuid, uuid[]) FROM PUBLIC;

/*
 * Purpose:     partitions above the floor that are free: up to p_want of those written last, and some at a random place, so
 *              that consumers spread and no partition is last for ever. Behind 128 and the newest second it goes on only while it
 *              found nothing and p_enough is false. seen: how many it looked at.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: random, fresh snapshots.
 * Bounds:      p_want at the random place; 128 of the newest, or those of the newest second within 4096; else those above the
 *              floor, 128 a statement, and 4096 of the newest once more.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      O-6..O-9.
 */
CREATE OR REPLACE FUNCTION queen._walk_above(
    p_queue_id uuid,
    p_group text,
    p_low timestamptz,
    p_low_id uuid,
    p_want integer,
    p_enough boolean,
    OUT ids uuid[],
    OUT seen integer
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_newest timestamptz;
    v_spread uuid[] := '{}'::uuid[];
    r_look record;
BEGIN
    r_look := queen._look_below(p_queue_id, p_group, p_low, p_low_id, 'infinity', p_low_id, 128);
    ids := r_look.ids;
    seen := r_look.seen;
    IF seen < 128 THEN
        RETURN;
    END IF;
    v_newest := r_look.first_at;
    v_spread := (queen._look_below(p_queue_id, p_group, p_low, p_low_id, queen._random_moment(p_queue_id, p_low), gen_random_uuid(), p_want)).ids;
    LOOP
        EXIT WHEN r_look.seen < 128 OR cardinality(ids) >= p_want
            OR (p_enough OR ids <> '{}' OR v_spread <> '{}') AND (r_look.last_at < v_newest OR seen >= 4096);
        r_look := queen._look_below(p_queue_id, p_group, p_low, p_low_id, r_look.last_at, r_look.last_id, 128);
        ids := ids || r_look.ids;
        seen := seen + r_look.seen;
    END LOOP;
    IF ids = '{}' AND v_spread = '{}' AND NOT p_enough AND seen > 128 THEN
        -- What was pushed to while the walk was on its way may have gone to where it had been.
        ids := (queen._look_below(p_queue_id, p_group, v_newest, p_low_id, 'infinity', p_low_id, 4096)).ids;
    END IF;
    ids := (queen._rotated(ids))[1 : p_want] || v_spread[1 : p_want];
    seen := seen + p_want;
END $$;
REVOKE ALL ON FUNCTION queen._walk_above(uuid, text, timestamptz, uuid, integer, boolean) FROM PUBLIC;

/*
 * Purpose:     which of the p_rows partitions last written before a place, and above a floor, are free for a group: newest first.
 *              Answers how many there were, and where the first and the last of them are.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: fresh snapshots, reads the clock.
 * Bounds:      p_rows partitions, two key probes each.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6; perf 4 (100,000 partitions, 2 pending).
 */
CREATE OR REPLACE FUNCTION queen._look_below(
    p_queue_id uuid,
    p_group text,
    p_low timestamptz,
    p_low_id uuid,
    p_at timestamptz,
    p_id uuid,
    p_rows integer,
    OUT ids uuid[],
    OUT seen integer,
    OUT first_at timestamptz,
    OUT last_at timestamptz,
    OUT last_id uuid
)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    -- The lease is looked at first: while consumers are many, it spares most looks at a head.
    SELECT coalesce(array_agg(x.id) FILTER (WHERE x.free), '{}'), count(*), max(x.last_write_at), min(x.last_write_at), (array_agg(x.id))[count(*)]
    INTO ids, seen, first_at, last_at, last_id
    FROM (
        SELECT o.id, o.last_write_at, coalesce(o.leased_until <= clock_timestamp(), true) AND o.owed AS free
        FROM queen._owing(p_group) o
        WHERE o.queue_id = p_queue_id AND (o.last_write_at, o.id) > (p_low, p_low_id) AND (o.last_write_at, o.id) < (p_at, p_id)
        ORDER BY o.last_write_at DESC, o.id DESC
        LIMIT p_rows
    ) x;
END $$;
REVOKE ALL ON FUNCTION queen._look_below(uuid, text, timestamptz, uuid, timestamptz, uuid, integer) FROM PUBLIC;

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

-- Whether a floor that was last raised then may be raised: once a second, also after a clock that stepped back.
CREATE OR REPLACE FUNCTION queen._floor_is_due(p_updated_at timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT coalesce(p_updated_at NOT BETWEEN clock_timestamp() - interval '1 second' AND clock_timestamp(), true)
$$;
REVOKE ALL ON FUNCTION queen._floor_is_due(timestamptz) FROM PUBLIC;

-- An array from a random element on, around its end.
CREATE OR REPLACE FUNCTION queen._rotated(p_ids uuid[]) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_at integer := floor(random() * cardinality(p_ids))::integer;
BEGIN
    RETURN p_ids[v_at + 1 :] || p_ids[: v_at];
END $$;
REVOKE ALL ON FUNCTION queen._rotated(uuid[]) FROM PUBLIC;
