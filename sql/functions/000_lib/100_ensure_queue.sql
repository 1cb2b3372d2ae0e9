/*
 * Purpose:     id of the live queue of a name; the queue is made with column defaults when it is missing.
 * Locks:       none while the queue exists; the new row and its name when it is made.
 * Isolation:   READ COMMITTED; above it a lost race is 40001, never a second queue.
 * Volatility:  VOLATILE: may write, and each look needs a snapshot of its own.
 * Bounds:      one index probe; at most three rounds when queues of this name come and go.
 * Idempotency: yes.
 * Raises:      QN400 for a name that breaks the rules; 40001 when the queue keeps vanishing.
 * Source:      E-8, P-11, P-14.
 */
CREATE OR REPLACE FUNCTION queen._ensure_queue(
    p_queue text,
    p_tenant_id uuid
) RETURNS uuid
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_id uuid;
BEGIN
    -- A round ends without an id only when the queue that blocked the insert is gone again.
    FOR v_round IN 1..3 LOOP
        SELECT q.id INTO v_id
        FROM queen.queues q
        WHERE q.tenant_id = p_tenant_id
          AND q.name = p_queue COLLATE "C"
          AND q.deleted_at IS NULL;
        IF FOUND THEN
            RETURN v_id;
        END IF;
        PERFORM queen._check_name(p_queue, 'queue');
        INSERT INTO queen.queues (tenant_id, name, namespace, task)
        VALUES (p_tenant_id, p_queue, split_part(p_queue, '.', 1), split_part(p_queue, '.', 2))
        ON CONFLICT (tenant_id, name) WHERE deleted_at IS NULL DO NOTHING
        RETURNING id INTO v_id;
        IF FOUND THEN
            RETURN v_id;
        END IF;
    END LOOP;
    PERFORM queen._raise('40001', format('queue %s is being deleted and created at the same time', to_json(p_queue)));
    RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION queen._ensure_queue(text, uuid) FROM PUBLIC;
