-- +goose Up

ALTER TABLE queen.queues
    ADD COLUMN cleanup_policy text DEFAULT 'delete' NOT NULL,
    ADD COLUMN delete_retention_seconds integer DEFAULT 86400 NOT NULL,
    ADD COLUMN min_compaction_lag_seconds integer DEFAULT 0 NOT NULL,
    ADD CONSTRAINT queues_cleanup_policy CHECK (cleanup_policy IN ('delete', 'compact', 'compact,delete'));
CREATE INDEX queues_compacted_idx ON queen.queues (id) WHERE cleanup_policy <> 'delete';

-- Everything below keyed_to is in log_keys; compacted_to is how far the compactor has come.
ALTER TABLE queen.log_partitions
    ADD COLUMN keyed_to bigint DEFAULT 0 NOT NULL,
    ADD COLUMN compacted_to bigint DEFAULT 0 NOT NULL;

-- No foreign key: the trigger on partitions removes them.
CREATE TABLE queen.log_keys (
    partition_id uuid NOT NULL,
    key text COLLATE "C" NOT NULL,
    "offset" bigint NOT NULL,
    CONSTRAINT log_keys_pkey PRIMARY KEY (partition_id, key)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE queen.log_keys IS 'The compactor''s map: the offset of the newest frame of each key below the partition''s keyed_to.';
