-- name: FlushMetrics :one
-- Store what a server counted since its last flush; once for each flush id.
SELECT * FROM queen.log_flush_metrics_v1(
    p_flush_id => @flush_id::uuid,
    p_hostname => @hostname::text,
    p_port => @port::integer,
    p_pid => @pid::integer,
    p_worker => @worker::jsonb,
    p_system => @system::jsonb,
    p_queues => @queues::jsonb,
    p_worker_id => @worker_id::integer);

-- name: FoldPartitionEventsStep :one
-- One bounded step that adds created and deleted partitions to the minutes of their queues.
SELECT * FROM queen.log_fold_partition_events_step_v1(p_max_rows => @max_rows::integer);

-- name: ClusterMetrics :one
-- Lifetime totals of all servers.
SELECT * FROM queen.get_cluster_metrics_v1();

-- name: ListQueueMetrics :many
-- The newest minute of every queue that was busy in the last five.
SELECT * FROM queen.list_queue_metrics_v1();

-- name: ListLag :many
-- How far behind queues and groups are, at most so many of each.
SELECT * FROM queen.list_lag_v1(p_max_rows => @max_rows::integer);

-- name: ListRetainedBytes :many
-- What queues keep on disk, at most so many.
SELECT * FROM queen.list_retained_bytes_v1(p_max_rows => @max_rows::integer);

-- name: GetQueueLag :one
SELECT queen.get_queue_lag_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_queue => sqlc.narg('queue')::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetQueueOps :one
SELECT queen.get_queue_ops_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_queue => sqlc.narg('queue')::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetQueueParkedReplicas :one
SELECT queen.get_queue_parked_replicas_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_queue => sqlc.narg('queue')::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetSystemMetrics :one
SELECT queen.get_system_metrics_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_hostname => sqlc.narg('hostname')::text,
    p_worker_id => sqlc.narg('worker_id')::integer)::json AS result;

-- name: GetWorkerMetrics :one
SELECT queen.get_worker_metrics_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_queue => sqlc.narg('queue')::text,
    p_hostname => sqlc.narg('hostname')::text,
    p_worker_id => sqlc.narg('worker_id')::integer)::json AS result;

-- name: GetWorkload :one
SELECT queen.get_workload_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_group_by => @group_by::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text,
    p_queue => sqlc.narg('queue')::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetDeadLetterSignatures :one
SELECT queen.get_dead_letter_signatures_v1(
    p_queue => @queue::text,
    p_limit => @max_rows::integer,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetPartitionLiveness :one
SELECT queen.get_partition_liveness_v1(
    p_queue => sqlc.narg('queue')::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text,
    p_limit => @max_rows::integer,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetPostgresStats :one
SELECT queen.get_postgres_stats_v1()::json AS result;
