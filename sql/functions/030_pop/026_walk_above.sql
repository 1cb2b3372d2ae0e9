/*
 * Purpose:     partitions above the floor that are free: of those written last, and some at a random place, so that consumers
 *              spread and no partition is last for ever. Behind these it goes on only while it found nothing and p_enough is false; of
 *              a queue with gates first where they are open for certain. seen: how many it met.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: random, fresh snapshots.
 * Bounds:      as _newest_free for p_want / 4, but 32 at least and all from 512 on, and p_want / 4 at the random place; while that is nothing, p_want there and
 *              at the gates' edge, then those above the floor, 128 a statement, and 4096 of the newest once more.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      O-6..O-9, O-20, O-23.
 */
CREATE OR REPLACE FUNCTION queen._walk_above(
    p_queue_id uuid,
    p_group text,
    p_window integer,
    p_delay integer,
    p_low timestamptz,
    p_low_id uuid,
    p_want integer,
    p_enough boolean,
    OUT ids uuid[],
    OUT seen integer
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    c_first CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
    v_rows integer;
    v_spread uuid[];
    v_moment timestamptz;
    v_at timestamptz := 'infinity';
    v_id uuid := c_first;
    r_new record;
    r_look record;
BEGIN
    r_new := queen._newest_free(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id, CASE WHEN p_want >= 512 THEN p_want ELSE greatest(p_want / 4, 32) END);
    ids := r_new.ids;
    seen := r_new.seen;
    IF r_new.complete THEN
        RETURN;
    END IF;
    IF ids = '{}' AND NOT p_enough AND (p_window > 0 OR p_delay > 0) THEN
        ids := (queen._look_below(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id,
            queen._seconds_ago(greatest(p_window, p_delay)), c_first, p_want)).ids;
    END IF;
    v_rows := CASE WHEN p_enough OR ids <> '{}' THEN p_want / 4 ELSE p_want END;
    v_moment := queen._random_moment(p_queue_id, p_low);
    v_spread := (queen._look_below(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id,
        v_moment, queen._random_place(p_queue_id, v_moment), v_rows)).ids;
    seen := seen + v_rows;
    IF ids = '{}' AND v_spread = '{}' AND NOT p_enough THEN
        LOOP
            r_look := queen._look_below(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id, v_at, v_id, 128);
            ids := r_look.ids;
            seen := seen + r_look.seen;
            EXIT WHEN r_look.seen < 128 OR ids <> '{}';
            v_at := r_look.last_at;
            v_id := r_look.last_id;
        END LOOP;
        IF ids = '{}' THEN
            -- What was pushed to while the walk was on its way may have gone to where it had been.
            ids := (queen._look_below(p_queue_id, p_group, p_window, p_delay, r_new.newest, c_first, 'infinity', c_first, 4096)).ids;
        END IF;
    END IF;
    ids := (queen._rotated(ids))[1 : p_want] || v_spread;
END $$;
REVOKE ALL ON FUNCTION queen._walk_above(uuid, text, integer, integer, timestamptz, uuid, integer, boolean) FROM PUBLIC;

/*
 * Purpose:     which of the p_rows last written above a floor are free for a group and due. Of a second with more than these it
 *              takes those with the newest stamps that pushes noted, so that what was written just now is found among many, and those
 *              that got more than was noted: pushes of the same second leave the row alone. For more than 64 all of the second count.
 *              complete: there are no others. seen: how many it met.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: fresh snapshots.
 * Bounds:      4096 rows, one key probe each; p_rows of them (all, for more than 64), and those that got more, as _free_of.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6, design 3.2 rule 2; perf 4 (100,000 partitions, 2 pending).
 */
CREATE OR REPLACE FUNCTION queen._newest_free(
    p_queue_id uuid,
    p_group text,
    p_window integer,
    p_delay integer,
    p_low timestamptz,
    p_low_id uuid,
    p_rows integer,
    OUT ids uuid[],
    OUT seen integer,
    OUT newest timestamptz,
    OUT complete boolean
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_look record;
BEGIN
    SELECT (array_agg(n.id ORDER BY n.last_stamp DESC NULLS LAST))[1 : CASE WHEN p_rows > 64 THEN 4096 ELSE p_rows END] || coalesce(array_agg(n.id) FILTER (WHERE n.behind), '{}'),
           count(*), max(n.last_write_at)
    INTO ids, seen, newest
    FROM (
        SELECT p.id, p.last_write_at, p.last_stamp, NOT p.settled AND EXISTS (
                   SELECT FROM queen.log_segments s
                   WHERE s.partition_id = p.id AND s.base_offset >= greatest(p.last_offset + 1, p.log_start)) AS behind
        FROM queen.log_partitions p
        WHERE p.queue_id = p_queue_id AND (p.last_write_at, p.id) > (p_low, p_low_id)
          AND p.last_write_at = (SELECT max(x.last_write_at) FROM queen.log_partitions x WHERE x.queue_id = p_queue_id)
        ORDER BY p.id
        LIMIT 4096
    ) n;
    IF seen >= p_rows THEN
        ids := queen._free_of(ids, p_group, p_window, p_delay, p_rows);
        complete := false;
        RETURN;
    END IF;
    -- One statement, or a push could lift a partition from what is not looked at yet to what was.
    r_look := queen._look_below(p_queue_id, p_group, p_window, p_delay, p_low, p_low_id, 'infinity', p_low_id, p_rows);
    ids := r_look.ids;
    seen := r_look.seen;
    complete := r_look.seen < p_rows;
END $$;
REVOKE ALL ON FUNCTION queen._newest_free(uuid, text, integer, integer, timestamptz, uuid, integer) FROM PUBLIC;
