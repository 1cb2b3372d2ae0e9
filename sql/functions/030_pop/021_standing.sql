/*
 * Purpose:     every partition with its head and what a group makes of it: whether something is owed, and until when it
 *              is under a lease, over or not. Filter it; it is inlined, and no clock is read in it for that reason.
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
           coalesce(c.committed, -1),
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
 * Purpose:     the first four of these partitions that owe a group something and are not under a lease. The lease is looked at
 *              first: while consumers are many, it spares most looks at a head.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: a fresh snapshot.
 * Bounds:      three key probes a partition given.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-6, design 3.2 rule 4.
 */
CREATE OR REPLACE FUNCTION queen._free_of(
    p_ids uuid[],
    p_group text
) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN ARRAY(
        SELECT u.id
        FROM unnest(p_ids) u (id)
        LEFT JOIN LATERAL (
            SELECT x.committed, x.worker_id, x.lease_expires_at FROM queen.log_consumers x
            WHERE x.partition_id = u.id AND x.consumer_group = p_group
            LIMIT 1
        ) c ON true
        JOIN LATERAL (
            SELECT h.head_offset FROM queen.partition_head h WHERE h.id = u.id LIMIT 1
        ) h ON h.head_offset > coalesce(c.committed, -1)
        WHERE c.worker_id IS NULL OR coalesce(c.lease_expires_at <= clock_timestamp(), true)
        LIMIT 4);
END $$;
REVOKE ALL ON FUNCTION queen._free_of(uuid[], text) FROM PUBLIC;
