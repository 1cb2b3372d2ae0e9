/*
 * Purpose:     positional ack: complete every leased message up to an offset, for consumers that keep offsets. A position
 *              below the batch end keeps the lease for the rest; p_ok false releases the lease and moves nothing.
 * Locks:       consumer rows in (partition, group) order, FOR UPDATE.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row an element.
 * Idempotency: a position at or below the cursor is a noop while the lease lives.
 * Raises:      QN400 for arrays that do not fit together; each element is judged alone.
 * Source:      A-23, A-24, A-27, I-27, W-2, W-20, F061.
 */
CREATE OR REPLACE FUNCTION queen.log_ack_upto_v1(
    p_partition_ids uuid[],
    p_consumer_groups text[],
    p_lease_ids text[],
    p_offsets bigint[],
    p_ok boolean DEFAULT true
) RETURNS SETOF queen.ack_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    v_order integer[] := ARRAY[1];
    v_i integer;
    v_upto bigint;
    r_cur queen.log_consumers;
    r_out queen.ack_row;
    v_done boolean;
BEGIN
    IF p_ok AND cardinality(p_partition_ids) = 1 AND cardinality(p_consumer_groups) = 1 AND cardinality(p_lease_ids) = 1
       AND cardinality(p_offsets) = 1 AND current_setting('transaction_isolation') = 'read committed' THEN
        IF queen._ack_whole(p_partition_ids[1], p_consumer_groups[1], p_lease_ids[1], p_offsets[1]) THEN
            RETURN NEXT ROW(0, true, NULL, true, false, false, NULL)::queen.ack_row;
            RETURN;
        END IF;
    END IF;
    PERFORM queen._require_read_committed();
    IF NOT (queen._is_list(p_partition_ids) AND queen._is_list(p_consumer_groups) AND queen._is_list(p_lease_ids) AND queen._is_list(p_offsets)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_offsets');
    ELSIF cardinality(p_consumer_groups) IS DISTINCT FROM cardinality(p_partition_ids) OR cardinality(p_lease_ids) IS DISTINCT FROM cardinality(p_partition_ids)
       OR cardinality(p_offsets) IS DISTINCT FROM cardinality(p_partition_ids) OR array_position(p_offsets, NULL) IS NOT NULL THEN
        PERFORM queen._raise('QN400', 'the arrays must be equally long, and no offset null', 'p_offsets');
    END IF;
    IF cardinality(p_partition_ids) IS DISTINCT FROM 1 THEN
        v_order := ARRAY(
            SELECT u.ord FROM unnest(p_partition_ids, p_consumer_groups) WITH ORDINALITY u (id, grp, ord)
            ORDER BY u.id, u.grp COLLATE "C", u.ord);
    END IF;
    FOREACH v_i IN ARRAY v_order LOOP
        SELECT * INTO r_cur FROM queen.log_consumers c
        WHERE c.partition_id = p_partition_ids[v_i] AND c.consumer_group = p_consumer_groups[v_i]
        FOR UPDATE;
        IF EXISTS (SELECT FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = r_cur.partition_id AND q.deleted_at IS NOT NULL) THEN
            r_cur := NULL;
        END IF;
        v_upto := p_offsets[v_i];
        r_out.item := v_i - 1;
        r_out.error := coalesce(
            queen._ack_refusal(r_cur, coalesce(nullif(p_lease_ids[v_i], ''), '-'), true),
            CASE WHEN r_cur.batch_end IS NULL THEN 'no leased batch'
                 WHEN v_upto > r_cur.batch_end THEN 'position beyond leased batch' END);
        r_out.success := r_out.error IS NULL;
        v_done := r_out.success AND p_ok AND v_upto >= r_cur.batch_end;
        r_out.lease_released := r_out.success AND (v_done OR NOT p_ok);
        r_out.dlq := false;
        r_out.conflated := CASE WHEN v_done AND r_cur.lease_conflated THEN r_cur.batch_end - r_cur.committed - 1 END;
        r_out.noop := r_out.success AND p_ok AND v_upto <= r_cur.committed;
        IF r_out.lease_released OR (r_out.success AND NOT r_out.noop) THEN
            UPDATE queen.log_consumers c
            SET committed = CASE WHEN p_ok THEN greatest(c.committed, v_upto) ELSE c.committed END,
                total_consumed = c.total_consumed + CASE WHEN p_ok THEN greatest(v_upto - c.committed, 0) ELSE 0 END,
                batch_end = CASE WHEN NOT r_out.lease_released THEN c.batch_end END,
                worker_id = CASE WHEN NOT r_out.lease_released THEN c.worker_id END,
                lease_expires_at = CASE WHEN NOT r_out.lease_released THEN c.lease_expires_at END,
                batch_retry_count = CASE WHEN v_done THEN 0 ELSE c.batch_retry_count END,
                attempt_offset = CASE WHEN NOT v_done THEN c.attempt_offset END,
                attempt_count = CASE WHEN v_done THEN 0 ELSE c.attempt_count END
            WHERE c.partition_id = p_partition_ids[v_i] AND c.consumer_group = p_consumer_groups[v_i];
        END IF;
        RETURN NEXT r_out;
    END LOOP;
    PERFORM queen._touch_lanes(p_partition_ids, p_consumer_groups);
END $$;
COMMENT ON FUNCTION queen.log_ack_upto_v1(uuid[], text[], text[], bigint[], boolean) IS
'Complete every leased message up to the given offset; for consumers that keep offsets rather than transaction ids.';
REVOKE ALL ON FUNCTION queen.log_ack_upto_v1(uuid[], text[], text[], bigint[], boolean) FROM PUBLIC;

/*
 * Purpose:     the common positional ack, of a whole batch under its live lease, with one update. False, and nothing written,
 *              when anything is out of the common; log_ack_upto_v1 then judges it. The looks are of one table each: a join would
 *              cost more to set up.
 * Locks:       the consumer row, by the update; it judges nothing but what is in that row, anew after a wait. See also _touch_group.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row.  Idempotency: a second call answers false.  Raises: nothing.
 * Source:      A-6, A-23, A-24, F061; perf 4 (take and ack).
 */
CREATE OR REPLACE FUNCTION queen._ack_whole(
    p_partition_id uuid,
    p_group text,
    p_lease_id text,
    p_upto bigint
) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_now timestamptz := clock_timestamp();
    r_part record;
BEGIN
    SELECT p.queue_id,
           (SELECT true FROM queen.queues q WHERE q.id = p.queue_id AND q.deleted_at IS NULL) AS lives,
           -- As _touch_group, which has nothing to do then.
           (SELECT true FROM queen.group_activity a
            WHERE a.queue_id = p.queue_id AND a.consumer_group = p_group AND a.last_active_at > v_now - interval '1 second'
            LIMIT 1) AS active
    INTO r_part
    FROM queen.log_partitions p WHERE p.id = p_partition_id;
    IF r_part.lives IS NULL THEN
        RETURN false;
    END IF;
    UPDATE queen.log_consumers c
    SET committed = p_upto, total_consumed = c.total_consumed + p_upto - c.committed, batch_end = NULL, worker_id = NULL,
        lease_expires_at = NULL, batch_retry_count = 0, attempt_offset = NULL, attempt_count = 0
    WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group AND c.worker_id = p_lease_id AND c.batch_end = p_upto
      AND c.committed < p_upto AND c.lease_expires_at > clock_timestamp() AND NOT c.lease_conflated;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF r_part.active IS NULL THEN
        PERFORM queen._touch_group(r_part.queue_id, p_group);
    END IF;
    RETURN true;
END $$;
REVOKE ALL ON FUNCTION queen._ack_whole(uuid, text, text, bigint) FROM PUBLIC;
