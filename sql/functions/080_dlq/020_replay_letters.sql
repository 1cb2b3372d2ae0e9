/*
 * Purpose:     move dead letters to the tail of one partition: push each snapshot under the id dlq:<row id>, and delete the
 *              rows that were stored, and only those. What the message carried (key, trace id, producer) goes along; an envelope
 *              stays one. With p_sealed_payload, plaintext goes to an encrypted queue as that. The caller locked the partition row in an earlier statement. Rows come out
 *              in the order of p_ids; one that another session moved or deleted meanwhile is gone.
 * Locks:       the dead letters, FOR UPDATE in id order (p_skip_locked: a held one is busy); they are leaves.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the rows given.
 * Idempotency: yes: a row that was moved is gone.
 * Raises:      nothing of its own.
 * Source:      A-38, P-27, E-32, design 3.3, F067, F071, F073.
 */
CREATE OR REPLACE FUNCTION queen._replay_letters(
    r_part queen.log_partitions,
    p_queue text,
    p_window integer,
    p_encrypted boolean,
    p_ids uuid[],
    p_skip_locked boolean,
    p_sealed_payload text DEFAULT NULL
) RETURNS SETOF queen.replay_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_held uuid[];
    v_good uuid[];
    v_payloads text[];
    v_keys text[];
    v_traces text[];
    v_subs text[];
    r_out queen.replay_row;
    r_did record;
BEGIN
    IF p_skip_locked THEN
        v_held := ARRAY(SELECT d.id FROM queen.log_dlq d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR UPDATE SKIP LOCKED);
    ELSE
        v_held := ARRAY(SELECT d.id FROM queen.log_dlq d WHERE d.id = ANY (p_ids) ORDER BY d.id FOR UPDATE);
    END IF;
    SELECT array_agg(d.id ORDER BY u.ord),
           array_agg(CASE WHEN p_encrypted AND p_sealed_payload IS NOT NULL AND NOT queen._are_envelopes(ARRAY[d.payload])
                          THEN p_sealed_payload ELSE d.payload END ORDER BY u.ord),
           array_agg(d.key ORDER BY u.ord), array_agg(d.trace_id::text ORDER BY u.ord), array_agg(d.producer_sub ORDER BY u.ord)
    INTO v_good, v_payloads, v_keys, v_traces, v_subs
    FROM unnest(p_ids) WITH ORDINALITY u (id, ord)
    JOIN queen.log_dlq d ON d.id = u.id
    WHERE d.id = ANY (v_held) AND queen._replay_refusal(d.payload, p_encrypted AND p_sealed_payload IS NULL) IS NULL;
    SELECT array_agg(s.id) AS ids, array_agg(s.status) AS statuses, array_agg(s.message_id) AS message_ids, array_agg(s.at) AS offsets
    INTO r_did
    FROM queen._push_letters(r_part, p_window, v_good, v_payloads, v_keys, v_traces, v_subs) s;

    -- A loop, because the answer keeps the order asked for and every row is told apart.
    FOR r_out IN
        SELECT u.id, CASE WHEN s.status = 'queued' THEN 'moved' WHEN s.status IS NOT NULL THEN s.status
                          WHEN d.id IS NULL THEN 'gone' WHEN d.id <> ALL (v_held) THEN 'busy' ELSE 'failed' END,
               p_queue, r_part.name, coalesce(d.consumer_group, ''), coalesce(d.transaction_id, ''), coalesce(d.failed_at, 'epoch'),
               CASE WHEN s.status = 'queued' THEN s.message_id WHEN s.status = 'duplicate' THEN '00000000-0000-0000-0000-000000000000' END,
               s.at, NULL, NULL
        FROM unnest(p_ids) WITH ORDINALITY u (id, ord)
        LEFT JOIN queen.log_dlq d ON d.id = u.id
        LEFT JOIN unnest(r_did.ids, r_did.statuses, r_did.message_ids, r_did.offsets) s (id, status, message_id, at) ON s.id = u.id
        ORDER BY u.ord
    LOOP
        IF r_out.result = 'moved' THEN
            DELETE FROM queen.log_dlq d WHERE d.id = r_out.dlq_id;
        ELSIF r_out.result = 'failed' THEN
            r_out.code := 'QN409';
            r_out.error := (SELECT queen._replay_refusal(d.payload, p_encrypted AND p_sealed_payload IS NULL) FROM queen.log_dlq d WHERE d.id = r_out.dlq_id);
        ELSIF r_out.result = 'duplicate' THEN
            r_out.error := 'the partition already has a message with this transactionId; the dead letter is kept';
        ELSIF r_out.result = 'busy' THEN
            r_out.error := 'another session holds the dead letter; try again';
        END IF;
        RETURN NEXT r_out;
    END LOOP;
END $$;
REVOKE ALL ON FUNCTION queen._replay_letters(queen.log_partitions, text, integer, boolean, uuid[], boolean, text) FROM PUBLIC;

/*
 * Purpose:     push the snapshots through the one allocator; a verdict a row.
 * Locks:       none of its own.  Isolation: READ COMMITTED.  Volatility: VOLATILE: writes.
 * Bounds:      the rows given.  Idempotency: by the id dlq:<row id>.  Raises: nothing of its own.
 * Source:      A-38, P-27.
 */
CREATE OR REPLACE FUNCTION queen._push_letters(
    r_part queen.log_partitions,
    p_window integer,
    p_ids uuid[],
    p_payloads text[],
    p_keys text[],
    p_trace_ids text[],
    p_producer_subs text[]
) RETURNS TABLE (id uuid, status text, message_id uuid, at bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_rows queen.push_row[];
BEGIN
    IF p_ids IS NULL THEN
        RETURN;
    END IF;
    v_rows := queen._push_group(0, r_part, p_window, p_payloads, ARRAY(SELECT 'dlq:' || i FROM unnest(p_ids) WITH ORDINALITY u (i, ord) ORDER BY ord),
        p_keys, p_trace_ids, p_producer_subs, NULL);
    RETURN QUERY
    SELECT p_ids[coalesce(r.items[k + 1], r.first_item + k) + 1], r.status,
           CASE WHEN r.status = 'queued' THEN queen._frame_id(r.id_base, k) ELSE r.item_ids[k + 1] END,
           CASE WHEN r.status = 'queued' THEN r.base_offset + k ELSE r.item_offsets[k + 1] END
    FROM unnest(v_rows) r
    CROSS JOIN LATERAL generate_series(0, coalesce(cardinality(r.items), r.frames) - 1) k;
END $$;
REVOKE ALL ON FUNCTION queen._push_letters(queen.log_partitions, integer, uuid[], text[], text[], text[], text[]) FROM PUBLIC;

/*
 * Purpose:     why a snapshot can never be pushed to a queue, or NULL.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: one payload.
 * Idempotency: yes.  Raises: nothing: a payload that is no JSON any more is told apart.
 * Source:      design 3.4 (payload null), design 4 (encryptionEnabled), F079.
 */
CREATE OR REPLACE FUNCTION queen._replay_refusal(
    p_payload text,
    p_encrypted boolean
) RETURNS text
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_payload IS NULL THEN
        RETURN 'the message was already deleted when it failed, its payload is lost';
    ELSIF p_encrypted AND NOT queen._are_envelopes(ARRAY[p_payload]) THEN
        RETURN 'the queue is encrypted and the dead letter is not: replay it over HTTP, through a server that has a key';
    END IF;
    PERFORM p_payload::json;
    RETURN NULL;
EXCEPTION WHEN data_exception THEN
    RETURN 'the stored payload is damaged, it is no JSON';
END $$;
REVOKE ALL ON FUNCTION queen._replay_refusal(text, boolean) FROM PUBLIC;
