/*
 * Purpose:     create what a transaction pushes to, then lock every partition that it touches, in the one order: those it
 *              pushes to, and weakly those whose messages it acknowledges. An ack needs no partition, but a queue delete
 *              goes from each partition to its cursors, so a transaction that held a partition and then waited for a
 *              cursor of another one could meet it half way. The weak lock stands in nobody's way but a delete's.
 * Locks:       missing queues and partitions as _provision; then partitions by id ascending, FOR NO KEY UPDATE where
 *              something is pushed, FOR KEY SHARE where something is only acknowledged.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: locks, and creates.
 * Bounds:      the partitions of the call.
 * Idempotency: yes.
 * Raises:      40001 when a queue or a partition that is pushed to was removed meanwhile.
 * Source:      A-31, design 3.3, L-2, L-8.
 */
CREATE OR REPLACE FUNCTION queen._lock_transaction(
    p_queues text[],
    p_partitions text[],
    p_ack_partition_ids uuid[],
    p_tenant_id uuid
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r record;
    v_ids uuid[];
BEGIN
    IF cardinality(p_queues) > 0 THEN
        v_ids := (queen._resolve_lanes(p_queues, p_partitions, p_tenant_id)).ids;
        IF array_position(v_ids, NULL) IS NOT NULL THEN
            PERFORM queen._provision(p_queues, p_partitions, p_tenant_id);
            v_ids := (queen._resolve_lanes(p_queues, p_partitions, p_tenant_id)).ids;
        END IF;
        IF array_position(v_ids, NULL) IS NOT NULL THEN
            PERFORM queen._raise('40001', 'a queue was deleted meanwhile; retry the call');
        END IF;
    END IF;
    -- A loop, so that partitions are locked in id order whatever the plan (set-based forms deadlocked).
    FOR r IN
        SELECT u.id, bool_or(u.pushed) AS pushed
        FROM (SELECT i AS id, true AS pushed FROM unnest(v_ids) i UNION ALL SELECT i, false FROM unnest(p_ack_partition_ids) i) u
        GROUP BY u.id
        ORDER BY u.id
    LOOP
        IF r.pushed THEN
            PERFORM FROM queen.log_partitions p WHERE p.id = r.id FOR NO KEY UPDATE;
            IF NOT FOUND THEN
                PERFORM queen._raise('40001', 'the partition was removed meanwhile; retry the call');
            END IF;
        ELSE
            PERFORM FROM queen.log_partitions p WHERE p.id = r.id FOR KEY SHARE;
        END IF;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._lock_transaction(text[], text[], uuid[], uuid) FROM PUBLIC;
