-- name: RetentionStep :one
-- One bounded step of retention on one partition; a nil cut-off or limit switches its rule off.
SELECT * FROM queen.log_retention_step_v1(
    p_partition_id => @partition_id::uuid,
    p_age_before => sqlc.narg('age_before')::timestamptz,
    p_completed_before => sqlc.narg('completed_before')::timestamptz,
    p_max_bytes => sqlc.narg('max_bytes')::bigint,
    p_max_messages => sqlc.narg('max_messages')::bigint,
    p_idle_groups => @idle_groups::text[],
    p_idle_before => sqlc.narg('idle_before')::timestamptz,
    p_max_rows => @max_rows::integer);

-- name: EvictMaxWaitStep :one
-- One bounded step of maxWaitTimeSeconds on one partition.
SELECT * FROM queen.log_evict_max_wait_step_v1(
    p_partition_id => @partition_id::uuid,
    p_before => @before::timestamptz,
    p_max_rows => @max_rows::integer);

-- name: PurgeHashesStep :one
-- One bounded step that forgets old transaction ids of one partition.
SELECT * FROM queen.log_purge_hashes_step_v1(
    p_partition_id => @partition_id::uuid,
    p_before => @before::timestamptz,
    p_max_rows => @max_rows::integer);

-- name: RetentionCutoffs :many
-- What retention may take from each queue now.
SELECT * FROM queen.log_retention_cutoffs_v1();

-- name: TouchGroups :exec
-- Note that groups are active on queues, by name, or by labels where the name is nil.
SELECT queen.log_touch_groups_v1(
    p_queues => (@queues::queen.opt_text[])::text[],
    p_namespaces => @namespaces::text[],
    p_tasks => @tasks::text[],
    p_consumer_groups => @consumer_groups::text[],
    p_tenant_ids => @tenant_ids::uuid[]);

-- name: ForgetGroupsStep :one
-- One bounded step that drops the activity of groups whose queue is gone.
SELECT * FROM queen.log_forget_groups_step_v1(p_max_rows => @max_rows::integer);
