-- +goose Up

CREATE TABLE queen.system_state (
    key text COLLATE "C" NOT NULL,
    value jsonb NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT system_state_pkey PRIMARY KEY (key)
);
COMMENT ON TABLE queen.system_state IS 'The switches of the whole installation: maintenance_mode and pop_maintenance_mode, each {"enabled": bool}. No row means off.';

CREATE TABLE queen.spool_files (
    spool_id uuid NOT NULL,
    file bigint NOT NULL,
    position bigint NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT spool_files_pkey PRIMARY KEY (spool_id, file)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE queen.spool_files IS 'How far each file of a server''s disk spool was replayed: what stands before the position is in the log. Written by the transaction that replays, so that no kill stores anything twice.';
