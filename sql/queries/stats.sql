-- name: LimitTransaction :exec
-- Bound what follows in this transaction, in milliseconds: each statement, and each pause between two.
SELECT set_config('statement_timeout', (@milliseconds::bigint)::text, true),
    set_config('idle_in_transaction_session_timeout', (@milliseconds::bigint)::text, true);

-- name: RefreshStats :one
-- One cycle of the reconciler; wait stands in line when another one runs.
SELECT queen.log_refresh_all_stats_v1(p_wait => @wait::boolean)::json AS result;

-- name: RefreshRetainedBytes :one
-- Measure what every queue keeps on disk.
SELECT queen.log_refresh_retained_bytes_v1()::json AS result;

-- name: GetOverview :one
SELECT queen.get_overview_v1(p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: ListNamespaces :one
SELECT queen.list_namespaces_v1(p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: ListTasks :one
SELECT queen.list_tasks_v1(p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: ListStoredQueues :one
SELECT queen.list_stored_queues_v1(
    p_queue => sqlc.narg('queue')::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text,
    p_max_rows => @max_rows::integer,
    p_skip => @skip::integer,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetQueueStatus :one
SELECT queen.get_queue_status_v1(p_queue => @queue::text, p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetMessageSeries :one
SELECT queen.get_message_series_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_interval => @step::text,
    p_queue => sqlc.narg('queue')::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetStatus :one
SELECT queen.get_status_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_queue => sqlc.narg('queue')::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text)::json AS result;
