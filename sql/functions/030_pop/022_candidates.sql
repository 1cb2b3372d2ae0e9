/*
 * Purpose:     partitions of a queue that may hold something free for a group: some of those held from before the floor, and some
 *              of those written since. What they cost is what was looked at, not how many were written; only while nothing is
 *              found all are looked at, so an empty answer is the truth. None is given that a gate of the queue holds back. The
 *              claim verifies each under its lock; a stale candidate just yields nothing. A search that met many raises the
 *              floor a bit, so that the next one is short. With p_quick a few are enough: first, most times, the partition that
 *              this session took from before, so that consumers that are as many as partitions do not run after each other's.
 *              With p_only_few, too, it is not made sure that there are no others.
 * Locks:       as _raise_floor, which never waits.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: random, fresh snapshots, may write the floor.
 * Bounds:      512 rows for a cap of 32 or more (or none), else sixteen times the cap, at least 64; of those held, and of those
 *              above the floor. Looked at are twice as many of those held, and what _walk_above says; all, when nothing is
 *              free there. Then as many partitions for the floor (with p_quick 128), or half of all those.
 * Idempotency: changes nothing but the floor.  Raises: nothing.
 * Source:      O-6..O-10, O-20, O-23; perf 4 (100,000 partitions, 2 pending).
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
    v_want integer := CASE WHEN p_max_partitions BETWEEN 1 AND 31 THEN greatest(16 * p_max_partitions, 64) ELSE 512 END;
    v_ids uuid[] := '{}'::uuid[];
    v_held uuid[];
    r_mark record;
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
    SELECT queen._floor_bound(w.last_empty_scan_at) AS low, coalesce(w.last_empty_scan_id, '00000000-0000-0000-0000-000000000000') AS low_id,
           coalesce(w.held, '{}') AS held, queen._floor_is_due(w.updated_at) AS due,
           coalesce(q.window_buffer, 0) AS window_buffer, coalesce(q.delayed_processing, 0) AS delay
    INTO r_mark
    FROM queen.queues q
    LEFT JOIN queen.consumer_watermarks w ON w.queue_id = q.id AND w.consumer_group = p_group
    WHERE q.id = p_queue_id;
    v_held := queen._rotated(r_mark.held);
    IF p_quick THEN
        r_few := queen._few_candidates(p_queue_id, p_group, r_mark.window_buffer, r_mark.delay, r_mark.low, r_mark.low_id, v_held);
        -- Now and then nobody is quick, so that what that search does not meet is not last for ever, and the floor rises.
        IF r_few.ids <> '{}' AND random() < 0.99 OR r_few.complete OR p_only_few THEN
            RETURN QUERY SELECT u.id FROM unnest(r_few.ids) u (id);
            RETURN;
        END IF;
    END IF;
    IF v_held <> '{}' THEN
        v_ids := queen._free_of(v_held[1 : 2 * v_want], p_group, r_mark.window_buffer, r_mark.delay, v_want);
    END IF;
    -- However many are held, those above the floor must not starve.
    r_walk := queen._walk_above(p_queue_id, p_group, r_mark.window_buffer, r_mark.delay, r_mark.low, r_mark.low_id, v_want, v_ids <> '{}');
    v_ids := v_ids || r_walk.ids;
    IF v_ids = '{}' AND cardinality(v_held) > 2 * v_want THEN
        v_ids := queen._free_of(v_held[2 * v_want + 1 :], p_group, r_mark.window_buffer, r_mark.delay, v_want);
    END IF;
    IF r_walk.seen + cardinality(v_held) > 64 AND r_mark.due THEN
        PERFORM queen._raise_floor(p_queue_id, p_group, greatest(CASE WHEN p_quick THEN 128 ELSE v_want END, CASE WHEN v_ids = '{}' THEN r_walk.seen / 2 END));
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
    p_window integer,
    p_delay integer,
    p_low timestamptz,
    p_low_id uuid,
    p_held uuid[],
    OUT ids uuid[],
    OUT complete boolean
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_moment timestamptz;
    r_look record;
BEGIN
    complete := false;
    -- Not always, or those above the floor would starve while something is held.
    IF p_held <> '{}' AND random() < 0.75 THEN
        ids := queen._free_of(p_held[1 : 16], p_group, p_window, p_delay, 4);
        IF ids <> '{}' THEN
            RETURN;
        END IF;
    END IF;
    v_moment := queen._random_moment(p_queue_id, p_low);
    r_look := queen._look_below(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id, v_moment, queen._random_place(p_queue_id, v_moment), 16);
    IF r_look.ids = '{}' THEN
        r_look := queen._newest_free(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id, 64);
        complete := p_held = '{}' AND r_look.complete;
    END IF;
    ids := (queen._rotated(r_look.ids))[1 : 4];
END $$;
REVOKE ALL ON FUNCTION queen._few_candidates(uuid, text, integer, integer, timestamptz, uuid, uuid[]) FROM PUBLIC;
