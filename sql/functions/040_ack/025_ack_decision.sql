/*
 * Purpose:     decide what an ack does to a cursor. The lowest signal (failed, dlq, retry; at one offset dlq before failed
 *              before retry) wins; completed offsets below it move the cursor; the signal then files, drops, charges or
 *              just releases. Signals act only on a leased batch.
 * Locks:       none; the caller holds the consumer row.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: reads the queue's options as they are now.
 * Bounds:      the items given; one key probe for the options of the queue, only for failed.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      A-13..A-19, A-27, W-2, F056, F063, F065.
 *
 * Answers: cursor (new value), released, finished (batch done or its poison disposed of: counters reset), retries,
 * filed, poison (offset), poison_item (position from 1).
 */
CREATE OR REPLACE FUNCTION queen._ack_decision(
    r_cur queen.log_consumers,
    p_at bigint[],
    p_statuses text[],
    OUT cursor bigint,
    OUT released boolean,
    OUT finished boolean,
    OUT retries integer,
    OUT filed boolean,
    OUT poison bigint,
    OUT poison_item integer
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_rule record;
    v_signal text;
BEGIN
    released := false;
    finished := false;
    filed := false;
    retries := r_cur.batch_retry_count;
    SELECT u.at, u.status, u.ord INTO poison, v_signal, poison_item
    FROM unnest(p_at, p_statuses) WITH ORDINALITY u (at, status, ord)
    WHERE u.status IN ('dlq', 'failed', 'retry') AND u.at IS NOT NULL
    ORDER BY u.at, array_position(ARRAY['dlq', 'failed', 'retry'], u.status), u.ord
    LIMIT 1;
    SELECT greatest(r_cur.committed, max(u.at)) INTO cursor
    FROM unnest(p_at, p_statuses) u (at, status)
    WHERE u.status = 'completed' AND (poison IS NULL OR u.at < poison);

    IF r_cur.batch_end IS NULL THEN
        RETURN;
    ELSIF poison IS NULL THEN
        finished := cursor >= r_cur.batch_end;
        released := finished;
        retries := CASE WHEN finished THEN 0 ELSE retries END;
        RETURN;
    END IF;
    released := true;
    IF v_signal = 'retry' THEN
        RETURN;
    ELSIF v_signal = 'failed' THEN
        SELECT coalesce(q.retry_limit, 3) AS budget,
               coalesce(q.dead_letter_queue, true) OR coalesce(q.dlq_after_max_retries, true) AS files
        INTO r_rule
        FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id
        WHERE p.id = r_cur.partition_id;
        IF r_cur.batch_retry_count < r_rule.budget THEN
            retries := r_cur.batch_retry_count + 1;
            RETURN;
        END IF;
        filed := r_rule.files;
    ELSE
        filed := true;
    END IF;
    cursor := poison;
    finished := true;
    retries := 0;
END $$;
REVOKE ALL ON FUNCTION queen._ack_decision(queen.log_consumers, bigint[], text[]) FROM PUBLIC;
