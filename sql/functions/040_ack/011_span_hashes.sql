/*
 * Purpose:     hashes of ids in a partition, in order.
 * Locks:       none.  Isolation: any.  Volatility: IMMUTABLE.  Bounds: the ids given.
 * Idempotency: yes.  Raises: nothing.  Source: design 3.4.
 */
CREATE OR REPLACE FUNCTION queen._id_hashes(
    p_partition_id uuid,
    p_ids text[]
) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_seed bigint := queen._id_seed(p_partition_id);
BEGIN
    RETURN (SELECT array_agg(hashtextextended(i COLLATE "C", v_seed)) FROM unnest(p_ids) i);
END $$;
REVOKE ALL ON FUNCTION queen._id_hashes(uuid, text[]) FROM PUBLIC;

/*
 * Purpose:     hashes of the offsets p_from..p_to as one array, or NULL when the sidecar does not hold every one.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE.  Bounds: the sidecar rows of the span.
 * Idempotency: reads only.  Raises: nothing.  Source: A-9, E-23, I-30.
 */
CREATE OR REPLACE FUNCTION queen._span_hashes(
    p_partition_id uuid,
    p_from bigint,
    p_to bigint
) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_txn queen.log_txns;
    v_all bigint[] := '{}'::bigint[];
    v_next bigint := p_from;
BEGIN
    -- A loop over few rows: the first row is the one that covers p_from.
    FOR r_txn IN
        SELECT * FROM queen.log_txns t
        WHERE t.partition_id = p_partition_id AND t.base_offset <= p_to AND t.base_offset >= coalesce((
            SELECT c.base_offset FROM queen.log_txns c
            WHERE c.partition_id = p_partition_id AND c.base_offset <= p_from
            ORDER BY c.base_offset DESC LIMIT 1), p_from)
        ORDER BY t.base_offset
    LOOP
        IF r_txn.base_offset > v_next OR r_txn.end_offset < v_next THEN
            RETURN NULL;
        END IF;
        v_all := v_all || r_txn.hashes[(v_next - r_txn.base_offset + 1) : (least(p_to, r_txn.end_offset) - r_txn.base_offset + 1)];
        v_next := r_txn.end_offset + 1;
    END LOOP;
    RETURN CASE WHEN v_next > p_to THEN v_all END;
END $$;
REVOKE ALL ON FUNCTION queen._span_hashes(uuid, bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     every (hash, offset) of the span above the cursor: from the sidecar, and from the segments themselves
 *              where the sidecar was purged. Without a lease the span is the 1000 sidecar rows above the cursor. gone: compaction
 *              took the frame, of which the sidecar still tells.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE.  Bounds: as above.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      A-9, A-10, design 3.4 (then by the arrays and id_base), F059.
 */
CREATE OR REPLACE FUNCTION queen._span_occurrences(
    p_partition_id uuid,
    p_committed bigint,
    p_batch_end bigint
) RETURNS TABLE (hash bigint, at bigint, gone boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_seed bigint := queen._id_seed(p_partition_id);
    v_first bigint;
    v_gaps boolean := (SELECT p.removed_frames > 0 FROM queen.log_partitions p WHERE p.id = p_partition_id);
BEGIN
    v_first := (
        SELECT c.base_offset FROM queen.log_txns c
        WHERE c.partition_id = p_partition_id AND c.base_offset <= p_committed + 1
        ORDER BY c.base_offset DESC LIMIT 1);
    RETURN QUERY
    SELECT o.h, t.base_offset + o.ord - 1, coalesce(t.base_offset + o.ord - 1 <> ALL (t.kept), false)
    FROM (
        SELECT x.base_offset, x.hashes, CASE WHEN v_gaps THEN (
                   SELECT s.offsets FROM queen.log_segments s WHERE s.partition_id = x.partition_id AND s.base_offset = x.base_offset) END AS kept
        FROM queen.log_txns x
        WHERE x.partition_id = p_partition_id
          AND x.base_offset >= coalesce(v_first, p_committed + 1)
          AND x.base_offset <= coalesce(p_batch_end, 9223372036854775807)
        ORDER BY x.base_offset
        LIMIT CASE WHEN p_batch_end IS NULL THEN 1000 END
    ) t
    CROSS JOIN LATERAL unnest(t.hashes) WITH ORDINALITY o (h, ord)
    WHERE t.base_offset + o.ord - 1 > p_committed
      AND (p_batch_end IS NULL OR t.base_offset + o.ord - 1 <= p_batch_end);
    IF p_batch_end IS NULL THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT hashtextextended(coalesce(f.txn, queen._frame_id(s.id_base, f.off - s.base_offset)::text) COLLATE "C", v_seed), f.off, false
    FROM queen.log_segments s
    CROSS JOIN LATERAL (
        SELECT u.txn, coalesce(u.off, s.base_offset + u.ord - 1) AS off
        FROM unnest(s.payloads, s.transaction_ids, s.offsets) WITH ORDINALITY u (payload, txn, off, ord)
    ) f
    WHERE s.partition_id = p_partition_id
      AND s.base_offset >= coalesce((
            SELECT c.base_offset FROM queen.log_segments c
            WHERE c.partition_id = p_partition_id AND c.base_offset <= p_committed + 1
            ORDER BY c.base_offset DESC LIMIT 1), p_committed + 1)
      AND s.base_offset <= p_batch_end
      AND f.off > p_committed AND f.off <= p_batch_end
      AND NOT EXISTS (SELECT FROM queen.log_txns t WHERE t.partition_id = s.partition_id AND t.base_offset = s.base_offset);
END $$;
REVOKE ALL ON FUNCTION queen._span_occurrences(uuid, bigint, bigint) FROM PUBLIC;
