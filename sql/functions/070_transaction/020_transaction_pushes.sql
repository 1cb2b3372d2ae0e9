/*
 * Purpose:     one row an item that a transaction pushed, in order of the items. A repeat inside the call has the id and
 *              offset of its first; an id that was there before, or a group that is refused, undoes everything.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: raises.
 * Bounds:      the items of the call.
 * Idempotency: yes.
 * Raises:      23505 'QDUP: ...', detail: the item, as p_transaction_ids[k] from 0; QN409 of a group whose payloads must be sealed,
 *              or must not, detail: p_sealed[g].
 * Source:      A-33, http-api 3.5.
 */
CREATE OR REPLACE FUNCTION queen._transaction_pushes(
    p_rows queen.push_row[],
    p_counts integer[]
) RETURNS SETOF queen.transaction_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_bad record;
BEGIN
    SELECT r.grp, r.code, r.error INTO r_bad FROM unnest(p_rows) r WHERE r.status = 'failed' LIMIT 1;
    IF FOUND THEN
        PERFORM queen._raise(r_bad.code, r_bad.error, format('p_sealed[%s]', r_bad.grp));
    END IF;
    -- A repeat of this call lies among what the call stored; whatever lies below was there before.
    SELECT (SELECT coalesce(sum(c), 0) FROM unnest(p_counts[1 : r.grp]) c) + u.item AS item INTO r_bad
    FROM unnest(p_rows) r
    CROSS JOIN LATERAL unnest(r.items, r.item_offsets) u (item, off)
    WHERE r.status = 'duplicate'
      AND (u.off >= (SELECT min(q.base_offset) FROM unnest(p_rows) q WHERE q.grp = r.grp AND q.status = 'queued')) IS NOT TRUE
    ORDER BY 1
    LIMIT 1;
    IF FOUND THEN
        PERFORM queen._raise('23505', 'QDUP: a pushed transaction id exists in its partition already',
            format('p_transaction_ids[%s]', r_bad.item));
    END IF;
    RETURN QUERY
    SELECT 'push', (g.start + a.at)::integer, true,
           CASE WHEN r.status = 'queued' THEN queen._frame_id(r.id_base, a.k) ELSE r.item_ids[a.k + 1] END,
           r.status = 'duplicate', r.partition_id,
           CASE WHEN r.status = 'queued' THEN r.base_offset + a.k ELSE r.item_offsets[a.k + 1] END,
           false, false, false
    FROM unnest(p_rows) r
    CROSS JOIN LATERAL (SELECT coalesce(sum(c), 0) AS start FROM unnest(p_counts[1 : r.grp]) c) g
    CROSS JOIN LATERAL (
        SELECT k, coalesce(r.items[k + 1], r.first_item + k) AS at
        FROM generate_series(0, coalesce(cardinality(r.items), r.frames) - 1) k
    ) a
    ORDER BY 2;
END $$;
REVOKE ALL ON FUNCTION queen._transaction_pushes(queen.push_row[], integer[]) FROM PUBLIC;
