/*
 * Purpose:     offsets of the transaction ids of an ack. Inside the span (the leased batch, or what is above the cursor
 *              when nothing is leased) the k-th repeat of an id takes its k-th occurrence; an id found only at or below
 *              the cursor answers below = true; one found nowhere answers NULL and false. Both arrays are in the order of p_ids.
 * Locks:       none; the caller holds the consumer row.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: needs a snapshot newer than the caller's lock wait.
 * Bounds:      the sidecar rows of the span (without a lease: the 1000 rows above the cursor), segments where the sidecar
 *              is purged, and at most 1000 sidecar rows below the cursor, read only when something is missing.
 * Idempotency: reads only.
 * Raises:      nothing.
 * Source:      A-9..A-12, design 3.4, W-17, I-30, F059, F077.
 */
CREATE OR REPLACE FUNCTION queen._resolve_ids(
    p_partition_id uuid,
    p_committed bigint,
    p_batch_end bigint,
    p_ids text[],
    OUT at bigint[],
    OUT below boolean[]
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_hashes bigint[] := queen._id_hashes(p_partition_id, p_ids);
    v_span bigint[];
    v_found bigint[];
    v_below bigint[];
BEGIN
    IF p_batch_end IS NOT NULL THEN
        -- The whole batch, in the order it was delivered: one comparison of arrays.
        v_span := queen._span_hashes(p_partition_id, p_committed + 1, p_batch_end);
        IF v_span = v_hashes THEN
            at := ARRAY(SELECT p_committed + g FROM generate_series(1, cardinality(p_ids)) g);
            below := array_fill(false, ARRAY[cardinality(p_ids)]);
            RETURN;
        END IF;
    END IF;

    SELECT array_agg(m.at ORDER BY m.ord) INTO v_found
    FROM (
        SELECT w.ord, o.at
        FROM (
            SELECT u.ord, u.hash, row_number() OVER (PARTITION BY u.hash ORDER BY u.ord) AS k
            FROM unnest(v_hashes) WITH ORDINALITY u (hash, ord)
        ) w
        LEFT JOIN LATERAL (
            SELECT s.hash, s.at, row_number() OVER (PARTITION BY s.hash ORDER BY s.at) AS k, count(*) OVER (PARTITION BY s.hash) AS n
            FROM (
                -- An id of which compaction left an occurrence means that one.
                SELECT x.hash, x.at, x.gone, bool_and(x.gone) OVER (PARTITION BY x.hash) AS all_gone
                FROM queen._span_occurrences(p_partition_id, p_committed, p_batch_end) x
                WHERE x.hash = ANY (v_hashes)
            ) s
            WHERE s.all_gone OR NOT s.gone
        ) o ON o.hash = w.hash AND o.k = least(w.k, o.n)
    ) m;
    IF array_position(v_found, NULL) IS NOT NULL THEN
        SELECT array_agg(DISTINCT b.hash) INTO v_below
        FROM (
            -- The row that the cursor is in counts up to the cursor: what is above was not delivered yet.
            SELECT t.hashes[1 : least(t.end_offset, p_committed) - t.base_offset + 1] AS hashes FROM queen.log_txns t
            WHERE t.partition_id = p_partition_id AND t.base_offset <= p_committed
            ORDER BY t.base_offset DESC
            LIMIT 1000
        ) x
        CROSS JOIN LATERAL unnest(x.hashes) b (hash)
        WHERE b.hash = ANY (v_hashes);
    END IF;
    at := v_found;
    below := ARRAY(
        SELECT u.at IS NULL AND u.hash = ANY (coalesce(v_below, '{}'))
        FROM unnest(v_found, v_hashes) WITH ORDINALITY u (at, hash, ord)
        ORDER BY u.ord);
END $$;
REVOKE ALL ON FUNCTION queen._resolve_ids(uuid, bigint, bigint, text[]) FROM PUBLIC;
