/*
 * Purpose:     creates a queue or edits its options; an edit keeps what it does not mention, mode replace does not.
 * Locks:       the queue row FOR NO KEY UPDATE: edits queue up, pushes that make a partition (FOR KEY SHARE) do not wait. A
 *              call that switches encryption on notifies servers at the commit, so its transaction cannot be prepared.
 * Isolation:   READ COMMITTED; above it the row read after a wait would be the old one and an edit would be lost.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row of queues; no partition is made. With p_dry_run nothing is kept: the edit is made, the preview of
 *              retention is taken under it, and the edit is undone.
 * Idempotency: yes.
 * Raises:      QN400 with the option, queue, options or mode as detail, nothing written; 55P03 when the row
 *              stays locked for 5 s; 40001 when the queue keeps vanishing.
 * Source:      C-1 to C-15, seed "Queues and resources", design 4.
 */
CREATE OR REPLACE FUNCTION queen.configure_queue_v1(
    p_queue text,
    p_options jsonb DEFAULT NULL,
    p_mode text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_dry_run boolean DEFAULT false
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s' AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_columns jsonb;
    v_known boolean;
    v_answer jsonb;
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(p_queue, 'queue');
    IF p_mode NOT IN ('merge', 'replace') THEN
        PERFORM queen._raise('QN400', format('mode must be "merge" or "replace", got %s', to_json(left(p_mode, 64))), 'mode');
    END IF;
    v_columns := queen._parse_options(p_options, coalesce(p_mode = 'replace', false));
    IF NOT coalesce(p_dry_run, false) THEN
        RETURN queen._configure_queue(p_queue, v_tenant, v_columns);
    END IF;
    v_known := EXISTS (SELECT FROM queen.queues q WHERE q.tenant_id = v_tenant AND q.name = p_queue COLLATE "C" AND q.deleted_at IS NULL);
    BEGIN
        v_answer := queen._configure_queue(p_queue, v_tenant, v_columns);
        v_answer := v_answer || jsonb_build_object(
            'configured', false,
            'dryRun', true,
            'queueId', CASE WHEN v_known THEN v_answer ->> 'queueId' ELSE '00000000-0000-0000-0000-000000000000' END,
            'retention', queen.get_retention_preview_v1(p_queue, p_tenant_id => p_tenant_id));
        PERFORM queen._raise('QN000', 'dry run'); -- undoes the edit; the variables stay
    EXCEPTION WHEN SQLSTATE 'QN000' THEN
        RETURN v_answer;
    END;
END $$;
COMMENT ON FUNCTION queen.configure_queue_v1(text, jsonb, text, uuid, boolean) IS
'Creates a queue, or changes the options you name and keeps the rest; null sets an option back to its default, mode replace sets back all you do not name. Answers the whole configuration as it now stands; with p_dry_run as it would stand, and what retention would then delete, and nothing is changed.';
REVOKE ALL ON FUNCTION queen.configure_queue_v1(text, jsonb, text, uuid, boolean) FROM PUBLIC;

/*
 * Purpose:     the edit itself, by columns that were read before.
 * Locks:       as configure_queue_v1.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.  Bounds: one row.
 * Idempotency: yes.  Raises: 40001, 55P03.  Source: C-2, C-7, C-12.
 */
CREATE OR REPLACE FUNCTION queen._configure_queue(
    p_queue text,
    p_tenant_id uuid,
    p_columns jsonb
) RETURNS jsonb
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_columns jsonb := p_columns;
    r_queue queen.queues;
    v_encrypted boolean;
BEGIN
    -- A round ends without a row only when the queue that blocked the insert is gone again.
    FOR v_round IN 1..3 LOOP
        SELECT q.* INTO r_queue
        FROM queen.queues q
        WHERE q.tenant_id = p_tenant_id AND q.name = p_queue COLLATE "C" AND q.deleted_at IS NULL
        FOR NO KEY UPDATE;
        EXIT WHEN FOUND;
        INSERT INTO queen.queues (tenant_id, name)
        VALUES (p_tenant_id, p_queue)
        ON CONFLICT (tenant_id, name) WHERE deleted_at IS NULL DO NOTHING
        RETURNING * INTO r_queue;
        IF FOUND THEN
            v_columns := queen._parse_options(NULL, true) || v_columns;
            EXIT;
        END IF;
    END LOOP;
    IF r_queue.id IS NULL THEN
        PERFORM queen._raise('40001', format('queue %s is being deleted and created at the same time', to_json(p_queue)));
    END IF;

    v_encrypted := r_queue.encryption_enabled;
    r_queue := queen._store_options(r_queue, v_columns);
    IF r_queue.encryption_enabled AND NOT v_encrypted THEN
        PERFORM queen._tell_sealed(p_tenant_id, p_queue);
    END IF;
    IF NOT r_queue.retention_enabled
       AND (v_columns ?| ARRAY['retention_seconds', 'completed_retention_seconds', 'retention_bytes', 'retention_messages', 'retention_enabled'])
       AND greatest(r_queue.retention_seconds, r_queue.completed_retention_seconds, r_queue.retention_bytes, r_queue.retention_messages) > 0 THEN
        RAISE NOTICE 'retention is not active: retentionSeconds, completedRetentionSeconds, retentionBytes and retentionMessages need retentionEnabled';
    END IF;
    RETURN jsonb_build_object(
        'configured', true,
        'queueId', r_queue.id,
        'partitionId', NULL,
        'queue', r_queue.name,
        'namespace', r_queue.namespace,
        'task', r_queue.task,
        'storage', 'segments',
        'options', queen._options_document(r_queue)::jsonb - ARRAY['namespace', 'task']);
END $$;
REVOKE ALL ON FUNCTION queen._configure_queue(text, uuid, jsonb) FROM PUBLIC;

/*
 * Purpose:     tell every server, at the commit, that a queue is encrypted now: one without a key spools nothing for it from then
 *              on, should this database go away before it looks. Names never travel, so it is a hash.
 * Locks:       that of NOTIFY, at the commit.  Isolation: any.  Volatility: VOLATILE: notifies.
 * Bounds:      one notification.  Idempotency: yes.  Raises: nothing.
 * Source:      issue 3 items 7 and 8 (plaintext is never stored silently), F195.
 */
CREATE OR REPLACE FUNCTION queen._tell_sealed(
    p_tenant_id uuid,
    p_queue text
) RETURNS void
LANGUAGE sql VOLATILE AS $$
    SELECT pg_notify('queen_wake', 'sealed - ' || left(encode(sha256(convert_to(p_tenant_id::text || ' ' || p_queue, 'UTF8')), 'hex'), 16))
$$;
REVOKE ALL ON FUNCTION queen._tell_sealed(uuid, text) FROM PUBLIC;
