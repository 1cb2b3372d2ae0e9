/*
 * Purpose:     the safe time: no segment with an earlier stamp can become visible to a statement that starts later. A
 *              stamp is read off the clock after its transaction started and drew its id, so the floor is the start of
 *              the oldest open transaction. Where some cannot be seen (masked by privileges, prepared, on the primary of
 *              this standby) it is the newest clock mark whose transaction id is below all that run: each of these, and
 *              whatever comes, could see the mark when it stamped, and honours it (_mark_clock). Without such a mark: p_fallback, what the caller knows already.
 *              A clock that steps back undercuts no answer as long as a mark is noted within the five seconds of the guard.
 * Locks:       none.
 * Isolation:   READ COMMITTED: a later statement must see what committed before the activity was read.
 * Volatility:  VOLATILE: clock, then activity, then prepared transactions, each as of its own moment. A transaction that
 *              is prepared in between is in one of the two; one that is in neither is visible or has not begun.
 * Bounds:      one pass over the sessions; a walk back over the clock marks of at most a day.
 * Idempotency: reads only.  Raises: nothing.
 * Source:      design 4, C-40..C-43, F144, F146, F147, F149.
 */
CREATE OR REPLACE FUNCTION queen._watermark(
    p_fallback timestamptz,
    OUT safe_time timestamptz,
    OUT degraded boolean,
    OUT held_by text
)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_bound timestamptz := clock_timestamp() - interval '5 seconds';
    r_oldest record;
    r_prepared record;
    v_mark timestamptz;
BEGIN
    PERFORM pg_stat_clear_snapshot(); -- or activity is as it was when this transaction looked first
    -- usesysid is null for autovacuum only. A walsender decodes under an old xact_start, and has an id only if it writes.
    SELECT a.pid, a.state, a.xact_start, bool_or(
               a.backend_type IS NULL OR a.state = 'disabled' OR (a.xact_start IS NULL AND a.backend_xid IS NOT NULL)
           ) OVER () AS hidden
    INTO r_oldest
    FROM pg_catalog.pg_stat_activity a
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.usesysid IS NOT NULL
      AND (a.backend_type IS DISTINCT FROM 'walsender' OR a.backend_xid IS NOT NULL)
    ORDER BY a.xact_start NULLS LAST
    LIMIT 1;
    SELECT count(*) AS n, min(x.prepared) AS since INTO r_prepared
    FROM pg_catalog.pg_prepared_xacts x
    WHERE x.database = current_database();
    degraded := coalesce(r_oldest.hidden, false) OR r_prepared.n > 0 OR pg_is_in_recovery();
    IF degraded THEN
        SELECT m.marked_at INTO v_mark
        FROM queen.clock_marks m
        WHERE m.xid < (SELECT pg_snapshot_xmin(pg_current_snapshot()))
        ORDER BY m.marked_at DESC
        LIMIT 1;
        safe_time := least(v_bound, coalesce(v_mark, least(p_fallback, r_oldest.xact_start)));
    ELSE
        safe_time := least(v_bound, r_oldest.xact_start);
    END IF;
    safe_time := greatest(safe_time, 'epoch'::timestamptz);
    IF safe_time < v_bound THEN
        held_by := CASE
            WHEN r_prepared.n > 0 THEN format('%s prepared transactions, the oldest since %s', r_prepared.n, queen._utc(r_prepared.since))
            WHEN r_oldest.hidden THEN 'sessions whose activity the owner of the functions may not see (pg_read_all_stats)'
            WHEN degraded THEN 'transactions of the primary'
            ELSE format('session %s, %s, in a transaction since %s', r_oldest.pid, r_oldest.state, queen._utc(r_oldest.xact_start))
        END;
    END IF;
END $$;
REVOKE ALL ON FUNCTION queen._watermark(timestamptz) FROM PUBLIC;
