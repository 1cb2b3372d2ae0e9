-- +goose Up

ALTER TABLE queen.queues
    ADD COLUMN retention_bytes bigint DEFAULT 0 NOT NULL,
    ADD COLUMN retention_messages bigint DEFAULT 0 NOT NULL,
    ADD COLUMN group_idle_seconds integer DEFAULT 0 NOT NULL;

-- What is due: the oldest segment and the oldest hash row of a partition, found without a look at the idle ones.
CREATE INDEX log_partitions_oldest_live_at_idx ON queen.log_partitions (queue_id, oldest_live_at) WHERE oldest_live_at IS NOT NULL;
CREATE INDEX log_partitions_oldest_txn_at_idx ON queen.log_partitions (queue_id, oldest_txn_at) WHERE oldest_txn_at IS NOT NULL;

-- Hash rows go as segments do: hidden first, deleted later.
ALTER TABLE queen.log_partitions ADD COLUMN txns_reclaimed_to bigint DEFAULT 0 NOT NULL;
-- What a step hid and none has deleted yet, after a crash too.
CREATE INDEX log_partitions_unreclaimed_idx ON queen.log_partitions (id) WHERE reclaimed_to < log_start OR txns_reclaimed_to < txns_start;

-- No foreign key: the audit row outlives the partition and the queue.
CREATE TABLE queen.retention_history (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    tenant_id uuid NOT NULL,
    queue_id uuid NOT NULL,
    partition_id uuid NOT NULL,
    retention_type text NOT NULL,
    messages_deleted bigint DEFAULT 0 NOT NULL,
    unread_deleted bigint DEFAULT 0 NOT NULL,
    bytes_deleted bigint DEFAULT 0 NOT NULL,
    rows_deleted bigint DEFAULT 0 NOT NULL,
    first_offset bigint,
    last_offset bigint,
    executed_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT retention_history_pkey PRIMARY KEY (id)
);
CREATE INDEX retention_history_executed_at_idx ON queen.retention_history (executed_at);
CREATE INDEX retention_history_partition_id_idx ON queen.retention_history (partition_id);
COMMENT ON TABLE queen.retention_history IS 'What each deleting step removed, by which rule: frames, those of them that some group had not consumed (all when there was no group), bytes as sent, segment rows and the span of offsets. Written by the transaction that deletes.';

-- Who runs a task of which one instance is enough. The database clock decides.
CREATE TABLE queen.maintenance_leases (
    task text COLLATE "C" NOT NULL,
    period_ms bigint NOT NULL,
    next_due_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    lease_until timestamptz,
    holder text,
    fence bigint DEFAULT 0 NOT NULL,
    last_start_at timestamptz,
    last_end_at timestamptz,
    last_duration_ms bigint,
    runs bigint DEFAULT 0 NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    CONSTRAINT maintenance_leases_pkey PRIMARY KEY (task),
    CONSTRAINT maintenance_leases_period CHECK (period_ms > 0)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE queen.maintenance_leases IS 'One row a task that one instance runs for all. Setting enabled to false pauses the task everywhere.';

-- Slots, because who finds every row of its group locked by a transaction that idles adds one rather than wait, or its
-- activity would be lost. No foreign key: the deletion of a queue would wait for such a transaction.
CREATE TABLE queen.group_activity (
    queue_id uuid NOT NULL,
    consumer_group text COLLATE "C" NOT NULL,
    slot bigint NOT NULL,
    last_active_at timestamptz NOT NULL,
    leased_until timestamptz NOT NULL,
    CONSTRAINT group_activity_pkey PRIMARY KEY (queue_id, consumer_group, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
COMMENT ON TABLE queen.group_activity IS 'When a group last did anything on a queue (the newest of its rows counts), and until when a lease of its may last; written at most once a second. No row means active now.';

-- Rows that a transaction still holds are left for log_forget_groups_step_v1.
-- +goose StatementBegin
CREATE FUNCTION queen._queue_activity_delete() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = queen, pg_catalog, pg_temp AS $$
BEGIN
    DELETE FROM queen.group_activity a
    WHERE a.ctid = ANY (ARRAY(SELECT x.ctid FROM queen.group_activity x WHERE x.queue_id = OLD.id FOR UPDATE SKIP LOCKED));
    RETURN OLD;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION queen._queue_activity_delete() FROM PUBLIC;
CREATE TRIGGER queues_activity_delete AFTER DELETE ON queen.queues
    FOR EACH ROW EXECUTE FUNCTION queen._queue_activity_delete();

CREATE SEQUENCE queen.kv_version_seq CACHE 32;
CREATE TABLE queen.kv (
    tenant_id uuid DEFAULT '00000000-0000-0000-0000-000000000001' NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    value jsonb NOT NULL,
    version bigint DEFAULT nextval('queen.kv_version_seq') NOT NULL,
    expires_at timestamptz,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT kv_pkey PRIMARY KEY (tenant_id, namespace, key),
    CONSTRAINT kv_length CHECK (octet_length(namespace) <= 512 AND octet_length(key) <= 2048)
);
COMMENT ON TABLE queen.kv IS 'Small values by name, such as how far a sink has copied a queue. A value exists while expires_at is null or in the future; version is an equality token.';

-- What reclaim looks at, and partition cleanup: deleted queues, and partitions that hold nothing.
CREATE INDEX queues_deleted_at_idx ON queen.queues (deleted_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX log_partitions_empty_idx ON queen.log_partitions (last_write_at, id) WHERE oldest_live_at IS NULL;
