/*
 * Purpose:     judge and apply the acks of one (partition, group, lease): the only place that moves a cursor on behalf of
 *              a consumer. Lock, check the lease, resolve ids, decide by the lowest signal, write one update.
 * Locks:       the consumer row, FOR UPDATE (p_skip_locked: a held one answers no row). Never a partition row.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the items given; see _resolve_ids.
 * Idempotency: completed below the cursor is a noop; the cursor moves only through greatest.
 * Raises:      nothing: each item gets a verdict.
 * Source:      A-4..A-19, A-27, O-54, I-26, I-27, W-1, W-2, W-20, F056..F065, F075.
 */
CREATE OR REPLACE FUNCTION queen._ack_group(
    p_partition_id uuid,
    p_group text,
    p_lease_id text,
    p_ids text[],
    p_statuses text[],
    p_errors text[],
    p_require_lease boolean,
    p_skip_locked boolean
) RETURNS SETOF queen.ack_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_cur queen.log_consumers;
    r_do record;
    r_next record;
    v_refusal text;
BEGIN
    IF p_skip_locked THEN
        SELECT * INTO r_cur FROM queen.log_consumers c
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
        FOR UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            PERFORM FROM queen.log_consumers c WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
            IF FOUND THEN
                RETURN;
            END IF;
        END IF;
    ELSE
        SELECT * INTO r_cur FROM queen.log_consumers c
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group
        FOR UPDATE;
    END IF;
    v_refusal := queen._ack_refusal(r_cur, p_lease_id, p_require_lease);
    IF v_refusal IS NOT NULL THEN
        RETURN QUERY SELECT g::integer, false, v_refusal, false, false, false, NULL::bigint FROM generate_series(0, cardinality(p_ids) - 1) g;
        RETURN;
    END IF;

    IF r_cur.lease_conflated AND r_cur.batch_end IS NOT NULL THEN
        r_do := queen._resolve_latest(p_partition_id, r_cur.committed, r_cur.batch_end, p_ids);
    ELSE
        r_do := queen._resolve_ids(p_partition_id, r_cur.committed, r_cur.batch_end, p_ids);
    END IF;
    r_next := queen._ack_decision(r_cur, r_do.at, p_statuses);
    IF r_next.filed THEN
        PERFORM queen._file_dead_letter(p_partition_id, p_group, r_next.poison, p_ids[r_next.poison_item],
            coalesce(nullif(p_errors[r_next.poison_item], ''), (SELECT e.t FROM unnest(p_errors) WITH ORDINALITY e (t, ord) WHERE e.t <> '' ORDER BY e.ord LIMIT 1)),
            r_cur.batch_retry_count);
    END IF;
    IF r_next.cursor > r_cur.committed OR r_next.released THEN
        UPDATE queen.log_consumers c
        SET committed = greatest(c.committed, r_next.cursor),
            total_consumed = c.total_consumed + greatest(r_next.cursor - c.committed, 0),
            batch_end = CASE WHEN NOT r_next.released THEN c.batch_end END,
            worker_id = CASE WHEN NOT r_next.released THEN c.worker_id END,
            lease_expires_at = CASE WHEN NOT r_next.released THEN c.lease_expires_at END,
            batch_retry_count = r_next.retries,
            attempt_offset = CASE WHEN NOT r_next.finished THEN c.attempt_offset END,
            attempt_count = CASE WHEN NOT r_next.finished THEN c.attempt_count ELSE 0 END
        WHERE c.partition_id = p_partition_id AND c.consumer_group = p_group;
    END IF;

    RETURN QUERY
    SELECT (u.ord - 1)::integer,
           v.error IS NULL,
           v.error,
           r_next.released,
           coalesce(r_next.filed AND u.at = r_next.poison, false),
           u.at IS NULL AND u.below AND u.status = 'completed',
           CASE WHEN r_cur.lease_conflated AND r_next.finished AND r_next.poison IS NULL AND u.at = r_cur.batch_end
                THEN r_cur.batch_end - r_cur.committed - 1 END
    FROM unnest(r_do.at, r_do.below, p_statuses) WITH ORDINALITY u (at, below, status, ord)
    CROSS JOIN LATERAL (SELECT CASE
        WHEN u.at IS NULL AND NOT u.below THEN 'unresolvable: no delivered message has this transactionId; if it is leased it comes again'
        WHEN u.at IS NULL AND u.status <> 'completed' THEN 'already committed: the cursor has passed this message'
        WHEN u.status <> 'completed' AND r_cur.batch_end IS NULL THEN 'no leased batch'
    END AS error) v
    ORDER BY u.ord;
END $$;
REVOKE ALL ON FUNCTION queen._ack_group(uuid, text, text, text[], text[], text[], boolean, boolean) FROM PUBLIC;

/*
 * Purpose:     why an ack may not touch this cursor, or NULL. A lease id must be the live one; without a lease id nothing
 *              is checked (clients rely on it) unless p_require_lease is set and a live lease exists.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: reads the clock.
 * Bounds:      none.  Idempotency: yes.  Raises: nothing.
 * Source:      A-6..A-8, W-1, I-26, F058.
 */
CREATE OR REPLACE FUNCTION queen._ack_refusal(
    r_cur queen.log_consumers,
    p_lease_id text,
    p_require_lease boolean
) RETURNS text
LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN r_cur.partition_id IS NULL THEN 'consumer not found'
        WHEN coalesce(p_lease_id, '') <> '' THEN
            CASE WHEN r_cur.worker_id IS NOT NULL AND r_cur.worker_id = p_lease_id COLLATE "C" AND r_cur.lease_expires_at > clock_timestamp()
                 THEN NULL ELSE 'invalid or expired lease' END
        WHEN p_require_lease AND r_cur.worker_id IS NOT NULL AND r_cur.lease_expires_at > clock_timestamp()
            THEN 'invalid or expired lease'
    END
$$;
REVOKE ALL ON FUNCTION queen._ack_refusal(queen.log_consumers, text, boolean) FROM PUBLIC;
