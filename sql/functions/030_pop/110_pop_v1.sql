/*
 * Purpose:     take messages from psql or an application, one row a message. The lease ends by ack_v1, or by time. Who calls
 *              it again and again to wait says in p_waited_ms since when (log_pop_v1).
 * Locks:       as log_pop_v1, under a lock_timeout of 5 s.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_batch messages.
 * Idempotency: none: a second call is a new claim. In a transaction that rolls back, the claim never happened.
 * Raises:      as log_pop_v1.
 * Source:      design 4, O-52 (a NOTICE tells when the group was registered with another policy).
 */
CREATE OR REPLACE FUNCTION queen.pop_v1(
    p_queue text,
    p_batch integer DEFAULT 1,
    p_group text DEFAULT NULL,
    p_partition text DEFAULT NULL,
    p_lease_seconds integer DEFAULT NULL,
    p_auto_ack boolean DEFAULT false,
    p_max_partitions integer DEFAULT NULL,
    p_subscription_mode text DEFAULT 'all',
    p_subscription_from text DEFAULT NULL,
    p_conflation boolean DEFAULT false,
    p_waited_ms integer DEFAULT NULL
) RETURNS SETOF queen.popped_message
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET lock_timeout = '5s'
AS $$
BEGIN
    RETURN QUERY
    SELECT m.*
    FROM queen.log_pop_v1(p_queue, p_partition, p_group, p_batch, p_max_partitions, p_lease_seconds, p_auto_ack,
        p_subscription_mode, p_subscription_from, NULL, p_conflation, p_waited_ms) WITH ORDINALITY r
    CROSS JOIN LATERAL queen._messages(r.partition_id, r.partition, r.lease_id, r.lease_expires_at, r.delivery_attempt,
        r.created_at, r.id_base, r.segment_base, r.first_offset, r.payloads, r.transaction_ids, r.keys, r.offsets) m
    ORDER BY r.ordinality, m."offset";
END $$;
COMMENT ON FUNCTION queen.pop_v1(text, integer, text, text, integer, boolean, integer, text, text, boolean, integer) IS
'Take the next messages of a queue for a consumer group (none: queue mode). Finish them with ack_v1 before the lease ends, or they come again. With p_conflation (a group''s first pop decides) only the last message of a partition.';
REVOKE ALL ON FUNCTION queen.pop_v1(text, integer, text, text, integer, boolean, integer, text, text, boolean, integer) FROM PUBLIC;

/*
 * Purpose:     a stored payload as JSON; one that was damaged and is no JSON any more comes as a string.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one payload.
 * Idempotency: yes.  Raises: nothing.  Source: F079.
 */
CREATE OR REPLACE FUNCTION queen._as_json(
    p_payload text
) RETURNS json
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
BEGIN
    RETURN p_payload::json;
EXCEPTION WHEN data_exception OR statement_too_complex THEN
    RETURN to_json(p_payload);
END $$;
REVOKE ALL ON FUNCTION queen._as_json(text) FROM PUBLIC;

/*
 * Purpose:     one row a message from the arrays of a slice.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: one slice.
 * Idempotency: yes.  Raises: nothing.
 * Source:      design 3.1 (ids), design 4 (human face).
 */
CREATE OR REPLACE FUNCTION queen._messages(
    p_partition_id uuid,
    p_partition text,
    p_lease_id text,
    p_lease_expires_at timestamptz,
    p_attempt integer,
    p_created_at timestamptz,
    p_id_base uuid,
    p_segment_base bigint,
    p_first_offset bigint,
    p_payloads text[],
    p_transaction_ids text[],
    p_keys text[],
    p_offsets bigint[]
) RETURNS SETOF queen.popped_message
LANGUAGE sql IMMUTABLE AS $$
    SELECT i.id, coalesce(i.txn, i.id::text), p_partition, p_partition_id, i.off, queen._as_json(i.payload), i.key, p_created_at,
           p_lease_id, p_lease_expires_at, p_attempt
    FROM (
        SELECT queen._frame_id(p_id_base, coalesce(u.off, p_first_offset + u.ord - 1) - p_segment_base) AS id,
               coalesce(u.off, p_first_offset + u.ord - 1) AS off, u.payload, u.txn, u.key
        FROM unnest(p_payloads, p_transaction_ids, p_keys, p_offsets) WITH ORDINALITY u (payload, txn, key, off, ord)
    ) i
$$;
REVOKE ALL ON FUNCTION queen._messages(uuid, text, text, timestamptz, integer, timestamptz, uuid, bigint, bigint,
    text[], text[], text[], bigint[]) FROM PUBLIC;
