/*
 * Purpose:     claim the next messages of a queue for a group, the face for servers: from one named partition, or from
 *              up to p_max_partitions partitions (0 or less: no cap; none given: 1, for a conflating group p_batch within 64)
 *              that share the budget p_batch. The group's first pop decides whether it conflates (gets the last message of a
 *              partition only); a first row without payloads tells when it does, or when p_conflation asks for the contrary.
 *              p_waited_ms says that the call repeats one that found nothing so long ago, for a caller that waits: it makes no
 *              queue, since one that is missing now was deleted (F143), and what is new counts from then. p_hold takes
 *              nothing from a queue with a minPopWaitTime, and says so by a row with neither payloads nor conflation: the caller then
 *              asks log_pop_fill_v1 and waits before it claims (O-24). With p_apart the call stands for p_max_partitions pops
 *              (0 or less: one a candidate) of one partition each that ask for the same: every partition has a lease of its own
 *              and up to p_batch messages.
 * Locks:       the queue and the group's registration at first contact, for 50 ms at most: an application that made the
 *              queue and idles gets an empty answer, not a line of waiting calls. Then consumer rows, SKIP LOCKED.
 * Isolation:   READ COMMITTED only.
 * Volatility:  VOLATILE: writes.
 * Bounds:      p_batch frames (less than 1 acts as 1), 16 MiB a partition (or one larger message); 512 candidates. With p_apart
 *              p_batch a partition, and no partition more behind 16 MiB.
 * Idempotency: none: a second call is a new claim.
 * Raises:      QN400 for bad names (detail: the argument), for p_conflation without a group or with p_auto_ack, or another
 *              isolation level.
 * Source:      O-1..O-4, O-6..O-9, O-13..O-41, O-52..O-56, E-8, F037, F039, F043.
 */
CREATE OR REPLACE FUNCTION queen.log_pop_v1(
    p_queue text,
    p_partition text DEFAULT NULL,
    p_consumer_group text DEFAULT NULL,
    p_batch integer DEFAULT 200,
    p_max_partitions integer DEFAULT NULL,
    p_lease_seconds integer DEFAULT NULL,
    p_auto_ack boolean DEFAULT false,
    p_subscription_mode text DEFAULT NULL,
    p_subscription_from text DEFAULT NULL,
    p_tenant_id uuid DEFAULT NULL,
    p_conflation boolean DEFAULT false,
    p_waited_ms integer DEFAULT NULL,
    p_hold boolean DEFAULT false,
    p_apart boolean DEFAULT false
) RETURNS SETOF queen.pop_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET jit = off
AS $$
DECLARE
    r_found record;
    r_queue queen.queues;
    r_look record;
    r_row queen.pop_row;
    v_policy boolean;
    v_tenant uuid := p_tenant_id;
    v_now timestamptz := clock_timestamp();
    v_frames integer := 0;
    v_group text := coalesce(p_consumer_group, '__QUEUE_MODE__');
    v_left integer := greatest(p_batch, 1);
    v_from text := p_subscription_from;
BEGIN
    IF v_tenant IS NULL THEN
        v_tenant := queen._current_tenant();
    END IF;
    p_conflation := coalesce(p_conflation, false);
    p_auto_ack := coalesce(p_auto_ack, false);
    IF queen._is_bad_name(p_queue) OR queen._is_bad_name(v_group) OR p_conflation OR current_setting('transaction_isolation') <> 'read committed' THEN
        PERFORM queen._check_name(p_queue, 'queue');
        PERFORM queen._check_pop(v_group, p_auto_ack, p_conflation);
    END IF;
    SELECT q.id, q.min_pop_wait_time, queen._lease_seconds(p_lease_seconds, q.lease_time) AS seconds,
           coalesce(q.window_buffer, 0) <= 0 AND coalesce(q.delayed_processing, 0) <= 0 AS open,
           (SELECT m.conflation FROM queen.consumer_groups_metadata m
            WHERE m.tenant_id = v_tenant AND m.consumer_group = v_group AND m.queue_id = q.id
              AND m.partition_name = '' AND m.namespace = '' AND m.task = '') AS policy,
           -- As _touch_group, which has nothing to do then.
           (SELECT true FROM queen.group_activity a
            WHERE a.queue_id = q.id AND a.consumer_group = v_group AND a.last_active_at > v_now - interval '1 second'
              AND (p_auto_ack OR a.leased_until > v_now + make_interval(secs => queen._lease_seconds(p_lease_seconds, q.lease_time) - 1))
            LIMIT 1) AS active,
           -- As _current_tenant, whose call would cost more than it does.
           coalesce((SELECT t.tenant_id FROM queen.tenant_roles t WHERE t.role = pg_catalog.to_regrole(pg_catalog.quote_ident(session_user))),
                    '00000000-0000-0000-0000-000000000001') AS own
    INTO r_found
    FROM queen.queues q
    WHERE q.tenant_id = v_tenant AND q.name = p_queue AND q.deleted_at IS NULL;
    IF r_found.own IS DISTINCT FROM v_tenant THEN
        v_tenant := queen._tenant(p_tenant_id);
    END IF;
    v_policy := r_found.policy;
    IF p_waited_ms > 0 THEN
        v_from := queen._since_wait(p_subscription_mode, v_from, p_waited_ms);
    END IF;
    IF v_policy IS NULL AND (r_found.id IS NOT NULL AND (p_partition IS NULL OR p_conflation)
                             OR r_found.id IS NULL AND p_partition IS NULL AND p_waited_ms IS NULL) THEN
        v_policy := queen._register_unless_busy(p_queue, v_tenant, v_group, p_subscription_mode, v_from, p_conflation,
            r_found.id);
    END IF;
    -- Only who is subscribed may hold back: to a new group, what is pushed meanwhile would else not be new.
    IF p_hold AND r_found.min_pop_wait_time > 0 AND v_policy IS NOT NULL THEN
        RETURN NEXT queen._pop_policy(v_group, NULL, NULL);
        RETURN;
    END IF;
    IF r_found.id IS NOT NULL AND r_found.active IS NULL THEN
        PERFORM queen._touch_group(r_found.id, v_group, CASE WHEN NOT p_auto_ack THEN r_found.seconds END);
    END IF;
    IF v_policy OR p_conflation THEN
        RETURN NEXT queen._pop_policy(v_group, coalesce(v_policy, p_conflation), p_conflation);
    END IF;
    IF r_found.id IS NULL OR (v_policy IS NULL AND p_partition IS NULL) THEN
        RETURN;
    END IF;
    IF p_partition IS NOT NULL THEN
        SELECT * INTO r_queue FROM queen.queues q WHERE q.id = r_found.id;
        PERFORM queen._check_name(p_partition, 'partition');
        RETURN QUERY
        SELECT r.* FROM queen.log_partitions p
        CROSS JOIN LATERAL queen._pop_partition(p.id, r_queue, v_group, v_left, NULL,
            r_found.seconds, p_auto_ack, p_subscription_mode, v_from, coalesce(v_policy, false)) r
        WHERE p.queue_id = r_found.id AND p.name = p_partition;
        RETURN;
    ELSIF coalesce(p_max_partitions, 1) = 1 AND NOT p_apart AND NOT v_policy AND r_found.open THEN
        r_row := queen._pop_again(r_found.id, v_group, v_left, r_found.seconds, p_auto_ack);
        IF r_row.payloads IS NOT NULL THEN
            RETURN NEXT r_row;
            RETURN;
        END IF;
        r_look := queen._look_around(r_found.id, v_group);
        IF r_look.complete AND r_look.lane IS NULL THEN
            RETURN;
        ELSIF r_look.complete THEN
            r_row := queen._lease_slice(r_look.lane, v_group, r_look.committed, v_left, r_found.seconds, p_auto_ack);
            IF r_row.payloads IS NOT NULL THEN
                IF cardinality(r_row.payloads) = v_left THEN
                    PERFORM queen._keep_lane(r_look.lane, 1);
                END IF;
                RETURN NEXT r_row;
                RETURN;
            END IF;
            SELECT * INTO r_queue FROM queen.queues q WHERE q.id = r_found.id;
            FOR r_row IN
                SELECT * FROM queen._pop_partition(r_look.lane, r_queue, v_group, v_left, NULL, r_found.seconds, p_auto_ack, p_subscription_mode, v_from)
            LOOP
                v_frames := v_frames + cardinality(r_row.payloads);
                RETURN NEXT r_row;
            END LOOP;
            IF v_frames = v_left THEN
                PERFORM queen._keep_lane(r_look.lane, 0);
            END IF;
            IF v_frames > 0 THEN
                RETURN;
            END IF;
        END IF;
    END IF;
    SELECT * INTO r_queue FROM queen.queues q WHERE q.id = r_found.id;
    RETURN QUERY SELECT * FROM queen._claim_lanes(ARRAY[r_queue], ARRAY[v_policy], v_group, v_left,
        queen._partition_cap(p_max_partitions, v_policy, v_left), p_lease_seconds, p_auto_ack, p_subscription_mode, v_from, p_apart);
END $$;
COMMENT ON FUNCTION queen.log_pop_v1(text, text, text, integer, integer, integer, boolean, text, text, uuid, boolean, integer, boolean, boolean) IS
'Claim the next messages of a queue for a consumer group under one lease (or commit them at once with p_auto_ack); answers slices of segments in offset order.';
REVOKE ALL ON FUNCTION queen.log_pop_v1(text, text, text, integer, integer, integer, boolean, text, text, uuid, boolean, integer, boolean, boolean) FROM PUBLIC;
