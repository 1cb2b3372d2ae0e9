/*
 * Purpose:     dead letters, newest first, of one queue, one group or all.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE.
 * Bounds:      p_limit rows (at most 1000) after p_offset skipped ones; with a filter, the rows passed over on the way.
 * Idempotency: reads only.
 * Raises:      QN400 for a negative limit or offset.
 * Source:      spec 4.9 (GET /api/v1/dlq), E-32.
 */
CREATE OR REPLACE FUNCTION queen.list_dead_letters_v1(
    p_queue text DEFAULT NULL,
    p_consumer_group text DEFAULT NULL,
    p_limit integer DEFAULT 100,
    p_offset integer DEFAULT 0,
    p_tenant_id uuid DEFAULT NULL
) RETURNS SETOF queen.dead_letter_row
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
BEGIN
    PERFORM queen._check_page(p_limit, p_offset);
    RETURN QUERY
    SELECT d.*
    FROM queen._dead_letters(v_tenant) d
    WHERE (p_queue IS NULL OR d.queue = p_queue COLLATE "C")
      AND (p_consumer_group IS NULL OR d.consumer_group = p_consumer_group COLLATE "C")
    ORDER BY d.failed_at DESC, d.id DESC
    LIMIT least(p_limit, 1000)
    OFFSET p_offset;
END $$;
COMMENT ON FUNCTION queen.list_dead_letters_v1(text, text, integer, integer, uuid) IS
'Look at dead letters, newest first: what failed, for which group, why, and the payload as it was.';
REVOKE ALL ON FUNCTION queen.list_dead_letters_v1(text, text, integer, integer, uuid) FROM PUBLIC;

/*
 * Purpose:     refuse a page that cannot be.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: none.
 * Idempotency: yes.  Raises: QN400, detail: the argument.  Source: design 7.
 */
CREATE OR REPLACE FUNCTION queen._check_page(
    p_limit integer,
    p_offset integer
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF coalesce(p_limit, -1) < 0 THEN
        PERFORM queen._raise('QN400', 'limit must not be negative', 'limit');
    ELSIF coalesce(p_offset, -1) < 0 THEN
        PERFORM queen._raise('QN400', 'offset must not be negative', 'offset');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_page(integer, integer) FROM PUBLIC;
