-- +goose Up

CREATE TABLE queen.queue_lag_metrics (
    bucket_time timestamptz NOT NULL,
    queue_id uuid NOT NULL,
    pop_count bigint DEFAULT 0 NOT NULL,
    push_request_count bigint DEFAULT 0 NOT NULL,
    push_message_count bigint DEFAULT 0 NOT NULL,
    pop_empty_count bigint DEFAULT 0 NOT NULL,
    transaction_count bigint DEFAULT 0 NOT NULL,
    ack_request_count bigint DEFAULT 0 NOT NULL,
    ack_success_count bigint DEFAULT 0 NOT NULL,
    ack_failed_count bigint DEFAULT 0 NOT NULL,
    conflated_count bigint DEFAULT 0 NOT NULL,
    avg_lag_ms double precision DEFAULT 0 NOT NULL,
    max_lag_ms bigint DEFAULT 0 NOT NULL,
    lag_count bigint DEFAULT 0 NOT NULL,
    parked_count double precision DEFAULT 0 NOT NULL,
    partitions_created bigint DEFAULT 0 NOT NULL,
    partitions_deleted bigint DEFAULT 0 NOT NULL,
    partition_count bigint DEFAULT 0 NOT NULL,
    CONSTRAINT queue_lag_metrics_pkey PRIMARY KEY (bucket_time, queue_id),
    CONSTRAINT queue_lag_metrics_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE
);
CREATE INDEX queue_lag_metrics_queue_id_idx ON queen.queue_lag_metrics (queue_id, bucket_time);
COMMENT ON TABLE queen.queue_lag_metrics IS 'What happened on a queue in one minute, summed over all servers.';

CREATE TABLE queen.queue_parked_replica (
    bucket_time timestamptz NOT NULL,
    queue_id uuid NOT NULL,
    hostname text COLLATE "C" NOT NULL,
    worker_id integer DEFAULT 0 NOT NULL,
    parked_count double precision DEFAULT 0 NOT NULL,
    CONSTRAINT queue_parked_replica_pkey PRIMARY KEY (bucket_time, queue_id, hostname, worker_id),
    CONSTRAINT queue_parked_replica_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE
);
CREATE INDEX queue_parked_replica_queue_id_idx ON queen.queue_parked_replica (queue_id, bucket_time);
COMMENT ON TABLE queen.queue_parked_replica IS 'How many pops were parked on a queue in one minute, on the average, at each server.';

-- One row a flush of one server. The id is drawn by the server before the first try, so that a flush whose
-- outcome was lost and that is sent again counts once.
CREATE TABLE queen.worker_metrics (
    flush_id uuid NOT NULL,
    bucket_time timestamptz NOT NULL,
    hostname text COLLATE "C" NOT NULL,
    worker_id integer DEFAULT 0 NOT NULL,
    pid integer NOT NULL,
    port integer DEFAULT 0 NOT NULL,
    flushed_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    push_request_count bigint DEFAULT 0 NOT NULL,
    pop_request_count bigint DEFAULT 0 NOT NULL,
    ack_request_count bigint DEFAULT 0 NOT NULL,
    push_message_count bigint DEFAULT 0 NOT NULL,
    pop_message_count bigint DEFAULT 0 NOT NULL,
    ack_message_count bigint DEFAULT 0 NOT NULL,
    ack_success_count bigint DEFAULT 0 NOT NULL,
    ack_failed_count bigint DEFAULT 0 NOT NULL,
    transaction_count bigint DEFAULT 0 NOT NULL,
    conflated_count bigint DEFAULT 0 NOT NULL,
    db_error_count bigint DEFAULT 0 NOT NULL,
    dlq_count bigint DEFAULT 0 NOT NULL,
    jobs_done bigint DEFAULT 0 NOT NULL,
    avg_lag_ms double precision DEFAULT 0 NOT NULL,
    max_lag_ms bigint DEFAULT 0 NOT NULL,
    lag_count bigint DEFAULT 0 NOT NULL,
    avg_event_loop_lag_ms double precision DEFAULT 0 NOT NULL,
    max_event_loop_lag_ms bigint DEFAULT 0 NOT NULL,
    avg_free_slots double precision DEFAULT 0 NOT NULL,
    min_free_slots bigint DEFAULT 0 NOT NULL,
    db_connections bigint DEFAULT 0 NOT NULL,
    CONSTRAINT worker_metrics_pkey PRIMARY KEY (flush_id)
);
CREATE INDEX worker_metrics_bucket_time_idx ON queen.worker_metrics (bucket_time);
COMMENT ON TABLE queen.worker_metrics IS 'What each server did since its last flush, one row a flush, filed under the minute of the flush.';

CREATE TABLE queen.worker_metrics_summary (
    singleton boolean DEFAULT true NOT NULL,
    total_push_requests bigint DEFAULT 0 NOT NULL,
    total_pop_requests bigint DEFAULT 0 NOT NULL,
    total_ack_requests bigint DEFAULT 0 NOT NULL,
    total_push_messages bigint DEFAULT 0 NOT NULL,
    total_pop_messages bigint DEFAULT 0 NOT NULL,
    total_ack_messages bigint DEFAULT 0 NOT NULL,
    total_ack_success bigint DEFAULT 0 NOT NULL,
    total_ack_failed bigint DEFAULT 0 NOT NULL,
    total_transactions bigint DEFAULT 0 NOT NULL,
    total_conflated bigint DEFAULT 0 NOT NULL,
    total_db_errors bigint DEFAULT 0 NOT NULL,
    total_dlq bigint DEFAULT 0 NOT NULL,
    updated_at timestamptz,
    CONSTRAINT worker_metrics_summary_pkey PRIMARY KEY (singleton),
    CONSTRAINT worker_metrics_summary_singleton CHECK (singleton)
);
COMMENT ON TABLE queen.worker_metrics_summary IS 'Lifetime totals of all servers: one row, the sum of all that was ever flushed to worker_metrics; none before the first flush.';

CREATE TABLE queen.system_metrics (
    "timestamp" timestamptz NOT NULL,
    hostname text COLLATE "C" NOT NULL,
    port integer NOT NULL,
    worker_id integer DEFAULT 0 NOT NULL,
    pid integer NOT NULL,
    sample_count bigint DEFAULT 1 NOT NULL,
    metrics jsonb NOT NULL,
    CONSTRAINT system_metrics_pkey PRIMARY KEY ("timestamp", hostname, port, worker_id)
);
COMMENT ON TABLE queen.system_metrics IS 'Samples of each server process, aggregated over one flush: processor, memory and pool, each as avg, min, max and last.';

-- What the triggers on log_partitions note. Inserts only: adding to a shared row of the minute would make pushes that
-- create partitions of one queue wait for each other, and deadlock across queues. The flush folds these rows into
-- queue_lag_metrics.
CREATE TABLE queen.partition_events (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    at timestamptz DEFAULT clock_timestamp() NOT NULL,
    queue_id uuid NOT NULL,
    created bigint DEFAULT 0 NOT NULL,
    deleted bigint DEFAULT 0 NOT NULL,
    CONSTRAINT partition_events_pkey PRIMARY KEY (id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
COMMENT ON TABLE queen.partition_events IS 'Partitions that were created and deleted and are not yet in queue_lag_metrics, one row a statement and queue.';

-- +goose StatementBegin
CREATE FUNCTION queen._partitions_created() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    -- Those of a dump that is restored were created before.
    INSERT INTO queen.partition_events (queue_id, created) SELECT queue_id, count(*) FROM changed WHERE created_at >= now() GROUP BY queue_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION queen._partitions_created() FROM PUBLIC;
CREATE TRIGGER log_partitions_created AFTER INSERT ON queen.log_partitions
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queen._partitions_created();

-- +goose StatementBegin
CREATE FUNCTION queen._partitions_deleted() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    INSERT INTO queen.partition_events (queue_id, deleted) SELECT queue_id, count(*) FROM changed GROUP BY queue_id;
    RETURN NULL;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION queen._partitions_deleted() FROM PUBLIC;
CREATE TRIGGER log_partitions_deleted AFTER DELETE ON queen.log_partitions
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queen._partitions_deleted();
