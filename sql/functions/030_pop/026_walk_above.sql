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
