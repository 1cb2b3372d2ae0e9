-- +goose Up

ALTER TABLE queen.queues ADD COLUMN dead_letter_retention_seconds integer DEFAULT 0 NOT NULL;
-- What the retention of dead letters looks at: few queues ask for it.
CREATE INDEX queues_dead_letter_retention_idx ON queen.queues (id) WHERE dead_letter_retention_seconds > 0;

-- Newest first over all partitions, and the way of a redrive: oldest first from a position on.
CREATE INDEX log_dlq_failed_at_id_idx ON queen.log_dlq (failed_at, id);
-- Whether a message is dead, by its offset, and the dead letters of an address. The id is hashed: it may be longer than an index entry.
CREATE INDEX log_dlq_partition_id_offset_idx ON queen.log_dlq (partition_id, "offset");
CREATE INDEX log_dlq_partition_id_transaction_id_idx ON queen.log_dlq (partition_id, hashtextextended(transaction_id, 0));

CREATE TABLE queen.dead_letter_removals (
    queue_id uuid NOT NULL,
    removed bigint DEFAULT 0 NOT NULL,
    newest_failed_at timestamptz NOT NULL,
    last_removed_at timestamptz NOT NULL,
    CONSTRAINT dead_letter_removals_pkey PRIMARY KEY (queue_id),
    CONSTRAINT dead_letter_removals_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE
);
COMMENT ON TABLE queen.dead_letter_removals IS 'One row a queue whose dead letters were removed by deadLetterRetentionSeconds: how many in all, the failure time of the newest of them, and when last.';

-- No foreign key, on purpose: traces outlive the partition and the queue. So names are copied into them.
CREATE TABLE queen.message_traces (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    queue_name text COLLATE "C",
    partition_name text COLLATE "C",
    consumer_group text COLLATE "C" DEFAULT '__QUEUE_MODE__' NOT NULL,
    event_type text COLLATE "C" DEFAULT 'info' NOT NULL,
    data text NOT NULL,
    worker_id text COLLATE "C",
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT message_traces_pkey PRIMARY KEY (id)
);
CREATE INDEX message_traces_message_idx ON queen.message_traces (partition_id, hashtextextended(transaction_id, 0), created_at);
COMMENT ON TABLE queen.message_traces IS 'What consumers noted about messages. Survives the message, the partition and the queue; nothing purges it. Data is JSON text as sent.';

CREATE TABLE queen.message_trace_names (
    trace_id uuid NOT NULL,
    tenant_id uuid NOT NULL,
    trace_name text COLLATE "C" NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT message_trace_names_pkey PRIMARY KEY (trace_id, trace_name),
    CONSTRAINT message_trace_names_trace_id_fkey FOREIGN KEY (trace_id) REFERENCES queen.message_traces (id) ON DELETE CASCADE,
    CONSTRAINT message_trace_names_length CHECK (char_length(trace_name) <= 255)
);
CREATE INDEX message_trace_names_name_idx ON queen.message_trace_names (tenant_id, trace_name, created_at);
COMMENT ON TABLE queen.message_trace_names IS 'Names that tie traces of several messages together, such as one order over many queues.';
