/*
 * Purpose:     carry out the acks of a transaction, one row an item. What an ack alone would refuse item by item undoes
 *              everything here, but for what the cursor has passed: completed is a noop then, and a signal answers success
 *              false. A group without a lease id takes the cursor's holder when the call names any lease at all, else the one
 *              lease that it requires, else none.
 * Locks:       consumer rows in (partition, group) order, FOR UPDATE.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the items of the call; see _resolve_ids.
 * Idempotency: what is below the cursor stays.
 * Raises:      QN409 'QTXN: ...', detail: the item, as p_ack_transaction_ids[k] from 0.
 * Source:      A-31..A-34, http-api 3.5, T-7.
 */
CREATE OR REPLACE FUNCTION queen._transaction_acks(
    p_partition_ids uuid[],
    p_groups text[],
    p_lease_ids text[],
    p_counts integer[],
    p_ids text[],
    p_statuses text[],
    p_errors text[],
    p_required_leases text[],
    p_require_lease boolean
) RETURNS SETOF queen.transaction_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_grp record;
    r_ack queen.ack_row;
    r_out queen.transaction_row;
    v_required text[] := ARRAY(SELECT DISTINCT l COLLATE "C" FROM unnest(p_required_leases) l WHERE l <> '');
    v_named boolean := cardinality(v_required) > 0 OR EXISTS (SELECT FROM unnest(p_lease_ids) l WHERE l <> '');
    v_lease text;
BEGIN
    r_out.kind := 'ack';
    r_out.duplicate := false;
    FOR r_grp IN
        SELECT u.*, u.upto - u.cnt AS start
        FROM (
            SELECT w.*, (sum(w.cnt) OVER (ORDER BY w.ord))::integer AS upto
            FROM unnest(p_partition_ids, p_groups, p_lease_ids, p_counts) WITH ORDINALITY w (id, grp, lease, cnt, ord)
        ) u
        WHERE u.cnt > 0
        ORDER BY u.id, u.grp COLLATE "C", u.ord
    LOOP
        -- Lock first, look later: the holder is read under the lock.
        PERFORM FROM queen.log_consumers c WHERE c.partition_id = r_grp.id AND c.consumer_group = r_grp.grp FOR UPDATE;
        v_lease := nullif(r_grp.lease, '');
        IF v_lease IS NULL AND v_named THEN
            v_lease := coalesce(
                (SELECT c.worker_id FROM queen.log_consumers c WHERE c.partition_id = r_grp.id AND c.consumer_group = r_grp.grp),
                CASE WHEN cardinality(v_required) = 1 THEN v_required[1] END);
        END IF;
        FOR r_ack IN
            SELECT * FROM queen._ack_group(r_grp.id, r_grp.grp, v_lease, p_ids[r_grp.start + 1 : r_grp.upto],
                p_statuses[r_grp.start + 1 : r_grp.upto], p_errors[r_grp.start + 1 : r_grp.upto], p_require_lease, false) a
            ORDER BY a.item
        LOOP
            r_out.item := r_grp.start + r_ack.item;
            IF NOT r_ack.success AND r_ack.error NOT LIKE 'already committed:%' THEN
                PERFORM queen._raise('QN409', 'QTXN: ' || r_ack.error, format('p_ack_transaction_ids[%s]', r_out.item));
            END IF;
            r_out.success := r_ack.success;
            r_out.partition_id := r_grp.id;
            r_out.lease_released := r_ack.lease_released;
            r_out.dlq := r_ack.dlq;
            r_out.noop := r_ack.noop;
            RETURN NEXT r_out;
        END LOOP;
    END LOOP;
    PERFORM queen._touch_lanes(p_partition_ids, p_groups);
END $$;
REVOKE ALL ON FUNCTION queen._transaction_acks(uuid[], text[], text[], integer[], text[], text[], text[], text[], boolean) FROM PUBLIC;
