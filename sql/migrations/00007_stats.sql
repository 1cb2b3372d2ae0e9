-- +goose Up

-- No foreign keys: a count must not wait for whoever holds a queue's row, nor a delete for a count. The next cycle
-- removes what is of no queue any more. The nil tenant is all of them together: a column of a primary key cannot be null.
CREATE TABLE queen.stats (
    stat_type text COLLATE "C" NOT NULL,
    stat_key text COLLATE "C" NOT NULL,
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL,
    queue_id uuid,
    child_count bigint DEFAULT 0 NOT NULL,
    total_messages bigint DEFAULT 0 NOT NULL,
    pending_messages bigint DEFAULT 0 NOT NULL,
    processing_messages bigint DEFAULT 0 NOT NULL,
    completed_messages bigint DEFAULT 0 NOT NULL,
    dead_letter_messages bigint DEFAULT 0 NOT NULL,
    retained_bytes bigint DEFAULT 0 NOT NULL,
    segment_count bigint DEFAULT 0 NOT NULL,
    oldest_pending_at timestamptz,
    newest_message_at timestamptz,
    avg_lag_seconds bigint DEFAULT 0 NOT NULL,
    max_lag_seconds bigint DEFAULT 0 NOT NULL,
    median_lag_seconds bigint DEFAULT 0 NOT NULL,
    avg_offset_lag bigint DEFAULT 0 NOT NULL,
    max_offset_lag bigint DEFAULT 0 NOT NULL,
    ingested_per_second double precision DEFAULT 0 NOT NULL,
    processed_per_second double precision DEFAULT 0 NOT NULL,
    prev_total_messages bigint,
    prev_completed_messages bigint,
    prev_snapshot_at timestamptz,
    last_computed_at timestamptz,
    CONSTRAINT stats_pkey PRIMARY KEY (stat_type, stat_key, tenant_id)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 50, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX stats_queue_id_idx ON queen.stats (queue_id) WHERE queue_id IS NOT NULL;
COMMENT ON TABLE queen.stats IS 'What the reconciler counted: a row each queue (stat_key is its id), namespace and task of a tenant (its label), tenant (its id), and system/global for all. Only in rows of queues, retained_bytes and segment_count belong to the retained-bytes lane.';

CREATE TABLE queen.queue_size_history (
    queue_id uuid NOT NULL,
    hour_at timestamptz NOT NULL,
    retained_bytes bigint NOT NULL,
    segment_count bigint NOT NULL,
    CONSTRAINT queue_size_history_pkey PRIMARY KEY (queue_id, hour_at)
);
COMMENT ON TABLE queen.queue_size_history IS 'Stored bytes of each queue by the hour, from which growth is told.';
