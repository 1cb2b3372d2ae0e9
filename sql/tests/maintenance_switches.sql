-- get_maintenance_v1, set_maintenance_v1: the switches of spec 5.7.
-- Run with: psql -v ON_ERROR_STOP=1 -f sql/tests/maintenance_switches.sql (on a migrated database).
BEGIN;

DO $$
DECLARE
    r queen.maintenance_row;
BEGIN
    SELECT * INTO r FROM queen.get_maintenance_v1();
    ASSERT NOT r.push_paused AND NOT r.pop_paused, '5.7: no row means off';
    SELECT * INTO r FROM queen.set_maintenance_v1(p_push_paused => true);
    ASSERT r.push_paused AND NOT r.pop_paused, '5.7: one switch leaves the other alone';
    ASSERT (SELECT value = '{"enabled": true}' FROM queen.system_state WHERE key = 'maintenance_mode'), '5.7: key and value are fixed';
    SELECT * INTO r FROM queen.set_maintenance_v1(false, true);
    ASSERT NOT r.push_paused AND r.pop_paused, '5.7: both at once';
    ASSERT (SELECT value = '{"enabled": true}' FROM queen.system_state WHERE key = 'pop_maintenance_mode'), '5.7: key and value are fixed';
    UPDATE queen.system_state SET value = '[]';
    SELECT * INTO r FROM queen.get_maintenance_v1();
    ASSERT NOT r.push_paused AND NOT r.pop_paused, 'a damaged row means off';
    PERFORM queen.set_maintenance_v1(true);
    ASSERT (SELECT count(*) = 1 FROM queen.push_v1('q', '1')), 'the switches are for servers';
END $$;

ROLLBACK;
