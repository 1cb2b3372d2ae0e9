/*
 * Purpose:     the place of the first of these partitions whose cursor can be locked and is not under a lease, or is still to be made;
 *              NULL when there is none. Where consumers are more than partitions most are in somebody's hands, and one
 *              statement passes over them.
 * Locks:       that consumer row, FOR UPDATE SKIP LOCKED.
 * Isolation:   READ COMMITTED.  Volatility: VOLATILE: locks.
 * Bounds:      two key probes a partition.  Idempotency: yes, in a transaction.  Raises: nothing.
 * Source:      O-8, O-25, O-26; perf 4 (3 groups over the same messages).
 */
CREATE OR REPLACE FUNCTION queen._first_lockable(
    p_ids uuid[],
    p_group text
) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN (
        SELECT u.ord
        FROM unnest(p_ids) WITH ORDINALITY u (id, ord)
        LEFT JOIN LATERAL (
            SELECT true AS locked FROM queen.log_consumers c
            WHERE c.partition_id = u.id AND c.consumer_group = p_group
              AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) l ON true
        WHERE l.locked
           OR (SELECT true FROM queen.log_consumers c WHERE c.partition_id = u.id AND c.consumer_group = p_group LIMIT 1) IS NULL
        LIMIT 1);
END $$;
REVOKE ALL ON FUNCTION queen._first_lockable(uuid[], text) FROM PUBLIC;
