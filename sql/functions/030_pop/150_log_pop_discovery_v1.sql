/*
 * Purpose:     claim the next messages of every queue with the given labels, for a group, the face for servers: as log_pop_v1
 *              on each of them, under one lease and one budget. An empty label is any; each partition is leased for
 *              p_lease_seconds, else for its own queue's time. No queue is made. p_waited_ms as there: on a queue that is
 *              new since, a group at new begins where the wait began.
 * Locks:       for a queue where the group is new as _register_unless_busy, queues by id; then consumer rows, SKIP LOCKED.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_batch frames (less than 1 acts as 1), 16 MiB a partition (or one larger message); as many candidates of
 *              each queue as log_pop_v1 takes.
 * Idempotency: none: a second call is a new claim.
 * Raises:      QN400 without a label, for bad names (detail: the argument), for p_conflation without a group or with
 *              p_auto_ack, or another isolation level.
 * Source:      O-5, O-9, O-11, O-13, O-52..O-56, http-api 3.2.
 */
CREATE OR REPLACE FUNCTION queen.log_pop_discovery_v1(
    p_namespace text,
    p_task text,
    p_consumer_group text DEFAULT NULL,
    p_batch integer DEFAULT 200,
    p_max_partitions integer DEFAULT NULL,
    p_lease_seconds integer DEFAULT NULL,
    p_auto_ack boolean DEFAULT false,
    p_subscription_mode text DEFAULT NULL,
    p_subscription_from text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_conflation boolean DEFAULT false,
    p_waited_ms integer DEFAULT NULL
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    r_row queen.pop_row;
    r_found record;
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_group text := coalesce(p_consumer_group, '__QUEUE_MODE__');
    v_left integer := greatest(p_batch, 1);
    v_queues queen.queues[] := '{}'::queen.queues[];
    v_policies boolean[] := '{}'::boolean[];
    v_policy boolean;
    v_any boolean := false;
    v_conflict boolean := false;
    v_from text := p_subscription_from;
BEGIN
    p_conflation := coalesce(p_conflation, false);
    PERFORM queen._check_pop(v_group, p_auto_ack, p_conflation);
    PERFORM queen._check_labels(p_namespace, p_task);
    IF p_waited_ms > 0 THEN
        v_from := queen._since_wait(p_subscription_mode, v_from, p_waited_ms);
    END IF;
    -- Loops, because registering waits, for a moment, in the order of ids.
    FOR r_found IN
        SELECT q AS queue, m.conflation AS policy
        FROM queen._labelled(v_tenant, p_namespace, p_task) q
        LEFT JOIN queen.consumer_groups_metadata m
               ON m.tenant_id = v_tenant AND m.consumer_group = v_group AND m.queue_id = q.id
              AND m.partition_name = '' AND m.namespace = '' AND m.task = ''
        ORDER BY q.id
    LOOP
        v_policy := coalesce(r_found.policy,
            queen._register_unless_busy((r_found.queue).name, v_tenant, v_group, p_subscription_mode, v_from, p_conflation,
                (r_found.queue).id));
        CONTINUE WHEN v_policy IS NULL;
        v_any := v_any OR v_policy;
        v_conflict := v_conflict OR v_policy <> p_conflation;
        v_queues := array_append(v_queues, r_found.queue);
        v_policies := v_policies || v_policy;
    END LOOP;
    PERFORM queen._touch_group(u.id, v_group, CASE WHEN NOT p_auto_ack THEN queen._lease_seconds(p_lease_seconds, u.lease_time) END)
    FROM unnest(v_queues) u;
    IF v_any OR p_conflation THEN
        r_row := queen._pop_policy(v_group, v_any OR v_queues = '{}', p_conflation);
        r_row.conflation_conflict := v_conflict;
        RETURN NEXT r_row;
    END IF;
    RETURN QUERY SELECT * FROM queen._claim_lanes(v_queues, v_policies, v_group, v_left,
        queen._partition_cap(p_max_partitions, v_any, v_left), p_lease_seconds, p_auto_ack, p_subscription_mode, v_from);
END $$;
COMMENT ON FUNCTION queen.log_pop_discovery_v1(text, text, text, integer, integer, integer, boolean, text, text, uuid, boolean, integer) IS
'Claim the next messages of all queues with a namespace, a task or both, for a consumer group, under one lease; answers slices of segments in offset order.';
REVOKE ALL ON FUNCTION queen.log_pop_discovery_v1(text, text, text, integer, integer, integer, boolean, text, text, uuid, boolean, integer) FROM PUBLIC;

/*
 * Purpose:     the live queues of a tenant with the given labels; an empty label is any.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      an index range of the tenant's queues.  Idempotency: reads only.  Raises: nothing.
 * Source:      O-5.
 */
CREATE OR REPLACE FUNCTION queen._labelled(
    p_tenant_id uuid,
    p_namespace text,
    p_task text
) RETURNS SETOF queen.queues
LANGUAGE sql STABLE AS $$
    SELECT q.* FROM queen.queues q
    WHERE q.tenant_id = p_tenant_id AND q.deleted_at IS NULL
      AND (coalesce(p_namespace, '') = '' OR q.namespace = p_namespace)
      AND (coalesce(p_task, '') = '' OR q.task = p_task)
$$;
REVOKE ALL ON FUNCTION queen._labelled(uuid, text, text) FROM PUBLIC;

-- Refuses a search without a label, and labels that no queue can have (QN400).
CREATE OR REPLACE FUNCTION queen._check_labels(
    p_namespace text,
    p_task text
) RETURNS void
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF coalesce(p_namespace, '') = '' AND coalesce(p_task, '') = '' THEN
        PERFORM queen._raise('QN400', 'namespace or task is required', 'namespace');
    END IF;
    PERFORM queen._check_name(coalesce(p_namespace, ''), 'namespace');
    PERFORM queen._check_name(coalesce(p_task, ''), 'task');
END $$;
REVOKE ALL ON FUNCTION queen._check_labels(text, text) FROM PUBLIC;
