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
    r_queue queen.queues;
    r_row queen.pop_row;
    r_lane record;
    r_found record;
    v_tenant uuid := queen._tenant(p_tenant_id);
    v_group text := coalesce(p_consumer_group, '__QUEUE_MODE__');
    v_left integer := greatest(p_batch, 1);
    v_lease_id text;
    v_expires timestamptz;
    v_queues uuid[] := '{}'::uuid[];
    v_policies boolean[] := '{}'::boolean[];
    v_policy boolean;
    v_any boolean := false;
    v_conflict boolean := false;
    v_from text := p_subscription_from;
    v_cap integer;
    v_claimed uuid[] := '{}'::uuid[];
BEGIN
    PERFORM queen._require_read_committed();
    PERFORM queen._check_name(v_group, 'consumerGroup');
    PERFORM queen._check_labels(p_namespace, p_task);
    p_conflation := coalesce(p_conflation, false);
    IF p_conflation AND (p_auto_ack OR v_group COLLATE "C" = '__QUEUE_MODE__') THEN
        PERFORM queen._raise('QN400', 'conflation needs a consumer group, and no autoAck', 'conflation');
    END IF;
    IF p_waited_ms > 0 THEN
        v_from := queen._since_wait(p_subscription_mode, v_from, least(p_waited_ms, 86400000));
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
        r_queue := r_found.queue;
        v_policy := coalesce(r_found.policy,
            queen._register_unless_busy(r_queue.name, v_tenant, v_group, p_subscription_mode, v_from, p_conflation));
        CONTINUE WHEN v_policy IS NULL;
        v_any := v_any OR v_policy;
        v_conflict := v_conflict OR v_policy <> p_conflation;
        v_queues := v_queues || r_queue.id;
        v_policies := v_policies || v_policy;
    END LOOP;
    IF v_any OR p_conflation THEN
        r_row := queen._pop_policy(v_group, v_any OR v_queues = '{}', p_conflation);
        r_row.conflation_conflict := v_conflict;
        RETURN NEXT r_row;
    END IF;
    v_cap := coalesce(p_max_partitions, CASE WHEN v_any THEN least(v_left, 64) ELSE 1 END);
    FOR r_lane IN
        SELECT u.queue_id, u.policy, c.id
        FROM unnest(v_queues, v_policies) u (queue_id, policy)
        CROSS JOIN LATERAL queen._candidates(u.queue_id, v_group, v_cap) c
        ORDER BY random()
    LOOP
        SELECT * INTO r_queue FROM queen.queues q WHERE q.id = r_lane.queue_id;
        FOR r_row IN
            SELECT * FROM queen._pop_partition(r_lane.id, r_queue, v_group, v_left, v_lease_id,
                CASE WHEN p_lease_seconds > 0 THEN p_lease_seconds WHEN r_queue.lease_time > 0 THEN r_queue.lease_time ELSE 60 END,
                p_auto_ack, p_subscription_mode, v_from, r_lane.policy)
        LOOP
            IF v_claimed[cardinality(v_claimed)] IS DISTINCT FROM r_lane.id THEN
                v_claimed := v_claimed || r_lane.id;
            END IF;
            v_lease_id := nullif(r_row.lease_id, '');
            v_expires := greatest(v_expires, r_row.lease_expires_at);
            v_left := v_left - cardinality(r_row.payloads);
            RETURN NEXT r_row;
        END LOOP;
        EXIT WHEN v_left = 0 OR (v_cap > 0 AND cardinality(v_claimed) >= v_cap);
    END LOOP;
    IF cardinality(v_claimed) > 1 AND NOT p_auto_ack THEN
        INSERT INTO queen.log_lease_members (lease_id, partition_ids, expires_at) VALUES (v_lease_id, v_claimed, v_expires);
    END IF;
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
