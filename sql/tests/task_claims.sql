-- Claims of tasks that one instance runs for all (T-15).
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/task_claims.sql (on a migrated database).
BEGIN;

CREATE FUNCTION pg_temp.row_of(p_task text) RETURNS queen.maintenance_leases LANGUAGE sql AS $$
    SELECT l.* FROM queen.maintenance_leases l WHERE l.task = p_task
$$;
CREATE FUNCTION pg_temp.claim(p_task text, p_force boolean DEFAULT false) RETURNS bigint LANGUAGE sql AS $$
    SELECT c.fence FROM queen.log_claim_task_v1(p_task, 'me', p_force) c
$$;

DO $$
DECLARE
    r queen.maintenance_leases;
    c queen.task_claim_row;
    v_due timestamptz;
    v_period bigint;
BEGIN
    ASSERT pg_temp.claim('t') IS NULL, 'S-2: no row, not yours';
    PERFORM queen.log_register_task_v1('t', 5000);
    r := pg_temp.row_of('t');
    ASSERT (r.period_ms, r.enabled, r.fence, r.runs) = (5000, true, 0, 0) AND r.next_due_at <= clock_timestamp(), 'S-1: known and due at once: ' || r::text;

    SELECT * INTO c FROM queen.log_claim_task_v1('t', 'me');
    ASSERT (c.fence, c.lease_ms) = (1, 60000), 'S-2, S-6: won, for a minute at least: ' || c::text;
    r := pg_temp.row_of('t');
    v_due := r.next_due_at;
    ASSERT r.holder = 'me' AND r.lease_until BETWEEN clock_timestamp() + interval '55 s' AND clock_timestamp() + interval '60 s' AND r.last_start_at IS NOT NULL, 'S-2: ' || r::text;
    ASSERT r.runs = 0 AND r.last_end_at IS NULL, 'S-5: nothing is counted at the claim';
    ASSERT pg_temp.claim('t') IS NULL AND pg_temp.claim('t', true) IS NULL, 'S-2: not twice, not even by force';

    ASSERT NOT queen.log_release_task_v1('t', 0, true) AND NOT queen.log_renew_task_v1('t', 2), 'S-7: a stale fence changes nothing';
    ASSERT queen.log_renew_task_v1('t', 1), 'S-7: the holder goes on';
    ASSERT queen.log_release_task_v1('t', 1, true), 'S-3';
    r := pg_temp.row_of('t');
    ASSERT r.next_due_at = v_due + interval '5 s' AND r.lease_until IS NULL AND r.holder IS NULL AND r.runs = 1 AND r.last_duration_ms >= 0 AND r.last_end_at IS NOT NULL,
        'S-3, S-5: due one period after it was due, not after it ended: ' || r::text;
    ASSERT NOT queen.log_release_task_v1('t', 1, true) AND (pg_temp.row_of('t')).runs = 1, 'S-3: once';
    ASSERT pg_temp.claim('t') IS NULL, 'S-2: not due';
    ASSERT pg_temp.claim('t', true) = 2, 'by force before it is due';
    ASSERT queen.log_release_task_v1('t', 2, false), 'S-4';
    ASSERT (pg_temp.row_of('t')).next_due_at = v_due + interval '5 s' AND (pg_temp.row_of('t')).runs = 1, 'S-4: an error leaves it as due as it was';

    UPDATE queen.maintenance_leases SET next_due_at = clock_timestamp() - interval '1 h' WHERE task = 't';
    ASSERT pg_temp.claim('t') = 3 AND queen.log_release_task_v1('t', 3, true), 'overdue';
    ASSERT (pg_temp.row_of('t')).next_due_at BETWEEN clock_timestamp() - interval '1 s' AND clock_timestamp(), 'S-3: what was missed is not caught up';

    -- The holder died.
    ASSERT pg_temp.claim('t') = 4, 'due';
    UPDATE queen.maintenance_leases SET lease_until = clock_timestamp() - interval '1 ms' WHERE task = 't';
    ASSERT pg_temp.claim('t') = 5, 'S-2: an expired claim is free';
    ASSERT NOT queen.log_renew_task_v1('t', 4) AND NOT queen.log_release_task_v1('t', 4, true), 'S-7: the old holder is out';
    ASSERT (pg_temp.row_of('t')).lease_until IS NOT NULL, 'S-7: and does not end the new claim';

    -- F096: who promises to renew is followed within two periods, when it looks for work every tenth of one, a second at least.
    FOR v_period IN SELECT unnest('{4000,5000,10000,60000,600000,3600000,86400000,9223372036854775807}'::bigint[])
    LOOP
        ASSERT queen._task_lease_ms(v_period, true) + least(greatest(v_period / 10, 1000), 60000) * 1.1 <= v_period * 2.0, 'F096: ' || v_period;
    END LOOP;
    ASSERT queen._task_lease_ms(1, true) = 3000, 'a floor, so that a slow renewal loses nothing';
    UPDATE queen.maintenance_leases SET lease_until = clock_timestamp() WHERE task = 't';
    SELECT * INTO c FROM queen.log_claim_task_v1('t', 'me', p_renews => true);
    ASSERT (c.fence, c.lease_ms) = (6, 7500), 'F096: ' || c::text;
    ASSERT (pg_temp.row_of('t')).lease_until < clock_timestamp() + interval '7.5 s', 'F096: as it says';
    ASSERT queen.log_renew_task_v1('t', 6, true) AND (pg_temp.row_of('t')).lease_until < clock_timestamp() + interval '7.5 s', 'F096: and so when renewed';
    ASSERT queen.log_renew_task_v1('t', 6) AND (pg_temp.row_of('t')).lease_until > clock_timestamp() + interval '55 s', 'S-6: who renews now and then';
    UPDATE queen.maintenance_leases SET fence = 5 WHERE task = 't';

    -- The switch.
    UPDATE queen.maintenance_leases SET enabled = false WHERE task = 't';
    ASSERT NOT queen.log_renew_task_v1('t', 5), 'S-9: a pause ends the running claim at its next renewal';
    ASSERT queen.log_release_task_v1('t', 5, false), 'and it is given back';
    ASSERT pg_temp.claim('t') IS NULL AND pg_temp.claim('t', true) IS NULL, 'S-9: paused';

    -- Registering again.
    PERFORM queen.log_register_task_v1('t', 4000);
    r := pg_temp.row_of('t');
    ASSERT (r.enabled, r.fence, r.period_ms) = (false, 5, 4000), 'S-1: switch and fence stay';
    UPDATE queen.maintenance_leases SET enabled = true, next_due_at = clock_timestamp() + interval '1 h' WHERE task = 't';
    PERFORM queen.log_register_task_v1('t', 4000);
    ASSERT (pg_temp.row_of('t')).next_due_at > clock_timestamp() + interval '59 min', 'the same period moves nothing';
    PERFORM queen.log_register_task_v1('t', 3000, true);
    ASSERT (pg_temp.row_of('t')).period_ms = 4000, 'p_keep: as it was';
    PERFORM queen.log_register_task_v1('t', 3000);
    ASSERT (pg_temp.row_of('t')).next_due_at < clock_timestamp() + interval '4 s', 'S-1: a shorter period pulls the run forward';
    PERFORM queen.log_register_task_v1('t', 7200000);
    ASSERT (pg_temp.row_of('t')).next_due_at < clock_timestamp() + interval '4 s', 'S-1: a longer one does not push it away';
    ASSERT (SELECT c2.lease_ms FROM queen.log_claim_task_v1('t', 'me', true) c2) = 1800000, 'S-6: half an hour at most';
    PERFORM queen.log_register_task_v1('u', 600000);
    ASSERT (SELECT c2.lease_ms FROM queen.log_claim_task_v1('u', 'me') c2) = 1200000, 'S-6: twice the period';
    PERFORM queen.log_register_task_v1('v', 9223372036854775807);
    ASSERT (SELECT c2.lease_ms FROM queen.log_claim_task_v1('v', 'me') c2) = 1800000, 'an absurd period is no overflow';
END $$;

-- Refused.
DO $$
BEGIN
    BEGIN
        PERFORM queen.log_register_task_v1('t', 0);
        ASSERT false, 'a period of 0';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
    END;
    BEGIN
        PERFORM queen.log_register_task_v1(NULL, 5);
        ASSERT false, 'no name';
    EXCEPTION WHEN SQLSTATE 'QN400' THEN NULL;
    END;
END $$;

ROLLBACK;
