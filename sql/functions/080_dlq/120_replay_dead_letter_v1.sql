/*
 * Purpose:     move one dead letter back: to the tail of its partition, or to another queue or partition, which is created
 *              when it is missing. The message is new: its transactionId is dlq:<id>, and every group sees it. The queue
 *              that the dead letter came from is never created again. An encrypted queue takes no plaintext: a server that
 *              has a key passes the payload sealed, which is stored instead of a plain one there, and ignored otherwise.
 * Locks:       a missing queue and partition by name, the destination partition FOR NO KEY UPDATE, the dead letter FOR
 *              UPDATE; under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED only: the dead letter is read after the wait.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one message.
 * Idempotency: yes: a second call answers gone.
 * Raises:      QN503 in push maintenance; QN400 for a bad name or a p_sealed_payload that is no envelope; 40001 when a queue or partition is deleted meanwhile; 55P03. A refusal that
 *              keeps the dead letter is the row's result: failed or duplicate.
 * Source:      A-38, spec 4.9, F071, F073.
 */
CREATE OR REPLACE FUNCTION queen.replay_dead_letter_v1(
    p_id uuid,
    p_queue text DEFAULT NULL,
    p_partition text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_sealed_payload text DEFAULT NULL
) RETURNS SETOF queen.replay_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    r_from queen.dead_letter_row;
    r_to record;
    r_part queen.log_partitions;
    r_out queen.replay_row;
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._refuse_while_paused();
    IF p_sealed_payload IS NOT NULL AND queen._replay_refusal(p_sealed_payload, true) IS NOT NULL THEN
        PERFORM queen._raise('QN400', 'p_sealed_payload must be an envelope', 'p_sealed_payload');
    END IF;
    SELECT d.* INTO r_from FROM queen._dead_letters(v_tenant) d WHERE d.id = p_id;
    IF r_from.id IS NOT NULL THEN
        r_to := queen._replay_destination(r_from.partition_id, p_queue, p_partition, v_tenant);
        SELECT p.* INTO r_part FROM queen.log_partitions p WHERE p.id = r_to.partition_id FOR NO KEY UPDATE;
    END IF;
    IF r_part.id IS NOT NULL THEN
        RETURN QUERY SELECT * FROM queen._replay_letters(r_part, r_to.queue, r_to.win, r_to.encrypted, ARRAY[p_id], false, p_sealed_payload);
        RETURN;
    ELSIF r_from.id IS NOT NULL AND (p_queue IS NOT NULL OR p_partition IS NOT NULL) THEN
        PERFORM queen._raise('40001', 'the destination was removed meanwhile; retry the call');
    END IF;
    -- It went with its queue, or it never was.
    r_out.dlq_id := p_id;
    r_out.result := 'gone';
    r_out.queue := coalesce(r_from.queue, '');
    r_out.partition := coalesce(r_from.partition, '');
    r_out.consumer_group := coalesce(r_from.consumer_group, '');
    r_out.transaction_id := coalesce(r_from.transaction_id, '');
    r_out.failed_at := coalesce(r_from.failed_at, 'epoch');
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.replay_dead_letter_v1(uuid, text, text, uuid, text) IS
'Move one dead letter back to its partition, or to another queue or partition, as a new message; it is either stored and no dead letter any more, or still one.';
REVOKE ALL ON FUNCTION queen.replay_dead_letter_v1(uuid, text, text, uuid, text) FROM PUBLIC;

/*
 * Purpose:     partition that a replay goes to, with the options of its queue. Without a destination that is the partition it
 *              came from; a named queue or partition is created when missing, the queue it came from is not.
 * Locks:       a missing queue and partition by name.
 * Isolation:   READ COMMITTED.  Volatility: VOLATILE: may write.  Bounds: one partition.
 * Idempotency: yes.  Raises: QN400, 40001.
 * Source:      spec 4.9, P-11, F073.
 */
CREATE OR REPLACE FUNCTION queen._replay_destination(
    p_from_partition_id uuid,
    p_queue text,
    p_partition text,
    p_tenant_id uuid,
    OUT partition_id uuid,
    OUT queue text,
    OUT win integer,
    OUT encrypted boolean
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_queue_id uuid;
    v_name text;
BEGIN
    SELECT l.queue_id, l.name INTO v_queue_id, v_name FROM queen.log_partitions l WHERE l.id = p_from_partition_id;
    v_name := coalesce(p_partition, v_name);
    IF p_queue IS NOT NULL THEN
        v_queue_id := queen._ensure_queue(p_queue, p_tenant_id);
    END IF;
    IF p_queue IS NOT NULL OR p_partition IS NOT NULL THEN
        PERFORM queen._check_name(v_name, 'partition');
        PERFORM FROM queen.log_partitions l WHERE l.queue_id = v_queue_id AND l.name = v_name COLLATE "C";
        IF NOT FOUND THEN
            PERFORM queen._add_partition(v_queue_id, v_name);
        END IF;
    END IF;
    SELECT l.id, q.name, q.dedup_window_seconds, q.encryption_enabled INTO partition_id, queue, win, encrypted
    FROM queen.queues q
    JOIN queen.log_partitions l ON l.queue_id = q.id AND l.name = v_name COLLATE "C"
    WHERE q.id = v_queue_id AND q.deleted_at IS NULL;
END $$;
REVOKE ALL ON FUNCTION queen._replay_destination(uuid, text, text, uuid) FROM PUBLIC;

/*
 * Purpose:     add a partition to a queue known by id, so that a queue deleted meanwhile is not made anew by its name.
 * Locks:       the new row's key; the queue FOR KEY SHARE.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      one row.  Idempotency: yes.  Raises: 40001 when the queue is deleted meanwhile.  Source: P-12, F073.
 */
CREATE OR REPLACE FUNCTION queen._add_partition(
    p_queue_id uuid,
    p_name text
) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO queen.log_partitions (queue_id, name) VALUES (p_queue_id, p_name) ON CONFLICT (queue_id, name) DO NOTHING;
EXCEPTION WHEN foreign_key_violation THEN
    PERFORM queen._raise('40001', 'the queue was deleted meanwhile; retry the call');
END $$;
REVOKE ALL ON FUNCTION queen._add_partition(uuid, text) FROM PUBLIC;

/*
 * Purpose:     refuse to move dead letters while pushes are paused: they are nowhere safer than where they are.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: one key probe.
 * Idempotency: yes.  Raises: QN503 in push maintenance.  Source: A-38.
 */
CREATE OR REPLACE FUNCTION queen._refuse_while_paused() RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF queen._is_paused('maintenance_mode') THEN
        PERFORM queen._raise('QN503', 'push maintenance is on: dead letters stay where they are');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._refuse_while_paused() FROM PUBLIC;
