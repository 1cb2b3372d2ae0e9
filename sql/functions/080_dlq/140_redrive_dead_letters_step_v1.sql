/*
 * Purpose:     one bounded step of a bulk replay, oldest failure first: move the dead letters that a filter leaves back to
 *              their own partitions, and say for each what became of it. Go on from the failed_at and dlq_id of the last
 *              row until no row comes; pass the time of the start as p_to, or a message that fails again is moved again.
 *              A run that was cut off is simply started anew: what was moved is no dead letter any more.
 * Locks:       partitions by id ascending, FOR NO KEY UPDATE SKIP LOCKED; then their dead letters, SKIP LOCKED. It waits for
 *              nobody: what another session holds answers busy, to be replayed alone.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows (at most 1000) and 4 MiB of payload, or one row; with a filter, the rows passed over.
 * Idempotency: yes: each dead letter is moved once, however many run.
 * Raises:      QN503 in push maintenance; QN400 for p_max_rows below 1. Refusals are results: failed, duplicate, busy, gone.
 * Source:      issue item 4, A-38, design 5 item 2, I-24, F071, F073.
 */
CREATE OR REPLACE FUNCTION queen.redrive_dead_letters_step_v1(
    p_queue text DEFAULT NULL,
    p_consumer_group text DEFAULT NULL,
    p_partition text DEFAULT NULL,
    p_from timestamptz DEFAULT NULL,
    p_to timestamptz DEFAULT NULL,
    p_error text DEFAULT NULL,
    p_max_rows integer DEFAULT 100,
    p_after_failed_at timestamptz DEFAULT NULL,
    p_after_id uuid DEFAULT NULL,
    p_dry_run boolean DEFAULT false,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.replay_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_custom_plan
SET enable_seqscan = on
AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_ids uuid[];
    v_lanes uuid[];
    v_times timestamptz[];
    v_lane uuid;
    v_rows queen.replay_row[];
BEGIN
    PERFORM queen._require_read_committed();
    IF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    ELSIF NOT p_dry_run THEN
        PERFORM queen._refuse_while_paused();
    END IF;
    SELECT array_agg(x.id ORDER BY x.failed_at, x.id), array_agg(x.partition_id ORDER BY x.failed_at, x.id), array_agg(x.failed_at ORDER BY x.failed_at, x.id)
    INTO v_ids, v_lanes, v_times
    FROM (
        SELECT c.*, row_number() OVER w AS ord, sum(octet_length(c.payload)) OVER w AS total
        FROM (
            SELECT d.id, d.partition_id, d.failed_at, d.payload
            FROM queen._dead_letters(v_tenant) d
            WHERE (p_queue IS NULL OR d.queue = p_queue COLLATE "C")
              AND (p_consumer_group IS NULL OR d.consumer_group = p_consumer_group COLLATE "C")
              AND (p_partition IS NULL OR d.partition = p_partition COLLATE "C")
              AND d.failed_at >= coalesce(greatest(p_from, p_after_failed_at), '-infinity') AND d.failed_at < coalesce(p_to, 'infinity')
              AND (p_after_failed_at IS NULL OR (d.failed_at, d.id) > (p_after_failed_at, coalesce(p_after_id, '00000000-0000-0000-0000-000000000000')))
              AND (p_error IS NULL OR strpos(d.error, p_error COLLATE "C") > 0)
            ORDER BY d.failed_at, d.id
            LIMIT least(p_max_rows, 1000)
        ) c
        WINDOW w AS (ORDER BY c.failed_at, c.id)
    ) x
    WHERE x.ord = 1 OR coalesce(x.total, 0) <= 4194304;

    -- Only the choice above is better planned for its filter; the pushes below take long to plan.
    PERFORM set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true);
    -- A loop, so that partitions are locked in id order whatever the plan.
    FOR v_lane IN SELECT DISTINCT u.id FROM unnest(v_lanes) u (id) ORDER BY 1
    LOOP
        v_rows := v_rows || ARRAY(SELECT r FROM queen._redrive_lane(v_lane,
            ARRAY(SELECT u.id FROM unnest(v_ids, v_lanes) WITH ORDINALITY u (id, lane, ord) WHERE u.lane = v_lane ORDER BY u.ord), p_dry_run) r);
    END LOOP;
    -- The time of one that is gone is what it was when it was chosen: the caller goes on from it.
    RETURN QUERY
    SELECT u.id, r.result, r.queue, r.partition, r.consumer_group, r.transaction_id, u.at, r.message_id, r."offset", r.code, r.error
    FROM unnest(v_ids, v_times) WITH ORDINALITY u (id, at, ord) JOIN unnest(v_rows) r ON r.dlq_id = u.id ORDER BY u.ord;
END $$;
COMMENT ON FUNCTION queen.redrive_dead_letters_step_v1(text, text, text, timestamptz, timestamptz, text, integer, timestamptz, uuid, boolean, uuid) IS
'Move dead letters back to their partitions in bounded steps, oldest first, one answer row each; p_dry_run only says which.';
REVOKE ALL ON FUNCTION queen.redrive_dead_letters_step_v1(text, text, text, timestamptz, timestamptz, text, integer, timestamptz, uuid, boolean, uuid) FROM PUBLIC;

/*
 * Purpose:     the part of a step that goes to one partition, or what would become of it.
 * Locks:       the partition FOR NO KEY UPDATE SKIP LOCKED, then its dead letters; none in a dry run.
 * Isolation:   READ COMMITTED.  Volatility: VOLATILE: writes.  Bounds: the rows given.
 * Idempotency: as the step.  Raises: nothing of its own.  Source: issue item 4, design 3.3.
 */
CREATE OR REPLACE FUNCTION queen._redrive_lane(
    p_partition_id uuid,
    p_ids uuid[],
    p_dry_run boolean
) RETURNS SETOF queen.replay_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_part queen.log_partitions;
    r_queue queen.queues;
BEGIN
    IF NOT p_dry_run THEN
        SELECT p.* INTO r_part FROM queen.log_partitions p WHERE p.id = p_partition_id FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    IF r_part.id IS NOT NULL THEN
        SELECT q.* INTO r_queue FROM queen.queues q WHERE q.id = r_part.queue_id AND q.deleted_at IS NULL;
        IF FOUND THEN
            RETURN QUERY SELECT * FROM queen._replay_letters(r_part, r_queue.name, r_queue.dedup_window_seconds, r_queue.encryption_enabled, p_ids, true);
            RETURN;
        END IF;
    END IF;
    RETURN QUERY
    SELECT u.id, v.result, coalesce(d.queue, ''), coalesce(d.partition, ''), coalesce(d.consumer_group, ''), coalesce(d.transaction_id, ''),
           coalesce(d.failed_at, 'epoch'), NULL::uuid, NULL::bigint, CASE WHEN v.result = 'failed' THEN 'QN409' END,
           CASE v.result WHEN 'failed' THEN d.refusal WHEN 'busy' THEN 'another session holds the partition; try again' END
    FROM unnest(p_ids) WITH ORDINALITY u (id, ord)
    LEFT JOIN (
        SELECT l.id, q.name AS queue, p.name AS partition, l.consumer_group, l.transaction_id, l.failed_at,
               queen._replay_refusal(l.payload, q.encryption_enabled) AS refusal
        FROM queen.log_dlq l
        JOIN queen.log_partitions p ON p.id = l.partition_id
        JOIN queen.queues q ON q.id = p.queue_id AND q.deleted_at IS NULL
    ) d ON d.id = u.id
    CROSS JOIN LATERAL (
        SELECT CASE WHEN d.id IS NULL THEN 'gone' WHEN NOT p_dry_run THEN 'busy' WHEN d.refusal IS NOT NULL THEN 'failed' ELSE 'movable' END AS result
    ) v
    ORDER BY u.ord;
END $$;
REVOKE ALL ON FUNCTION queen._redrive_lane(uuid, uuid[], boolean) FROM PUBLIC;
