-- +goose Up

ALTER TABLE queen.queues
    ADD COLUMN cleanup_policy text DEFAULT 'delete' NOT NULL,
    ADD COLUMN delete_retention_seconds integer DEFAULT 86400 NOT NULL,
    ADD COLUMN min_compaction_lag_seconds integer DEFAULT 0 NOT NULL,
    ADD CONSTRAINT queues_cleanup_policy CHECK (cleanup_policy IN ('delete', 'compact', 'compact,delete'));
CREATE INDEX queues_compacted_idx ON queen.queues (id) WHERE cleanup_policy <> 'delete';

-- No foreign keys: the trigger on partitions removes the rows of all three tables.
CREATE TABLE queen.log_keys (
    partition_id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    "offset" bigint NOT NULL,
    base_offset bigint NOT NULL,
    CONSTRAINT log_keys_pkey PRIMARY KEY (partition_id, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE queen.log_keys IS 'The compactor''s map: the newest frame of each key below the partition''s keyed_to, its offset and its segment. A row below log_start means nothing.';

-- Not columns of log_partitions, so that reading keys never waits for pushes, nor they for it.
CREATE TABLE queen.log_compaction (
    partition_id uuid NOT NULL,
    keyed_to bigint DEFAULT 0 NOT NULL,
    compacted_to bigint DEFAULT 0 NOT NULL,
    pruned_to bigint DEFAULT 0 NOT NULL,
    prune_start bigint DEFAULT 0 NOT NULL,
    prune_after text COLLATE "C",
    key_steps integer DEFAULT 0 NOT NULL,
    due_at timestamptz,
    lag_seconds integer,
    grace_seconds integer,
    CONSTRAINT log_compaction_pkey PRIMARY KEY (partition_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE queen.log_compaction IS 'How far the compactor has come in a partition: everything below keyed_to is in log_keys, every segment below compacted_to was judged once; due_at is when more is to be done without a push, by the options lag_seconds and grace_seconds. One compactor at a time holds the row.';

CREATE TABLE queen.log_dirty (
    partition_id uuid NOT NULL,
    base_offset bigint NOT NULL,
    created_at timestamptz NOT NULL,
    obsolete boolean NOT NULL,
    tombstones boolean NOT NULL,
    CONSTRAINT log_dirty_pkey PRIMARY KEY (partition_id, base_offset)
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE queen.log_dirty IS 'Segments that the compactor has to rewrite: obsolete, some frame has a newer one of its key; tombstones, some frame is the newest of its key and a tombstone, which goes when it is old enough.';

ALTER TABLE queen.log_dlq ADD COLUMN key text;

-- +goose StatementBegin
DO $$
BEGIN
    EXECUTE 'ALTER TABLE queen.log_segments ALTER COLUMN offsets SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    NULL; -- a server without lz4, as in 00001
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION queen._partition_children_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM queen.log_consumers WHERE partition_id = OLD.id;
    DELETE FROM queen.log_segments WHERE partition_id = OLD.id;
    DELETE FROM queen.log_txns WHERE partition_id = OLD.id;
    DELETE FROM queen.log_dlq WHERE partition_id = OLD.id;
    DELETE FROM queen.log_compaction WHERE partition_id = OLD.id;
    DELETE FROM queen.log_dirty WHERE partition_id = OLD.id;
    DELETE FROM queen.log_keys WHERE partition_id = OLD.id;
    RETURN OLD;
END $$;
-- +goose StatementEnd
