/*
 * Purpose:     every partition with its head and what a group makes of it: whether something is owed, and until when it
 *              is under a lease, over or not. committed is null where the group has no cursor. Filter it; it is inlined, and no
 *              clock is read in it for that reason.
 * Locks:       none.  Isolation: any.  Volatility: STABLE, or it would not be inlined.
 * Bounds:      one key probe a row, and one more where the head is not settled.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6, design 3.2 rule 4.
 */
CREATE OR REPLACE FUNCTION queen._standing(
    p_group text
) RETURNS TABLE (
    id uuid,
    queue_id uuid,
    name text,
    last_write_at timestamptz,
    log_start bigint,
    head_offset bigint,
    head_stamp timestamptz,
    committed bigint,
    owed boolean,
    leased_until timestamptz
)
LANGUAGE sql STABLE AS $$
    SELECT h.id, h.queue_id, h.name, h.last_write_at, h.log_start, h.head_offset, h.head_stamp,
           c.committed,
           h.head_offset > coalesce(c.committed, -1),
           CASE WHEN c.worker_id IS NOT NULL THEN c.lease_expires_at END
    FROM queen.partition_head h
    LEFT JOIN LATERAL (
        -- The limit keeps it a probe for each row, whatever the statistics say.
        SELECT x.committed, x.worker_id, x.lease_expires_at FROM queen.log_consumers x
        WHERE x.partition_id = h.id AND x.consumer_group = p_group
        LIMIT 1
    ) c ON true
$$;
REVOKE ALL ON FUNCTION queen._standing(text) FROM PUBLIC;

/*
 * Purpose:     the short form of _standing, for whoever looks at many partitions: whether something is owed, and the lease. What is
 *              owed is told without the head where that is possible: a push that writes the row notes its end there, so
 *              a cursor at that place is behind only when a segment begins after it, and the probe for that finds no row to fetch.
 *              committed is null where the group has no cursor.
 * Locks:       none.  Isolation: any.  Volatility: STABLE, or it would not be inlined.
 * Bounds:      one key probe a row, and one more where the head is not settled.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6, design 3.2 rules 2, 4 and 5.
 */
CREATE OR REPLACE FUNCTION queen._owing(
    p_group text
) RETURNS TABLE (
    id uuid,
    queue_id uuid,
    last_write_at timestamptz,
    owed boolean,
    leased_until timestamptz,
    log_start bigint,
    committed bigint
)
LANGUAGE sql STABLE AS $$
    SELECT p.id, p.queue_id, p.last_write_at,
           CASE WHEN p.last_offset > coalesce(c.committed, -1) THEN true
                WHEN p.settled THEN false
                WHEN p.last_offset = coalesce(c.committed, -1) THEN EXISTS (
                    SELECT FROM queen.log_segments s
                    WHERE s.partition_id = p.id AND s.base_offset >= greatest(p.last_offset + 1, p.log_start))
                ELSE coalesce((
                    SELECT s.end_offset FROM queen.log_segments s
                    WHERE s.partition_id = p.id AND s.base_offset >= p.log_start
                    ORDER BY s.base_offset DESC
                    LIMIT 1) > c.committed, false) END,
           CASE WHEN c.worker_id IS NOT NULL THEN c.lease_expires_at END,
           p.log_start, c.committed
    FROM queen.log_partitions p
    LEFT JOIN LATERAL (
        -- The limit keeps it a probe for each row, whatever the statistics say.
        SELECT x.committed, x.worker_id, x.lease_expires_at FROM queen.log_consumers x
        WHERE x.partition_id = p.id AND x.consumer_group = p_group
        LIMIT 1
    ) c ON true
$$;
REVOKE ALL ON FUNCTION queen._owing(text) FROM PUBLIC;

/*
 * Purpose:     the first p_most of these partitions that owe a group something, are not under a lease, and are due by the gates of
 *              their queue. The lease is looked at first: while consumers are many, it spares most looks at a head.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: a fresh snapshot.
 * Bounds:      three key probes a partition given, and two more behind a gate.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6, O-20, O-23, design 3.2 rule 4.
 */
CREATE OR REPLACE FUNCTION queen._free_of(
    p_ids uuid[],
    p_group text,
    p_window integer,
    p_delay integer,
    p_most integer
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN ARRAY(
        SELECT u.id
        FROM unnest(p_ids) u (id)
        CROSS JOIN LATERAL (
            SELECT FROM queen._owing(p_group) o
            WHERE o.id = u.id AND coalesce(o.leased_until <= clock_timestamp(), true)
              AND CASE WHEN o.owed THEN p_window <= 0 AND p_delay <= 0 OR queen._is_due(p_window, p_delay, o.id, o.log_start, o.committed) END
            LIMIT 1
        ) o
        LIMIT p_most);
END $$;
REVOKE ALL ON FUNCTION queen._free_of(uuid[], text, integer, integer, integer) FROM PUBLIC;
