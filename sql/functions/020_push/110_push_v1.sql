/*
 * Purpose:     push one message inside the caller's own transaction, from psql or an application.
 * Locks:       as log_push_v1, under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED; other levels are accepted and answer 40001 when another push came first.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one message.
 * Idempotency: by p_transaction_id inside the queue's dedup window.
 * Raises:      QN400 (detail: the argument), QN409 on an encrypted queue, 40001, 55P03 (retry the transaction).
 * Source:      design 4, design 1 (application on the same database).
 */
CREATE OR REPLACE FUNCTION queen.push_v1(
    p_queue text,
    p_payload json,
    p_partition text DEFAULT 'Default',
    p_transaction_id text DEFAULT NULL,
    p_key text DEFAULT NULL
) RETURNS SETOF queen.pushed_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_row queen.push_row;
BEGIN
    -- The common message, without the arrays: nothing that push_many_v1 would have to look at.
    IF p_transaction_id IS NULL AND p_key IS NULL AND strpos(p_payload::text, '\u') = 0 THEN
        r_row := queen._push_lane(p_queue, p_partition, ARRAY[p_payload::text], NULL, NULL, NULL, NULL, NULL);
        IF r_row.status IS NOT NULL THEN
            RETURN NEXT ROW(0, r_row.status, r_row.id_base, r_row.id_base::text, r_row.base_offset, p_partition)::queen.pushed_message;
            RETURN;
        END IF;
    END IF;
    RETURN QUERY SELECT * FROM queen.push_many_v1(
        p_queue, ARRAY[p_payload], ARRAY[p_partition],
        CASE WHEN p_transaction_id IS NOT NULL THEN ARRAY[p_transaction_id] END,
        CASE WHEN p_key IS NOT NULL THEN ARRAY[p_key] END);
END $$;
COMMENT ON FUNCTION queen.push_v1(text, json, text, text, text) IS
'Push one message; it commits or rolls back with your transaction. Answers queued, or duplicate with the original''s id and offset.';
REVOKE ALL ON FUNCTION queen.push_v1(text, json, text, text, text) FROM PUBLIC;
