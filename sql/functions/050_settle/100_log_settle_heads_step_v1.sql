/*
 * Purpose:     write the head of quiet partitions back to their rows, so that readers need no tail probe.
 * Locks:       partition rows, FOR NO KEY UPDATE SKIP LOCKED, ascending id: never waits, so order cannot deadlock.
 * Isolation:   READ COMMITTED only: the tail must be read after the lock.
 * Volatility:  VOLATILE: writes.
 * Bounds:      at most p_max_rows partitions (500) that were quiet for p_quiet_seconds (3).
 * Idempotency: yes.
 * Raises:      QN400 at another isolation level.
 * Source:      design 3.2 rule 3.
 */
CREATE OR REPLACE FUNCTION queen.log_settle_heads_step_v1(
    p_max_rows integer DEFAULT 500,
    p_quiet_seconds integer DEFAULT 3,
    p_now timestamptz DEFAULT NULL
) RETURNS SETOF queen.step_row
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path = queen, pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
AS $$
DECLARE
    r_out queen.step_row;
    v_ids uuid[];
    v_id uuid;
BEGIN
    PERFORM queen._require_read_committed();
    SELECT array_agg(l.id ORDER BY l.id) INTO v_ids
    FROM (
        SELECT p.id FROM queen.log_partitions p
        WHERE NOT p.settled
          AND p.last_write_at < coalesce(p_now, clock_timestamp()) - make_interval(secs => p_quiet_seconds)
        ORDER BY p.last_write_at
        LIMIT least(greatest(p_max_rows, 1), 500)
        FOR NO KEY UPDATE SKIP LOCKED
    ) l;
    r_out.worked := coalesce(cardinality(v_ids), 0);
    r_out.done := r_out.worked < least(greatest(p_max_rows, 1), 500);
    FOREACH v_id IN ARRAY coalesce(v_ids, '{}')
    LOOP
        PERFORM queen._settle_head(v_id);
    END LOOP;
    RETURN NEXT r_out;
END $$;
COMMENT ON FUNCTION queen.log_settle_heads_step_v1(integer, integer, timestamptz) IS
'One bounded step that writes back the head of partitions nobody pushes to; answers how many and whether none is left.';
REVOKE ALL ON FUNCTION queen.log_settle_heads_step_v1(integer, integer, timestamptz) FROM PUBLIC;

/*
 * Purpose:     settle one partition whose row the caller has locked in an earlier statement: read the tail, write it back.
 * Locks:       none of its own.  Isolation: READ COMMITTED.
 * Volatility:  VOLATILE: writes; the tail is read in a statement after the lock.
 * Bounds:      one tail probe, one update.  Idempotency: yes.  Raises: nothing.
 * Source:      design 3.2 rules 1 and 3; also for whoever removes the last segment of a partition.
 */
CREATE OR REPLACE FUNCTION queen._settle_head(p_partition_id uuid) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    UPDATE queen.log_partitions p
    SET last_offset = greatest(p.last_offset, t.end_offset),
        last_stamp = greatest(p.last_stamp, t.created_at),
        last_cum = coalesce(t.cum_bytes, p.last_cum),
        settled = true
    FROM queen.log_partitions o
    LEFT JOIN LATERAL (
        SELECT s.end_offset, s.created_at, s.cum_bytes FROM queen.log_segments s
        WHERE s.partition_id = o.id AND s.base_offset >= o.log_start
        ORDER BY s.base_offset DESC LIMIT 1
    ) t ON true
    WHERE p.id = p_partition_id AND o.id = p.id;
END $$;
REVOKE ALL ON FUNCTION queen._settle_head(uuid) FROM PUBLIC;
