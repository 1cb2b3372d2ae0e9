-- +goose Up

-- The floor of the candidate search. A hint in one direction only: whatever it leaves out has nothing for the group.
CREATE TABLE queen.consumer_watermarks (
    queue_id uuid NOT NULL,
    consumer_group text COLLATE "C" NOT NULL,
    last_empty_scan_at timestamptz DEFAULT 'epoch' NOT NULL,
    updated_at timestamptz DEFAULT clock_timestamp() NOT NULL,
    held uuid[] DEFAULT '{}' NOT NULL,
    CONSTRAINT consumer_watermarks_pkey PRIMARY KEY (queue_id, consumer_group),
    CONSTRAINT consumer_watermarks_queue_id_fkey FOREIGN KEY (queue_id) REFERENCES queen.queues (id) ON DELETE CASCADE
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
        autovacuum_vacuum_cost_delay = 0, vacuum_truncate = off);
COMMENT ON TABLE queen.consumer_watermarks IS 'Where the search for work starts, one row a (queue, group): every partition last written two seconds or more before last_empty_scan_at that still owes the group something is in held.';

-- Discovery looks queues up by their labels.
CREATE INDEX queues_namespace_task_idx ON queen.queues (tenant_id, namespace, task) WHERE deleted_at IS NULL;
-- All registrations of a group, over every queue.
CREATE INDEX consumer_groups_metadata_consumer_group_idx ON queen.consumer_groups_metadata (tenant_id, consumer_group);

-- Many partitions share a second of last_write_at: with the id behind it a walk can begin anywhere among them.
DROP INDEX queen.log_partitions_queue_id_last_write_at_idx;
CREATE INDEX log_partitions_queue_id_last_write_at_id_idx ON queen.log_partitions (queue_id, last_write_at, id);
