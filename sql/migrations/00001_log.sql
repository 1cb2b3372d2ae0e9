-- +goose Up

-- A nullable element of an array argument; sqlc maps it to a pointer.
CREATE DOMAIN queen.opt_text AS text;

CREATE TABLE queen.queues (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000001' NOT NULL,
    name text COLLATE "C" NOT NULL,
    namespace text COLLATE "C",
    task text COLLATE "C",
    priority integer DEFAULT 0 NOT NULL,
    lease_time integer DEFAULT 60 NOT NULL,
    retry_limit integer DEFAULT 3,
    retry_delay integer DEFAULT 1000 NOT NULL,
    ttl integer DEFAULT 3600 NOT NULL,
    max_queue_size integer DEFAULT 0 NOT NULL,
    dead_letter_queue boolean DEFAULT true,
    dlq_after_max_retries boolean DEFAULT true,
    delayed_processing integer DEFAULT 0 NOT NULL,
    window_buffer integer DEFAULT 0 NOT NULL,
    min_pop_wait_time integer DEFAULT 0 NOT NULL,
    retention_enabled boolean DEFAULT false NOT NULL,
    retention_seconds integer DEFAULT 0 NOT NULL,
    completed_retention_seconds integer DEFAULT 0 NOT NULL,
    max_wait_time_seconds integer DEFAULT 0 NOT NULL,
    encryption_enabled boolean DEFAULT false NOT NULL,
    dedup_window_seconds integer DEFAULT 3600 NOT NULL,
    retention_sink_hold text COLLATE "C" DEFAULT '' NOT NULL,
    retention_sink_hold_max_seconds integer DEFAULT 604800 NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    deleted_at timestamptz,
    CONSTRAINT queues_pkey PRIMARY KEY (id),
    CONSTRAINT queues_name_length CHECK (char_length(name) <= 255)
);
CREATE UNIQUE INDEX queues_tenant_id_name_key ON queen.queues (tenant_id, name) WHERE deleted_at IS NULL;
CREATE INDEX queues_name_idx ON queen.queues (name);
COMMENT ON TABLE queen.queues IS 'One row a queue: its identity and every option, one typed column each. A row with deleted_at set is hidden and its name is free.';

-- The allocator and write lock of a partition. A push that finds settled = false leaves this row alone;
-- read the head from queen.partition_head, never from last_offset.
CREATE TABLE queen.log_partitions (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    queue_id uuid NOT NULL,
    name text COLLATE "C" DEFAULT 'Default' NOT NULL,
    last_offset bigint DEFAULT -1 NOT NULL,
    last_write_at timestamptz DEFAULT date_trunc('second', clock_timestamp()) NOT NULL,
    settled boolean DEFAULT true NOT NULL,
    last_stamp timestamptz,
    last_cum bigint DEFAULT 0 NOT NULL,
    log_start bigint DEFAULT 0 NOT NULL,
    reclaimed_to bigint DEFAULT 0 NOT NULL,
    txns_start bigint DEFAULT 0 NOT NULL,
    oldest_live_at timestamptz,
    oldest_txn_at timestamptz,
    removed_frames bigint DEFAULT 0 NOT NULL,
    removed_bytes bigint DEFAULT 0 NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_partitions_pkey PRIMARY KEY (id),
    CONSTRAINT log_partitions_queue_id_name_key UNIQUE (queue_id, name),
    CONSTRAINT log_partitions_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE,
    CONSTRAINT log_partitions_name_length CHECK (char_length(name) <= 255)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
CREATE INDEX log_partitions_queue_id_last_write_at_idx ON queen.log_partitions (queue_id, last_write_at);
CREATE INDEX log_partitions_unsettled_idx ON queen.log_partitions (last_write_at) WHERE NOT settled;
COMMENT ON TABLE queen.log_partitions IS 'One row a partition: allocator, write lock and watermarks. Take the head from queen.partition_head; last_offset is behind while settled is false.';

CREATE TABLE queen.log_segments (
    partition_id uuid NOT NULL,
    base_offset bigint NOT NULL,
    end_offset bigint NOT NULL,
    created_at timestamptz NOT NULL,
    id_base uuid NOT NULL,
    frames integer NOT NULL,
    bytes bigint NOT NULL,
    orig_bytes bigint NOT NULL,
    cum_bytes bigint NOT NULL,
    payloads text[] NOT NULL,
    transaction_ids text[],
    keys text[],
    trace_ids uuid[],
    producer_subs text[],
    offsets bigint[],
    CONSTRAINT log_segments_pkey PRIMARY KEY (partition_id, base_offset)
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_insert_scale_factor = 0.05,
        autovacuum_vacuum_cost_limit = 4000, autovacuum_vacuum_cost_delay = 0, autovacuum_freeze_min_age = 0,
        vacuum_truncate = off,
        toast.autovacuum_vacuum_scale_factor = 0.1, toast.autovacuum_vacuum_cost_limit = 4000,
        toast.autovacuum_vacuum_cost_delay = 0, toast.autovacuum_freeze_min_age = 0, toast.vacuum_truncate = off);
COMMENT ON TABLE queen.log_segments IS 'The messages: one immutable row for a run of frames; element k of payloads is the frame at base_offset + k while offsets is null. Rows below log_start are invisible.';

-- +goose StatementBegin
DO $$
BEGIN
    -- lz4 where the server has it: no rate lost, half of the WAL (perf 3.7). pglz is the fallback.
    EXECUTE 'ALTER TABLE queen.log_segments ALTER COLUMN payloads SET COMPRESSION lz4, '
         || 'ALTER COLUMN transaction_ids SET COMPRESSION lz4, ALTER COLUMN keys SET COMPRESSION lz4';
EXCEPTION WHEN feature_not_supported OR invalid_parameter_value THEN
    NULL;
END $$;
-- +goose StatementEnd

CREATE TABLE queen.log_txns (
    partition_id uuid NOT NULL,
    base_offset bigint NOT NULL,
    end_offset bigint NOT NULL,
    created_at timestamptz NOT NULL,
    hashes bigint[] NOT NULL,
    lo text COLLATE "C" NOT NULL,
    hi text COLLATE "C" NOT NULL,
    high text COLLATE "C" NOT NULL,
    out_of_order boolean DEFAULT false NOT NULL,
    CONSTRAINT log_txns_pkey PRIMARY KEY (partition_id, base_offset)
) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_insert_scale_factor = 0.3,
        autovacuum_vacuum_cost_delay = 0, autovacuum_freeze_min_age = 0, vacuum_truncate = off,
        toast.autovacuum_vacuum_cost_delay = 0, toast.autovacuum_freeze_min_age = 0, toast.vacuum_truncate = off);
-- Two indexes, each for one kind of row: in-order rows have disjoint, rising ranges, so one step on hi finds the
-- only one that can hold an id; the others are found by hash. No pending list: every push probes, and would scan it.
CREATE INDEX log_txns_partition_id_hi_idx ON queen.log_txns (partition_id, hi) WHERE NOT out_of_order;
CREATE INDEX log_txns_hashes_idx ON queen.log_txns USING gin (hashes) WITH (fastupdate = off) WHERE out_of_order;
COMMENT ON TABLE queen.log_txns IS 'The hash sidecar: slot k of hashes belongs to offset base_offset + k. Serves deduplication and ack resolution; no foreign key, so purging it costs no trigger.';

CREATE TABLE queen.log_consumers (
    partition_id uuid NOT NULL,
    consumer_group text COLLATE "C" DEFAULT '__QUEUE_MODE__' NOT NULL,
    committed bigint DEFAULT -1 NOT NULL,
    batch_end bigint,
    worker_id text COLLATE "C",
    lease_expires_at timestamptz,
    lease_acquired_at timestamptz,
    lease_conflated boolean DEFAULT false NOT NULL,
    batch_retry_count integer DEFAULT 0 NOT NULL,
    attempt_offset bigint,
    attempt_count integer DEFAULT 0 NOT NULL,
    total_consumed bigint DEFAULT 0 NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_consumers_pkey PRIMARY KEY (partition_id, consumer_group),
    CONSTRAINT log_consumers_group_length CHECK (char_length(consumer_group) <= 255)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
COMMENT ON TABLE queen.log_consumers IS 'One row a (partition, consumer group): the cursor, at most one lease and the retry counters.';

-- The members of a lease that covers more than one partition. A lease on one partition needs no row:
-- the tail of its id names the partition.
CREATE TABLE queen.log_lease_members (
    lease_id text COLLATE "C" NOT NULL,
    partition_ids uuid[] NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT log_lease_members_pkey PRIMARY KEY (lease_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
CREATE INDEX log_lease_members_expires_at_idx ON queen.log_lease_members (expires_at);
COMMENT ON TABLE queen.log_lease_members IS 'Partitions of a lease that one pop took over several partitions, so that extending it is a key lookup. The settler removes rows whose lease ended.';

CREATE TABLE queen.log_dlq (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    partition_id uuid NOT NULL,
    consumer_group text COLLATE "C" NOT NULL,
    "offset" bigint NOT NULL,
    message_id uuid NOT NULL,
    transaction_id text COLLATE "C" NOT NULL,
    payload text,
    error text,
    retry_count integer DEFAULT 0 NOT NULL,
    failed_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT log_dlq_pkey PRIMARY KEY (id)
);
CREATE INDEX log_dlq_partition_id_failed_at_idx ON queen.log_dlq (partition_id, failed_at DESC);
COMMENT ON TABLE queen.log_dlq IS 'Dead letters: a snapshot of the frame as sent, the reason, and the group that gave up. Payload is text, so a dead letter with any JSON can be stored.';

CREATE TABLE queen.consumer_groups_metadata (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000001' NOT NULL,
    consumer_group text COLLATE "C" NOT NULL,
    queue_id uuid,
    partition_name text COLLATE "C" DEFAULT '' NOT NULL,
    namespace text COLLATE "C" DEFAULT '' NOT NULL,
    task text COLLATE "C" DEFAULT '' NOT NULL,
    subscription_mode text NOT NULL,
    subscription_timestamp timestamptz NOT NULL,
    conflation boolean DEFAULT false NOT NULL,
    created_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT consumer_groups_metadata_pkey PRIMARY KEY (id),
    CONSTRAINT consumer_groups_metadata_identity_key UNIQUE NULLS NOT DISTINCT
        (tenant_id, consumer_group, queue_id, partition_name, namespace, task),
    CONSTRAINT consumer_groups_metadata_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE
);
CREATE INDEX consumer_groups_metadata_queue_id_idx ON queen.consumer_groups_metadata (queue_id);
COMMENT ON TABLE queen.consumer_groups_metadata IS 'The durable subscription of a group on a queue: where cursors of later partitions start.';

CREATE TABLE queen.clock_marks (
    marked_at timestamptz NOT NULL,
    xid xid8 NOT NULL,
    CONSTRAINT clock_marks_pkey PRIMARY KEY (marked_at, xid)
);
COMMENT ON TABLE queen.clock_marks IS 'Clock readings with the transaction id drawn after each: a floor for stamps, and for the safe time when activity cannot be seen.';

-- Children carry no foreign key: it costs 3.5 us a segment, and makes the second update of a cursor in one transaction
-- wait for the partition row. They go with their partition even when somebody deletes the row by hand in psql.
-- +goose StatementBegin
CREATE FUNCTION queen._partition_children_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM queen.log_consumers WHERE partition_id = OLD.id;
    DELETE FROM queen.log_segments WHERE partition_id = OLD.id;
    DELETE FROM queen.log_txns WHERE partition_id = OLD.id;
    DELETE FROM queen.log_dlq WHERE partition_id = OLD.id;
    RETURN OLD;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION queen._partition_children_delete() FROM PUBLIC;
CREATE TRIGGER log_partitions_children_delete AFTER DELETE ON queen.log_partitions
    FOR EACH ROW EXECUTE FUNCTION queen._partition_children_delete();
