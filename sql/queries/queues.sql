-- name: ConfigureQueue :one
SELECT queen.configure_queue_v1(
    p_queue => @queue::text,
    p_options => @options::jsonb,
    p_mode => sqlc.narg('mode')::text,
    p_tenant_id => @tenant_id::uuid,
    p_dry_run => @dry_run::boolean
)::jsonb AS result;

-- name: ListQueues :one
SELECT queen.list_queues_v1(p_tenant_id => @tenant_id::uuid, p_cached => @cached::boolean)::json AS result;

-- name: QueueStats :many
SELECT * FROM queen.log_queue_stats_all_v1(p_tenant_id => @tenant_id::uuid);

-- name: GetQueue :one
SELECT queen.get_queue_v1(p_queue => @queue::text, p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: QueueDepth :one
SELECT queen.log_queue_depth_v1(
    p_queue => @queue::text,
    p_group => sqlc.narg('consumer_group')::text,
    p_tenant_id => @tenant_id::uuid
)::json AS result;

-- name: DeleteQueue :one
SELECT queen.delete_queue_v1(p_queue => @queue::text, p_tenant_id => @tenant_id::uuid)::json AS result;
