/*
 * Purpose:     one message in detail: payload, status, every group's stand, the options of its queue. When the log has it no
 *              more but a dead letter does, the dead letter answers. Of several messages with the id, the newest.
 * Locks:       none.  Isolation: any; STABLE keeps every read on one snapshot.
 * Volatility:  STABLE.
 * Bounds:      as _find_message; the consumers of one partition.
 * Idempotency: reads only.
 * Raises:      nothing; no row when there is no such message, or it is another tenant's.
 * Source:      spec 4.8 (GET /api/v1/messages/:partitionId/:transactionId).
 */
CREATE OR REPLACE FUNCTION queen.get_message_v1(
    p_partition_id uuid,
    p_transaction_id text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.message_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    r_part queen.log_partitions;
    r_queue queen.queues;
    r_out queen.message_row;
    v_at bigint;
BEGIN
    SELECT p.* INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id;
    SELECT q.* INTO r_queue FROM queen.queues q WHERE q.id = r_part.queue_id AND q.tenant_id = v_tenant AND q.deleted_at IS NULL;
    IF r_queue.id IS NULL THEN
        RETURN;
    END IF;
    v_at := queen._find_message(r_part.id, r_part.log_start, p_transaction_id);
    SELECT m.* INTO r_out FROM queen._message_at(r_queue, r_part.id, r_part.name, v_at) m;
    IF r_out.id IS NULL THEN
        SELECT d.message_id, d.transaction_id, 0, r_part.id, r_queue.name, r_part.name, coalesce(r_queue.namespace, ''), coalesce(r_queue.task, ''),
               'dead_letter', 'completed', 0, 0, d.trace_id::text, d.producer_sub, d."offset", d."offset", d.failed_at, NULL, d.payload, d.error, d.retry_count, false, 'null', 'null'
        INTO r_out
        FROM queen.log_dlq d
        WHERE d.id = (SELECT u.x FROM queen._letters_of(p_partition_id, p_transaction_id, v_tenant) WITH ORDINALITY u (x, ord) ORDER BY u.ord LIMIT 1);
        IF NOT FOUND THEN
            RETURN;
        END IF;
    END IF;
    r_out.options := queen._options_document(r_queue);
    SELECT coalesce(bool_or(c.consumer_group = '__QUEUE_MODE__'), false),
           (count(*) FILTER (WHERE c.consumer_group <> '__QUEUE_MODE__'))::integer,
           coalesce(json_agg(json_build_object(
               'name', c.consumer_group,
               'group', c.consumer_group,
               'consumed', c.committed >= r_out."offset",
               'leaseExpiresAt', queen._utc_ms(CASE WHEN r_out."offset" > c.committed AND r_out."offset" <= c.batch_end
                   AND c.lease_expires_at > statement_timestamp() THEN c.lease_expires_at END))
               ORDER BY c.consumer_group), '[]')
    INTO r_out.has_queue_mode, r_out.total_groups, r_out.groups
    FROM queen.log_consumers c
    WHERE c.partition_id = p_partition_id;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.get_message_v1(uuid, text, uuid) IS
'One message in detail: its payload, where every consumer group stands with it, and whether and why it is a dead letter.';
REVOKE ALL ON FUNCTION queen.get_message_v1(uuid, text, uuid) FROM PUBLIC;
