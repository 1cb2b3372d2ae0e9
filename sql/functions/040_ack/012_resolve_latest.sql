/*
 * Purpose:     as _resolve_ids, under a last-value lease: only the frame that was delivered, the last of the span, can be meant.
 *              The same id may have been pushed many times below it, and the span may be as long as the partition.
 * Locks:       none; the caller holds the consumer row.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: as _resolve_ids.
 * Bounds:      one sidecar row, and at most 1000 at or below the cursor when an id is another one.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      O-53, O-54, A-9..A-12.
 */
CREATE OR REPLACE FUNCTION queen._resolve_latest(
    p_partition_id uuid,
    p_committed bigint,
    p_batch_end bigint,
    p_ids text[],
    OUT at bigint[],
    OUT below boolean[]
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_last record := queen._resolve_ids(p_partition_id, p_batch_end - 1, p_batch_end, p_ids);
    r_past record;
BEGIN
    at := r_last.at;
    below := r_last.below;
    IF array_position(at, NULL) IS NOT NULL THEN
        r_past := queen._resolve_ids(p_partition_id, p_committed, p_committed, p_ids);
        below := ARRAY(
            SELECT u.at IS NULL AND u.below FROM unnest(r_last.at, r_past.below) WITH ORDINALITY u (at, below, ord) ORDER BY u.ord);
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._resolve_latest(uuid, bigint, bigint, text[]) FROM PUBLIC;
