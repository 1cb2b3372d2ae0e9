-- name: CompactStep :one
-- One bounded step of compaction on one partition.
SELECT * FROM queen.log_compact_step_v1(
    p_partition_id => @partition_id::uuid,
    p_max_frames => @max_frames::integer);

-- name: CompactDue :many
-- Partitions that compaction has something to do in, by id, after one.
SELECT * FROM queen.log_compact_due_v1(
    p_max_rows => @max_rows::integer,
    p_after => @after::uuid);

-- name: GetLatest :many
-- The newest message of a key; none when it has none or was deleted.
SELECT * FROM queen.get_latest_v1(
    p_queue => @queue::text,
    p_key => @key::text,
    p_partition => @partition::text,
    p_tenant_id => @tenant_id::uuid);
