/*
 * Purpose:     move the stored subscription of a group on every queue it registered on: where cursors begin that do not exist
 *              yet. From then on the mode is timestamp, or the time would not be read. No cursor moves, and no floor:
 *              a partition without a cursor counts as owed, and stays in the search.
 * Locks:       the registration rows of the group, by id.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one row a queue.
 * Idempotency: yes.
 * Raises:      QN400 for a bad name, an empty time or one that cannot be read; 55P03 when somebody holds a row for 5 s.
 * Source:      http-api 4.7, O-12, O-16.
 */
CREATE OR REPLACE FUNCTION queen.update_subscription_v1(
    p_group text,
    p_timestamp text,
    p_tenant_id uuid DEFAULT NULL
) RETURNS json
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET timezone = 'UTC'
SET lock_timeout = '5s' AS $$
DECLARE
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_since timestamptz;
    v_rows bigint;
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(p_group, 'consumerGroup');
    v_since := queen._parse_time(p_timestamp, 'subscriptionTimestamp');
    PERFORM FROM queen.consumer_groups_metadata m
    WHERE m.tenant_id = v_tenant AND m.consumer_group = p_group
    ORDER BY m.id
    FOR NO KEY UPDATE;
    UPDATE queen.consumer_groups_metadata m
    SET subscription_mode = 'timestamp', subscription_timestamp = v_since
    WHERE m.tenant_id = v_tenant AND m.consumer_group = p_group
      AND NOT EXISTS (SELECT FROM queen.queues q WHERE q.id = m.queue_id AND q.deleted_at IS NOT NULL);
    GET DIAGNOSTICS v_rows = ROW_COUNT;
    RETURN json_build_object(
        'success', true,
        'consumerGroup', p_group,
        'newTimestamp', queen._utc_ms(v_since),
        'rowsUpdated', v_rows);
END $$;
COMMENT ON FUNCTION queen.update_subscription_v1(text, text, uuid) IS
'Change the instant from which a consumer group reads partitions that it has not touched yet, on every queue where it is registered. Cursors stay: use seek_consumer_group_v1 to move them.';
REVOKE ALL ON FUNCTION queen.update_subscription_v1(text, text, uuid) FROM PUBLIC;

/*
 * Purpose:     a time as people write it; without a zone it is UTC in the functions that use this.
 * Locks:       none.  Isolation: any.  Volatility: STABLE: "now" is the transaction's.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      QN400 naming the field, when it is empty, cannot be read, or is infinite.
 * Source:      http-api 4.7, F141.
 */
CREATE OR REPLACE FUNCTION queen._parse_time(
    p_text text,
    p_field text
) RETURNS timestamptz
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_at timestamptz;
BEGIN
    IF coalesce(btrim(p_text), '') = '' THEN
        PERFORM queen._raise('QN400', format('%s is required', p_field), p_field);
    END IF;
    BEGIN
        v_at := p_text::timestamptz;
    EXCEPTION WHEN data_exception THEN
        v_at := NULL;
    END;
    IF NOT coalesce(isfinite(v_at), false) THEN
        PERFORM queen._raise('QN400', format('%s must be a time, such as 2025-01-31T12:00:00Z', p_field), p_field);
    END IF;
    RETURN v_at;
END $$;
REVOKE ALL ON FUNCTION queen._parse_time(text, text) FROM PUBLIC;
