/*
 * Purpose:     note something about a message. Whether there is such a message is not checked; a partition of another tenant
 *              is refused like one that does not exist for it. The names of queue and partition are copied, because the
 *              trace outlives both.
 * Locks:       none.
 * Isolation:   any.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row, and one for each name (at most 100).
 * Idempotency: none.
 * Raises:      QN404 for a partition of somebody else; QN400 (detail: the argument).
 * Source:      spec 4.10, E-5, R-49.
 */
CREATE OR REPLACE FUNCTION queen.record_trace_v1(
    p_partition_id uuid,
    p_transaction_id text,
    p_data json,
    p_consumer_group text DEFAULT NULL,
    p_event_type text DEFAULT NULL,
    p_trace_names text[] DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_names text[] := ARRAY(SELECT DISTINCT n COLLATE "C" FROM unnest(p_trace_names) n WHERE n <> '');
    v_id uuid;
    v_at timestamptz;
    v_name text;
BEGIN
    IF p_partition_id IS NULL OR coalesce(p_transaction_id, '') = '' THEN
        PERFORM queen._raise('QN400', 'transactionId and partitionId are required', 'transactionId');
    ELSIF p_data IS NULL THEN
        PERFORM queen._raise('QN400', 'data is required', 'data');
    ELSIF NOT queen._is_list(p_trace_names) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'traceNames');
    ELSIF cardinality(v_names) > 100 THEN
        PERFORM queen._raise('QN400', 'a trace has at most 100 names', 'traceNames');
    ELSIF v_tenant <> '00000000-0000-0000-0000-000000000001' AND NOT queen._owns_partition(v_tenant, p_partition_id) THEN
        PERFORM queen._raise('QN404', 'Message not found');
    END IF;
    PERFORM queen._check_items(ARRAY[p_transaction_id], NULL);
    PERFORM queen._check_name(coalesce(p_consumer_group, ''), 'consumerGroup');
    PERFORM queen._check_name(coalesce(p_event_type, ''), 'eventType');
    FOREACH v_name IN ARRAY v_names LOOP
        PERFORM queen._check_name(v_name, 'traceNames');
    END LOOP;
    INSERT INTO queen.message_traces (tenant_id, partition_id, transaction_id, queue_name, partition_name, consumer_group, event_type, data, worker_id)
    SELECT v_tenant, p_partition_id, p_transaction_id, l.queue, l.partition, coalesce(p_consumer_group, '__QUEUE_MODE__'), coalesce(p_event_type, 'info'),
           p_data::text, 'seg-rust'
    FROM (VALUES (1)) one
    LEFT JOIN LATERAL (
        SELECT q.name AS queue, p.name AS partition
        FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
        WHERE p.id = p_partition_id AND q.tenant_id = v_tenant
    ) l ON true
    RETURNING id, created_at INTO v_id, v_at;
    INSERT INTO queen.message_trace_names (trace_id, tenant_id, trace_name, created_at) SELECT v_id, v_tenant, n, v_at FROM unnest(v_names) n;
    RETURN v_id;
END $$;
COMMENT ON FUNCTION queen.record_trace_v1(uuid, text, json, text, text, text[], uuid) IS
'Note something about a message, under any number of names that tie it to traces of other messages; answers the id of the trace.';
REVOKE ALL ON FUNCTION queen.record_trace_v1(uuid, text, json, text, text, text[], uuid) FROM PUBLIC;
