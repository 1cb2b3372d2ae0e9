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
    CONSTRAINT queue_lag_metrics_pkey PRIMARY KEY (bucket_time, queue_id),
    CONSTRAINT queue_lag_metrics_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE
);
CREATE INDEX queue_lag_metrics_queue_id_idx ON queen.queue_lag_metrics (queue_id, bucket_time);
COMMENT ON TABLE queen.queue_lag_metrics IS 'What happened on a queue in one minute, summed over all servers.';
