/*
 * Purpose:     delete dead letters of a queue, at most p_max_rows of them; call it until it answers less. One that a
 *              replay holds is waited for, and counts only when it is still there.
 * Locks:       the dead letters, FOR UPDATE in (partition, id) order, under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_max_rows rows (at most 10000).
 * Idempotency: yes: a second call answers 0.
 * Raises:      QN400 for p_max_rows below 1 or a missing queue; 55P03 when a replay holds one longer than 5 s.
 * Source:      spec 4.9 (DELETE /api/v1/dlq).
 */
CREATE OR REPLACE FUNCTION queen.delete_dead_letters_v1(
    p_queue text,
    p_consumer_group text DEFAULT NULL,
    p_max_rows integer DEFAULT 10000,
    p_tenant_id uuid DEFAULT NULL
) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s' AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    PERFORM queen._require_read_committed();
    IF p_queue IS NULL THEN
        PERFORM queen._raise('QN400', 'queue is required', 'queue');
    ELSIF coalesce(p_max_rows, 0) < 1 THEN
        PERFORM queen._raise('QN400', 'p_max_rows must be at least 1', 'p_max_rows');
    END IF;
    RETURN queen._delete_letters(ARRAY(
        SELECT d.id FROM queen._dead_letters(v_tenant) d
        WHERE d.queue = p_queue COLLATE "C"
          AND (p_consumer_group IS NULL OR d.consumer_group = p_consumer_group COLLATE "C")
        LIMIT least(p_max_rows, 10000)));
END $$;
COMMENT ON FUNCTION queen.delete_dead_letters_v1(text, text, integer, uuid) IS
'Delete the dead letters of a queue, or of one of its groups; answers how many. Call it until it answers less than p_max_rows.';
REVOKE ALL ON FUNCTION queen.delete_dead_letters_v1(text, text, integer, uuid) FROM PUBLIC;

/*
 * Purpose:     delete dead letters by id, in the one order that all who lock several of them keep.
 * Locks:       the dead letters, FOR UPDATE in (partition, id) order.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: writes.  Bounds: the ids given.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.3.
 */
CREATE OR REPLACE FUNCTION queen._delete_letters(p_ids uuid[]) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_held uuid[];
    v_count integer;
BEGIN
    v_held := ARRAY(SELECT d.id FROM queen.log_dlq d WHERE d.id = ANY (p_ids) ORDER BY d.partition_id, d.id FOR UPDATE);
    DELETE FROM queen.log_dlq d WHERE d.id = ANY (v_held);
    GET DIAGNOSTICS v_count = ROW_COUNT;
    RETURN v_count;
END $$;
REVOKE ALL ON FUNCTION queen._delete_letters(uuid[]) FROM PUBLIC;
