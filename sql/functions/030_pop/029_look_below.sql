/*
 * Purpose:     which of the p_rows partitions last written before a place, and above a floor, are free for a group and due: newest first.
 *              Answers how many there were, and where the first and the last of them are.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: fresh snapshots, reads the clock.
 * Bounds:      p_rows partitions, two key probes each, and as _is_due.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6; perf 4 (100,000 partitions, 2 pending).
 */
CREATE OR REPLACE FUNCTION queen._look_below(
    p_queue_id uuid,
    p_group text,
    p_window integer,
    p_delay integer,
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
        SELECT o.id, o.last_write_at, coalesce(o.leased_until <= clock_timestamp(), true) AND o.owed
               AND (p_window <= 0 AND p_delay <= 0 OR queen._is_due(p_window, p_delay, o.id, o.log_start, o.committed)) AS free
        FROM queen._owing(p_group) o
        WHERE o.queue_id = p_queue_id AND (o.last_write_at, o.id) > (p_low, p_low_id) AND (o.last_write_at, o.id) < (p_at, p_id)
        ORDER BY o.last_write_at DESC, o.id DESC
        LIMIT p_rows
    ) x;
END $$;
REVOKE ALL ON FUNCTION queen._look_below(uuid, text, integer, integer, timestamptz, uuid, timestamptz, uuid, integer) FROM PUBLIC;
