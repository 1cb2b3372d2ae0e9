/*
 * Purpose:     what the rules let go from the start of a partition now, without taking it away: one row a rule, in order,
 *              each a run of whole segments; no row when there is nothing. Age rules choose first and are named as one
 *              (completed_retention when that rule moved the boundary beyond the other); a size limit adds the oldest
 *              segments until the rest fits, never the newest. A retention preview calls it as well as the step.
 * Locks:       none with p_look; else none of its own, but see _slowest_active for idle groups. A step holds the partition row by an earlier
 *              statement.
 * Isolation:   any for a look; READ COMMITTED for a step.
 * Volatility:  VOLATILE only because of _slowest_active.
 * Bounds:      p_max_rows + 1 steps along the key, a few times over.
 * Idempotency: yes.
 * Raises:      nothing.
 * Source:      R-2..R-6, R-9..R-15, R-22, M-5..M-18, V-1, X-1, design 3.2 rule 7, design 5.
 */
CREATE OR REPLACE FUNCTION queen._retention_cut(
    p_partition_id uuid,
    p_age_before timestamptz,
    p_completed_before timestamptz,
    p_max_bytes bigint,
    p_max_messages bigint,
    p_idle_groups text[],
    p_idle_before timestamptz,
    p_max_rows integer,
    p_age_rule text DEFAULT 'retention',
    p_look boolean DEFAULT false
) RETURNS SETOF queen.retention_cut_row
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_head queen.partition_head;
    r_size record;
    r_out queen.retention_cut_row;
    v_first record;
    v_slowest bigint;
    v_time bigint;
    v_completed bigint;
    v_size bigint;
    v_rows integer := 0;
BEGIN
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    SELECT s.created_at, s.end_offset INTO v_first FROM queen.log_segments s
    WHERE s.partition_id = p_partition_id AND s.base_offset >= r_head.log_start
    ORDER BY s.base_offset LIMIT 1;
    IF v_first.end_offset IS NULL THEN
        RETURN;
    END IF;
    v_time := r_head.log_start;
    v_completed := r_head.log_start;
    IF v_first.created_at < p_age_before THEN
        v_time := queen._age_boundary(p_partition_id, r_head.log_start, r_head.head_offset, p_age_before, p_max_rows);
    END IF;
    IF v_first.created_at < p_completed_before THEN
        v_slowest := queen._slowest_active(p_partition_id, r_head.queue_id, p_idle_groups, p_idle_before, p_look);
        -- The first segment must be consumed whole, or the cap keeps it and all after it.
        IF v_slowest >= v_first.end_offset THEN
            v_completed := least(v_slowest + 1,
                queen._age_boundary(p_partition_id, r_head.log_start, r_head.head_offset, p_completed_before, p_max_rows));
            v_completed := queen._segment_start(p_partition_id, r_head.log_start, v_completed);
        END IF;
    END IF;
    r_out.rule := CASE WHEN v_completed > v_time THEN 'completed_retention' ELSE p_age_rule END;
    v_time := greatest(v_time, v_completed);
    v_size := v_time;
    IF p_max_bytes > 0 OR p_max_messages > 0 THEN
        SELECT * INTO r_size FROM queen._size_boundary(p_partition_id, r_head.log_start,
            r_head.head_offset - r_head.log_start + 1 - r_head.removed_frames, r_head.head_cum - r_head.removed_bytes,
            p_max_bytes, p_max_messages, p_max_rows);
        v_size := greatest(v_time, r_size.boundary);
    END IF;
    IF v_size = r_head.log_start THEN
        RETURN;
    END IF;
    IF v_time > r_head.log_start THEN
        r_out := queen._weigh_cut(p_partition_id, r_out.rule, r_head.log_start, v_time);
        v_rows := r_out.segments;
        r_out.clipped := v_rows >= p_max_rows AND v_time <= r_head.head_offset;
        RETURN NEXT r_out;
    END IF;
    IF v_size > v_time THEN
        r_out := queen._weigh_cut(p_partition_id, r_size.rule, v_time, v_size);
        r_out.clipped := v_rows + r_out.segments >= p_max_rows;
        RETURN NEXT r_out;
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._retention_cut(uuid, timestamptz, timestamptz, bigint, bigint, text[], timestamptz, integer, text, boolean) FROM PUBLIC;
