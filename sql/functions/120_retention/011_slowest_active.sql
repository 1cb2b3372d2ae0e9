/*
 * Purpose:     the slowest cursor of a partition, and the slowest of the groups that count: a group of p_idle_groups does
 *              not when it did nothing since p_idle_before. When none would be left, all count: what nobody reads any more
 *              is not consumed by that. NULL without a cursor. A cursor that is NULL has consumed nothing.
 * Locks:       activity and cursor of the idle groups, SKIP LOCKED: what somebody holds is active. None with p_look.
 * Isolation:   READ COMMITTED.
 * Volatility:  VOLATILE when it locks, which it does only for idle groups.
 * Bounds:      the cursors of one partition.
 * Idempotency: yes.  Raises: nothing.
 * Source:      R-3, R-4, T-11, design 5 (groupIdleSeconds), F080, F085.
 */
CREATE OR REPLACE FUNCTION queen._slowest_active(
    p_partition_id uuid,
    p_queue_id uuid,
    p_idle_groups text[],
    p_idle_before timestamptz,
    p_look boolean
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_idle text[] := ARRAY(
        SELECT l.consumer_group FROM queen.log_consumers l
        WHERE l.partition_id = p_partition_id AND l.consumer_group = ANY (p_idle_groups)
          AND coalesce(l.worker_id IS NULL OR l.lease_expires_at <= clock_timestamp(), true));
    v_slowest bigint;
BEGIN
    IF NOT p_look AND v_idle <> '{}' THEN
        v_idle := ARRAY(
            SELECT l.consumer_group FROM queen.log_consumers l
            WHERE l.partition_id = p_partition_id AND l.consumer_group = ANY (v_idle)
            FOR NO KEY UPDATE SKIP LOCKED);
    END IF;
    v_idle := ARRAY(SELECT i.grp FROM unnest(v_idle) i (grp) WHERE queen._is_idle(p_queue_id, i.grp, p_idle_before, p_look));
    SELECT min(coalesce(c.committed, -1)) INTO v_slowest
    FROM queen.log_consumers c
    WHERE c.partition_id = p_partition_id AND c.consumer_group <> ALL (v_idle);
    RETURN coalesce(v_slowest, (SELECT min(coalesce(c.committed, -1)) FROM queen.log_consumers c WHERE c.partition_id = p_partition_id));
END $$;
REVOKE ALL ON FUNCTION queen._slowest_active(uuid, uuid, text[], timestamptz, boolean) FROM PUBLIC;
