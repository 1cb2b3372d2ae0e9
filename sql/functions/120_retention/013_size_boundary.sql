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
