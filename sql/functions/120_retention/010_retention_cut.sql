/*
 * Purpose:     where an age rule ends: the base of the first segment from p_from on whose stamp is not older than p_before,
 *              among the first p_max_rows. Without one it is the base of the segment after those (the horizon), else one
 *              past the head. It stops at the first that is young enough: a later, older one never makes a hole.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      p_max_rows + 1 steps along the key.
 * Idempotency: yes.  Raises: nothing.
 * Source:      R-10, R-11, M-6..M-8, X-1, F089.
 */
CREATE OR REPLACE FUNCTION queen._age_boundary(
    p_partition_id uuid,
    p_from bigint,
    p_head bigint,
    p_before timestamptz,
    p_max_rows integer
) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN coalesce((
        SELECT x.base_offset
        FROM (
            SELECT s.base_offset, s.created_at, row_number() OVER (ORDER BY s.base_offset) AS n FROM queen.log_segments s
            WHERE s.partition_id = p_partition_id AND s.base_offset >= p_from
            ORDER BY s.base_offset LIMIT p_max_rows + 1
        ) x
        WHERE x.created_at >= p_before OR x.n > p_max_rows
        ORDER BY x.base_offset LIMIT 1), p_head + 1);
END $$;
REVOKE ALL ON FUNCTION queen._age_boundary(uuid, bigint, bigint, timestamptz, integer) FROM PUBLIC;

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

-- The base of the segment that holds an offset, or the offset itself where no segment does (past the head) (R-5).
CREATE OR REPLACE FUNCTION queen._segment_start(
    p_partition_id uuid,
    p_log_start bigint,
    p_offset bigint
) RETURNS bigint
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN l.end_offset >= p_offset THEN l.base_offset ELSE p_offset END
    FROM (VALUES (1)) one
    LEFT JOIN LATERAL (
        SELECT s.base_offset, s.end_offset FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start AND s.base_offset <= p_offset
        ORDER BY s.base_offset DESC LIMIT 1
    ) l ON true
$$;
REVOKE ALL ON FUNCTION queen._segment_start(uuid, bigint, bigint) FROM PUBLIC;

/*
 * Purpose:     how far size limits go: to the first segment from which on everything fits, the newest segment counted and
 *              never passed. p_frames are the partition's messages, p_cum its running byte sum less what compaction took.
 *              Answers the boundary and the limit that asked for it.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      p_max_rows segments from the log start on.
 * Idempotency: yes.  Raises: nothing, whatever the limits are.
 * Source:      M-9..M-11, M-18, design 3.2 rule 7, design 5.
 */
CREATE OR REPLACE FUNCTION queen._size_boundary(
    p_partition_id uuid,
    p_log_start bigint,
    p_frames bigint,
    p_cum bigint,
    p_max_bytes bigint,
    p_max_messages bigint,
    p_max_rows integer,
    OUT boundary bigint,
    OUT rule text
)
LANGUAGE sql STABLE AS $$
    WITH seg AS (
        SELECT s.base_offset, s.end_offset, s.frames, s.bytes, s.cum_bytes - s.orig_bytes AS before,
               row_number() OVER (ORDER BY s.base_offset) AS n
        FROM queen.log_segments s
        WHERE s.partition_id = p_partition_id AND s.base_offset >= p_log_start
        ORDER BY s.base_offset LIMIT p_max_rows + 1
    ), whole AS (
        SELECT p_frames AS frames, p_cum - (SELECT f.before FROM seg f WHERE f.n = 1) AS bytes
    ), rest AS (
        -- What is left when everything before this segment is gone.
        SELECT s.base_offset, s.end_offset, s.n,
               w.frames - coalesce(sum(s.frames) OVER b, 0) AS frames,
               w.bytes - coalesce(sum(s.bytes) OVER b, 0) AS bytes
        FROM seg s CROSS JOIN whole w
        WINDOW b AS (ORDER BY s.base_offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
    ), last AS (
        SELECT max(r.base_offset) AS base_offset FROM rest r
    ), each AS (
        SELECT coalesce(min(r.base_offset) FILTER (WHERE r.bytes <= p_max_bytes), max(l.base_offset)) AS by_bytes,
               coalesce(min(r.base_offset) FILTER (WHERE r.frames <= p_max_messages), max(l.base_offset)) AS by_messages
        FROM rest r CROSS JOIN last l
    )
    SELECT greatest(CASE WHEN p_max_bytes > 0 THEN e.by_bytes END, CASE WHEN p_max_messages > 0 THEN e.by_messages END),
           CASE WHEN p_max_bytes > 0 AND (coalesce(p_max_messages, 0) <= 0 OR e.by_bytes >= e.by_messages)
                THEN 'retention_bytes' ELSE 'retention_messages' END
    FROM each e
$$;
REVOKE ALL ON FUNCTION queen._size_boundary(uuid, bigint, bigint, bigint, bigint, bigint, integer) FROM PUBLIC;

/*
 * Purpose:     the row of a run of whole segments: how many, what is in them, what of it some group has not consumed.
 * Locks:       none.  Isolation: any.  Volatility: STABLE.
 * Bounds:      the segments of the run.
 * Idempotency: yes.  Raises: nothing.
 * Source:      R-22, F087, F101, design 5 item 1.
 */
CREATE OR REPLACE FUNCTION queen._weigh_cut(
    p_partition_id uuid,
    p_rule text,
    p_from bigint,
    p_to bigint
) RETURNS queen.retention_cut_row
LANGUAGE sql STABLE AS $$
    SELECT ROW(
        p_rule, p_from, p_to, count(*)::integer, coalesce(sum(s.frames), 0)::bigint, coalesce(sum(s.bytes), 0)::bigint,
        coalesce(sum(CASE
            WHEN s.base_offset > c.slowest THEN s.frames
            WHEN s.end_offset <= c.slowest THEN 0
            WHEN s.offsets IS NULL THEN s.end_offset - c.slowest
            ELSE (SELECT count(*) FROM unnest(s.offsets) o WHERE o > c.slowest) END), 0)::bigint,
        false)::queen.retention_cut_row
    FROM queen.log_segments s
    CROSS JOIN (
        SELECT coalesce(min(coalesce(l.committed, -1)), -1) AS slowest FROM queen.log_consumers l WHERE l.partition_id = p_partition_id
    ) c
    WHERE s.partition_id = p_partition_id AND s.base_offset >= p_from AND s.base_offset < p_to
$$;
REVOKE ALL ON FUNCTION queen._weigh_cut(uuid, text, bigint, bigint) FROM PUBLIC;
