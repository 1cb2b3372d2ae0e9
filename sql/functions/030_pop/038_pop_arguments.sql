/*
 * Purpose:     refuse a group that cannot be, and conflation for a call that cannot have it.
 * Locks:       none.  Isolation: READ COMMITTED, which it demands.  Volatility: STABLE.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      QN400, detail: the argument.
 * Source:      O-52, design 3.3.
 */
CREATE OR REPLACE FUNCTION queen._check_pop(
    p_group text,
    p_auto_ack boolean,
    p_conflation boolean
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(p_group, 'consumerGroup');
    IF p_conflation AND (p_auto_ack OR p_group COLLATE "C" = '__QUEUE_MODE__') THEN
        PERFORM queen._raise('QN400', 'conflation needs a consumer group, and no autoAck', 'conflation');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_pop(text, boolean, boolean) FROM PUBLIC;

-- How long a lease lasts: as asked, else as the queue says, else a minute.
CREATE OR REPLACE FUNCTION queen._lease_seconds(p_asked integer, p_lease_time integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN p_asked > 0 THEN p_asked WHEN p_lease_time > 0 THEN p_lease_time ELSE 60 END
$$;
REVOKE ALL ON FUNCTION queen._lease_seconds(integer, integer) FROM PUBLIC;

/*
 * Purpose:     how many partitions a pop takes that does not say so: one, or as many as a conflating group needs to fill
 *              its batch with one message each, at most 64.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: none.  Idempotency: yes.  Raises: nothing.
 * Source:      O-9, O-54.
 */
CREATE OR REPLACE FUNCTION queen._partition_cap(p_asked integer, p_conflates boolean, p_budget integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(p_asked, CASE WHEN p_conflates THEN least(p_budget, 64) ELSE 1 END)
$$;
REVOKE ALL ON FUNCTION queen._partition_cap(integer, boolean, integer) FROM PUBLIC;
