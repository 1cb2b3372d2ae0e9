/*
 * Purpose:     create the queues and partitions that a push names and that do not exist, sorted by their keys.
 * Locks:       queues by name, then partitions by (queue, name): insert-or-ignore waits on concurrent inserters.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the pairs given; runs only when something is missing (P-14).
 * Idempotency: yes.
 * Raises:      40001 when a queue is deleted meanwhile.
 * Source:      P-11, P-12, E-8, F026, F027.
 */
CREATE OR REPLACE FUNCTION queen._provision(
    p_queues text[],
    p_partitions text[],
    p_tenant_id uuid
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_queue text;
BEGIN
    FOR v_queue IN SELECT DISTINCT u.name COLLATE "C" FROM unnest(p_queues) u (name) ORDER BY 1
    LOOP
        PERFORM queen._ensure_queue(v_queue, p_tenant_id);
    END LOOP;
    INSERT INTO queen.log_partitions (queue_id, name)
    SELECT DISTINCT q.id, g.part COLLATE "C"
    FROM unnest(p_queues, p_partitions) g (queue, part)
    JOIN queen.queues q ON q.tenant_id = p_tenant_id AND q.name = g.queue AND q.deleted_at IS NULL
    ORDER BY 1, 2
    ON CONFLICT (queue_id, name) DO NOTHING;
EXCEPTION WHEN foreign_key_violation THEN
    PERFORM queen._raise('40001', 'a queue was deleted meanwhile; retry the call');
END $$;
REVOKE ALL ON FUNCTION queen._provision(text[], text[], uuid) FROM PUBLIC;

/*
 * Purpose:     create what a bundle lacks, but do not wait for long: when somebody holds a queue or a partition that is needed
 *              (an application that pushed to a new queue and idles, a delete), nothing is created, and the caller
 *              answers busy. The other partitions of the bundle must not wait for him.
 * Locks:       as _provision, for 50 ms at most; all of them are given back when that was not enough.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      as _provision.  Idempotency: yes.
 * Raises:      as _provision.
 * Source:      design 3.3 (stalls only its own partitions).
 */
CREATE OR REPLACE FUNCTION queen._provision_unless_busy(
    p_queues text[],
    p_partitions text[],
    p_tenant_id uuid
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_before text := current_setting('lock_timeout');
BEGIN
    PERFORM set_config('lock_timeout', '50ms', true);
    PERFORM queen._provision(p_queues, p_partitions, p_tenant_id);
    PERFORM set_config('lock_timeout', v_before, true);
EXCEPTION WHEN lock_not_available THEN
    RETURN; -- the setting went back with what was created
END $$;
REVOKE ALL ON FUNCTION queen._provision_unless_busy(text[], text[], uuid) FROM PUBLIC;
