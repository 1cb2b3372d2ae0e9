/*
 * Purpose:     dead letters of one message, named as acks name it: delete them all, whatever the group, or replay the
 *              newest. What is in the log itself is never touched: segments are immutable.
 * Locks:       as delete_dead_letters_v1 and replay_dead_letter_v1.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the dead letters of one message.
 * Idempotency: yes.
 * Raises:      55P03, 40001; retry_message_v1 answers no row when the message has no dead letter.
 * Source:      spec 4.8, E-32.
 */
CREATE OR REPLACE FUNCTION queen.delete_message_v1(
    p_partition_id uuid,
    p_transaction_id text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s' AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    PERFORM queen._require_read_committed();
    RETURN queen._delete_letters(ARRAY(SELECT x FROM queen._letters_of(p_partition_id, p_transaction_id, v_tenant) x));
END $$;
COMMENT ON FUNCTION queen.delete_message_v1(uuid, text, uuid) IS
'Delete the dead letters of one message, of every group; answers how many. The log itself is not touched.';
REVOKE ALL ON FUNCTION queen.delete_message_v1(uuid, text, uuid) FROM PUBLIC;

CREATE OR REPLACE FUNCTION queen.retry_message_v1(
    p_partition_id uuid,
    p_transaction_id text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.replay_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_id uuid;
BEGIN
    PERFORM queen._require_read_committed();
    SELECT x INTO v_id FROM queen._letters_of(p_partition_id, p_transaction_id, v_tenant) WITH ORDINALITY u (x, ord) ORDER BY u.ord LIMIT 1;
    IF v_id IS NOT NULL THEN
        RETURN QUERY SELECT r.* FROM queen.replay_dead_letter_v1(v_id, p_tenant_id => v_tenant) r WHERE r.result <> 'gone';
    END IF;
END $$;
COMMENT ON FUNCTION queen.retry_message_v1(uuid, text, uuid) IS
'Move the newest dead letter of one message back to the tail of its partition; no row when it has none.';
REVOKE ALL ON FUNCTION queen.retry_message_v1(uuid, text, uuid) FROM PUBLIC;

/*
 * Purpose:     ids of the dead letters of one message, newest first.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: one index probe.
 * Idempotency: reads only.  Raises: nothing.  Source: spec 4.8.
 */
CREATE OR REPLACE FUNCTION queen._letters_of(
    p_partition_id uuid,
    p_transaction_id text,
    p_tenant_id uuid
) RETURNS SETOF uuid
LANGUAGE sql STABLE AS $$
    SELECT d.id
    FROM queen.log_dlq d
    JOIN queen.log_partitions p ON p.id = d.partition_id
    JOIN queen.queues q ON q.id = p.queue_id
    WHERE d.partition_id = p_partition_id
      AND hashtextextended(d.transaction_id, 0) = hashtextextended(p_transaction_id COLLATE "C", 0)
      AND d.transaction_id = p_transaction_id
      AND q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
    ORDER BY d.failed_at DESC, d.id DESC
$$;
REVOKE ALL ON FUNCTION queen._letters_of(uuid, text, uuid) FROM PUBLIC;
