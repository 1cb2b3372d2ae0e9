/*
 * Purpose:     acknowledge messages by transaction id, the face for servers: group g being p_counts[g] consecutive items
 *              of (p_partition_ids[g], p_consumer_groups[g], p_lease_ids[g]; NULL or '' = no lease). With p_skip_locked
 *              the groups of a cursor that somebody holds answer no row: send them again, waiting.
 * Locks:       consumer rows in (partition, group) order, FOR UPDATE [SKIP LOCKED]; never a partition row.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      the call given.
 * Idempotency: yes: what is below the cursor answers noop.
 * Raises:      QN400 for arrays that do not fit together or a status other than completed, failed, retry and dlq.
 * Source:      A-1..A-19, A-24, design 3.4, F057, F061.
 */
CREATE OR REPLACE FUNCTION queen.log_ack_v1(
    p_partition_ids uuid[],
    p_consumer_groups text[],
    p_lease_ids text[],
    p_counts integer[],
    p_transaction_ids text[],
    p_statuses text[],
    p_errors text[] DEFAULT NULL,
    p_require_lease boolean DEFAULT false,
    p_tenant_id uuid DEFAULT NULL,
    p_skip_locked boolean DEFAULT false
) RETURNS SETOF queen.ack_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
AS $$
DECLARE
    r_grp record;
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_items integer := cardinality(p_transaction_ids);
    v_busy_id uuid;
    v_busy_group text;
    v_touched_ids uuid[] := '{}'::uuid[];
    v_touched_groups text[] := '{}'::text[];
    v_done integer[] := '{}'::integer[];
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_ack(p_partition_ids, p_consumer_groups, p_lease_ids, p_counts, p_transaction_ids, p_statuses, p_errors);
    IF cardinality(p_partition_ids) = 1 AND v_items > 0 THEN
        IF queen._ack_batch(v_tenant, p_partition_ids[1], p_consumer_groups[1], p_lease_ids[1], p_transaction_ids, p_statuses) THEN
            RETURN QUERY SELECT g, true, NULL::text, true, false, false, NULL::bigint FROM generate_series(0, v_items - 1) g;
            RETURN;
        END IF;
    ELSIF p_skip_locked AND cardinality(p_partition_ids) > 1 THEN
        v_done := queen._ack_plain(v_tenant, p_partition_ids, p_consumer_groups, p_lease_ids, p_counts, p_transaction_ids, p_statuses);
        RETURN QUERY
        SELECT (w.upto - i)::integer, true, NULL::text, true, false, false, NULL::bigint
        FROM (SELECT x.ord, x.cnt, sum(x.cnt) OVER (ORDER BY x.ord) AS upto FROM unnest(p_counts) WITH ORDINALITY x (cnt, ord)) w
        CROSS JOIN LATERAL generate_series(1, w.cnt) i
        WHERE w.ord = ANY (v_done);
        SELECT coalesce(array_agg(p_partition_ids[d]), '{}'), coalesce(array_agg(p_consumer_groups[d]), '{}')
        INTO v_touched_ids, v_touched_groups FROM unnest(v_done) d;
    END IF;
    FOR r_grp IN
        SELECT u.id, u.grp, u.lease, u.upto - u.cnt AS start, u.upto::integer AS upto,
               queen._owns_partition(v_tenant, u.id) AS owned
        FROM (
            SELECT w.*, (sum(w.cnt) OVER (ORDER BY w.ord))::integer AS upto
            FROM unnest(p_partition_ids, p_consumer_groups, p_lease_ids, p_counts) WITH ORDINALITY w (id, grp, lease, cnt, ord)
        ) u
        WHERE u.ord <> ALL (v_done)
        ORDER BY u.id, u.grp COLLATE "C", u.ord
    LOOP
        -- All groups of a cursor are carried out, or none: a later one must not overtake one that was left alone.
        CONTINUE WHEN r_grp.start = r_grp.upto OR (r_grp.id = v_busy_id AND r_grp.grp = v_busy_group COLLATE "C");
        IF NOT r_grp.owned THEN
            RETURN QUERY SELECT g, false, 'partition not owned by tenant', false, false, false, NULL::bigint
            FROM generate_series(r_grp.start, r_grp.upto - 1) g;
            CONTINUE;
        ELSIF r_grp.owned IS NULL THEN
            RETURN QUERY SELECT g, false, queen._ack_refusal(NULL, r_grp.lease, p_require_lease), false, false, false, NULL::bigint
            FROM generate_series(r_grp.start, r_grp.upto - 1) g;
            CONTINUE;
        END IF;
        v_touched_ids := v_touched_ids || r_grp.id;
        v_touched_groups := v_touched_groups || r_grp.grp;
        IF r_grp.start = 0 AND r_grp.upto = v_items THEN
            RETURN QUERY SELECT * FROM queen._ack_group(r_grp.id, r_grp.grp, r_grp.lease, p_transaction_ids, p_statuses,
                p_errors, p_require_lease, p_skip_locked);
        ELSE
            RETURN QUERY
            SELECT a.item + r_grp.start, a.success, a.error, a.lease_released, a.dlq, a.noop, a.conflated
            FROM queen._ack_group(r_grp.id, r_grp.grp, r_grp.lease, p_transaction_ids[r_grp.start + 1 : r_grp.upto],
                p_statuses[r_grp.start + 1 : r_grp.upto], p_errors[r_grp.start + 1 : r_grp.upto], p_require_lease, p_skip_locked) a;
        END IF;
        IF NOT FOUND THEN
            v_busy_id := r_grp.id;
            v_busy_group := r_grp.grp;
        END IF;
    END LOOP;
    PERFORM queen._touch_lanes(v_touched_ids, v_touched_groups);
END $$;
COMMENT ON FUNCTION queen.log_ack_v1(uuid[], text[], text[], integer[], text[], text[], text[], boolean, uuid, boolean) IS
'Acknowledge delivered messages by transaction id: completed, failed, retry or dlq; one verdict an item.';
REVOKE ALL ON FUNCTION queen.log_ack_v1(uuid[], text[], text[], integer[], text[], text[], text[], boolean, uuid, boolean) FROM PUBLIC;

/*
 * Purpose:     refuse an ack whose arrays do not fit together, before anything is written.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: the arrays given.
 * Idempotency: yes.  Raises: QN400, detail: the argument.  Source: P-26 for acks, design 7.
 */
CREATE OR REPLACE FUNCTION queen._check_ack(
    p_partition_ids uuid[],
    p_consumer_groups text[],
    p_lease_ids text[],
    p_counts integer[],
    p_transaction_ids text[],
    p_statuses text[],
    p_errors text[]
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_items integer := coalesce(cardinality(p_transaction_ids), 0);
    v_groups integer := coalesce(cardinality(p_partition_ids), 0);
BEGIN
    IF NOT (queen._is_list(p_partition_ids) AND queen._is_list(p_consumer_groups) AND queen._is_list(p_lease_ids) AND queen._is_list(p_counts)
        AND queen._is_list(p_transaction_ids) AND queen._is_list(p_statuses) AND queen._is_list(p_errors)) THEN
        PERFORM queen._raise('QN400', 'every array must have one dimension and begin at 1', 'p_transaction_ids');
    ELSIF coalesce(cardinality(p_consumer_groups), 0) <> v_groups OR cardinality(p_lease_ids) <> v_groups
       OR coalesce(cardinality(p_counts), 0) <> v_groups OR array_position(p_counts, NULL) IS NOT NULL OR 0 > ANY (p_counts) THEN
        PERFORM queen._raise('QN400', 'partitions, groups, leases and counts must have one element a group', 'p_counts');
    ELSIF coalesce(cardinality(p_statuses), 0) <> v_items OR cardinality(p_errors) <> v_items
       OR coalesce((SELECT sum(c) FROM unnest(p_counts) c), 0) <> v_items THEN
        PERFORM queen._raise('QN400', 'p_counts must add up to the number of items', 'p_counts');
    ELSIF array_position(p_consumer_groups, NULL) IS NOT NULL THEN
        PERFORM queen._raise('QN400', 'a consumer group must not be null', 'p_consumer_groups');
    ELSIF array_position(p_transaction_ids, NULL) IS NOT NULL THEN
        PERFORM queen._raise('QN400', 'a transaction id must not be null', 'p_transaction_ids');
    ELSIF EXISTS (SELECT FROM unnest(p_statuses) s WHERE s IS NULL OR s NOT IN ('completed', 'failed', 'retry', 'dlq')) THEN
        PERFORM queen._raise('QN400', 'a status must be completed, failed, retry or dlq', 'p_statuses');
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._check_ack(uuid[], text[], text[], integer[], text[], text[], text[]) FROM PUBLIC;

/*
 * Purpose:     whether a partition may be acked by a tenant. For the default tenant a partition that does not exist is
 *              left to the consumer lookup, which answers as for any unknown consumer. NULL, for the default tenant, when it
 *              belongs to a deleted queue, whose rows may still be there, or to somebody else: neither must be found.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.  Bounds: two key probes, none for the default tenant's own calls
 *              while it is the only tenant.
 * Idempotency: yes.  Raises: nothing.  Source: E-5, A-32, design 5 (a delete hides at once), F075.
 */
CREATE OR REPLACE FUNCTION queen._owns_partition(
    p_tenant_id uuid,
    p_partition_id uuid
) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    v_owner uuid;
    v_hidden boolean;
BEGIN
    SELECT q.tenant_id, q.deleted_at IS NOT NULL INTO v_owner, v_hidden
    FROM queen.log_partitions p JOIN queen.queues q ON q.id = p.queue_id WHERE p.id = p_partition_id;
    IF v_owner = p_tenant_id AND NOT v_hidden THEN
        RETURN true;
    ELSIF p_tenant_id <> '00000000-0000-0000-0000-000000000001' THEN
        RETURN false;
    END IF;
    RETURN CASE WHEN v_owner IS NULL THEN true END;
END $$;
REVOKE ALL ON FUNCTION queen._owns_partition(uuid, uuid) FROM PUBLIC;
