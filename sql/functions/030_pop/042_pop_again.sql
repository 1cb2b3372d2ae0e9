/*
 * Purpose:     what a session that keeps taking from one partition needs: what _lease_slice gives there. NULL, and nothing leased,
 *              when anything is out of the common or nothing is owed; then _look_around and the search of _claim_lanes begin, and the
 *              session does not come back here before one segment filled a budget again.
 * Locks:       the consumer row of the partition that the session took from last, when it is of this queue, FOR UPDATE SKIP
 *              LOCKED; kept also when the answer is NULL. It never waits.
 * Isolation:   READ COMMITTED: the segment is looked at in a statement after the claim.
 * Volatility:  VOLATILE: writes.
 * Bounds:      one segment.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-6, O-25..O-34, design 3.4; perf 4 (take and ack).
 */
CREATE OR REPLACE FUNCTION queen._pop_again(
    p_queue_id uuid,
    p_group text,
    p_budget integer,
    p_lease_seconds integer,
    p_auto_ack boolean
) RETURNS queen.pop_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_lane uuid;
    v_committed bigint;
    r_out queen.pop_row;
BEGIN
    -- Now and then everybody searches, so that no partition is last for ever.
    IF random() < 0.1 OR NOT coalesce(current_setting('queen.lane', true) ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}[+]$', false) THEN
        RETURN NULL;
    END IF;
    v_lane := left(current_setting('queen.lane'), 36)::uuid;
    PERFORM FROM queen.log_partitions p WHERE p.id = v_lane AND p.queue_id = p_queue_id;
    IF FOUND THEN
        SELECT c.committed INTO v_committed
        FROM queen.log_consumers c
        WHERE c.partition_id = v_lane AND c.consumer_group = p_group
          AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= clock_timestamp())
        FOR UPDATE SKIP LOCKED;
    END IF;
    IF FOUND THEN
        r_out := queen._lease_slice(v_lane, p_group, v_committed, p_budget, p_lease_seconds, p_auto_ack);
    END IF;
    IF cardinality(r_out.payloads) = p_budget IS NOT TRUE THEN
        PERFORM queen._keep_lane(v_lane, 0);
    END IF;
    RETURN r_out;
END $$;
REVOKE ALL ON FUNCTION queen._pop_again(uuid, text, integer, integer, boolean) FROM PUBLIC;

/*
 * Purpose:     the search of a pop of one partition in a queue that has 32 partitions at most: it looks at all of them, and claims one of
 *              those that are free: most times the one that this session took from before, else any. complete: the answer is the
 *              truth, also when it is that there is none (no lane). Not so where there are more partitions, or where chance fell on
 *              one without a cursor: the search of _claim_lanes then begins.
 * Locks:       the consumer row of the partition that it answers, FOR UPDATE SKIP LOCKED. It never waits.
 * Isolation:   READ COMMITTED: the caller looks at the segments in a statement after the claim.
 * Volatility:  VOLATILE: random, locks.
 * Bounds:      32 partitions, three key probes each.
 * Idempotency: none.
 * Raises:      nothing.
 * Source:      O-6..O-8, O-25, O-26; perf 4 (push, take and ack at once).
 */
CREATE OR REPLACE FUNCTION queen._look_around(
    p_queue_id uuid,
    p_group text,
    OUT complete boolean,
    OUT lane uuid,
    OUT committed bigint
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_mine text := CASE WHEN random() < 0.9 THEN left(current_setting('queen.lane', true), 36) END;
    v_now timestamptz := clock_timestamp();
    v_ids uuid[];
BEGIN
    PERFORM FROM queen.log_partitions p WHERE p.queue_id = p_queue_id OFFSET 32 LIMIT 1;
    complete := NOT FOUND;
    IF NOT complete THEN
        RETURN;
    END IF;
    -- The lease is looked at first: while consumers are many, it spares most looks at a head.
    v_ids := ARRAY(
        SELECT o.id FROM queen._owing(p_group) o
        WHERE o.queue_id = p_queue_id AND coalesce(o.leased_until <= v_now, true) AND o.owed
        ORDER BY o.id::text IS DISTINCT FROM v_mine, random());
    IF v_ids <> '{}' THEN
        -- The first that can be had, or still has no cursor; as _first_lockable.
        SELECT u.id, l.committed INTO lane, committed
        FROM unnest(v_ids) u (id)
        LEFT JOIN LATERAL (
            SELECT c.committed FROM queen.log_consumers c
            WHERE c.partition_id = u.id AND c.consumer_group = p_group
              AND (c.worker_id IS NULL OR c.lease_expires_at IS NULL OR c.lease_expires_at <= v_now)
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        ) l ON true
        WHERE l.committed IS NOT NULL
           OR (SELECT true FROM queen.log_consumers c WHERE c.partition_id = u.id AND c.consumer_group = p_group LIMIT 1) IS NULL
        LIMIT 1;
        complete := lane IS NULL OR committed IS NOT NULL;
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._look_around(uuid, text) FROM PUBLIC;
