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
