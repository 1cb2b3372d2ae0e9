/*
 * Purpose:     what a subscription wish means: mode all, new or timestamp, and its instant. Queue mode is always all.
 * Locks:       none.  Isolation: any.
 * Volatility:  STABLE: the text "now" reads the clock of the statement.
 * Bounds:      none.  Idempotency: yes.
 * Raises:      nothing: a time that PostgreSQL cannot read counts as new (O-14).
 * Source:      O-14, E-36, F037.
 */
CREATE OR REPLACE FUNCTION queen._subscription(
    p_group text,
    p_mode text,
    p_from text,
    OUT mode text,
    OUT since timestamptz
)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    mode := 'all';
    since := 'epoch';
    IF p_group COLLATE "C" = '__QUEUE_MODE__' THEN
        RETURN;
    END IF;
    IF coalesce(btrim(p_from), '') <> '' AND lower(btrim(p_from)) <> 'now' THEN
        BEGIN
            since := p_from::timestamptz;
            mode := 'timestamp';
            RETURN;
        EXCEPTION WHEN data_exception THEN
            NULL;
        END;
        mode := 'new';
    ELSIF lower(btrim(p_from)) = 'now' OR lower(btrim(p_mode)) IN ('new', 'new-only', 'new_only', 'newonly') THEN
        mode := 'new';
    END IF;
    IF mode = 'new' THEN
        since := clock_timestamp();
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._subscription(text, text, text) FROM PUBLIC;

/*
 * Purpose:     the subscription time of a call that repeats, for a caller that waits, one that found nothing p_waited_ms ago: a
 *              wish for what is new counts from then (0: from now), else the push that made the partition would be skipped.
 *              Half a minute more makes up for the way from the caller's clock to this call, which a busy machine makes
 *              long: what was there at the first call has its cursors since then, so it is not delivered for that.
 * Locks:       none.  Isolation: any.  Volatility: VOLATILE: reads the clock.
 * Bounds:      waits of a day.  Idempotency: none.  Raises: nothing.
 * Source:      O-14, O-16, F035.
 */
CREATE OR REPLACE FUNCTION queen._since_wait(
    p_mode text,
    p_from text,
    p_waited_ms integer
) RETURNS text
LANGUAGE sql VOLATILE AS $$
    SELECT CASE
        WHEN p_waited_ms > 0
             AND (lower(btrim(p_from)) = 'now'
                  OR coalesce(btrim(p_from), '') = '' AND lower(btrim(p_mode)) IN ('new', 'new-only', 'new_only', 'newonly'))
            THEN queen._utc(clock_timestamp() - make_interval(secs => 30 + least(p_waited_ms, 86400000) / 1000.0))
        ELSE p_from END
$$;
REVOKE ALL ON FUNCTION queen._since_wait(text, text, integer) FROM PUBLIC;

/*
 * Purpose:     where a cursor of a partition starts: all = before the log start; new = at the head; timestamp = before
 *              the first segment stamped at or after the instant, else at the head.
 * Locks:       none.  Isolation: READ COMMITTED.  Volatility: VOLATILE: needs a fresh snapshot.
 * Bounds:      a forward key walk from the log start to the instant.
 * Idempotency: reads only.  Raises: nothing; NULL when the partition is gone.
 * Source:      O-15, O-18, F035.
 */
CREATE OR REPLACE FUNCTION queen._seed_cursor(
    p_partition_id uuid,
    p_mode text,
    p_since timestamptz
) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    r_head queen.partition_head;
BEGIN
    SELECT * INTO r_head FROM queen.partition_head h WHERE h.id = p_partition_id;
    RETURN CASE p_mode
        WHEN 'all' THEN greatest(r_head.log_start - 1, -1)
        WHEN 'new' THEN r_head.head_offset
        ELSE coalesce((
            SELECT s.base_offset - 1
            FROM queen.log_segments s
            WHERE s.partition_id = p_partition_id AND s.base_offset >= r_head.log_start AND s.created_at >= p_since
            ORDER BY s.base_offset
            LIMIT 1), r_head.head_offset)
    END;
END $$;
REVOKE ALL ON FUNCTION queen._seed_cursor(uuid, text, timestamptz) FROM PUBLIC;
