-- name: RegisterTask :exec
-- Make a task known to all instances, with its period.
SELECT queen.log_register_task_v1(p_task => @task::text, p_period_ms => @period_ms::bigint);

-- name: ClaimTask :many
-- Try to become the one that runs a task now; no row is somebody else's. The claim has to be renewed.
SELECT * FROM queen.log_claim_task_v1(p_task => @task::text, p_holder => @holder::text, p_renews => true);

-- name: RenewTask :one
-- Hold a claim longer; false when it is lost.
SELECT queen.log_renew_task_v1(p_task => @task::text, p_fence => @fence::bigint, p_renews => true)::boolean AS held;

-- name: ReleaseTask :one
-- End a claim; false when it was lost before.
SELECT queen.log_release_task_v1(
    p_task => @task::text,
    p_fence => @fence::bigint,
    p_succeeded => @succeeded::boolean)::boolean AS released;

-- name: ReclaimStep :one
-- One bounded step that removes the rows of deleted queues.
SELECT * FROM queen.log_reclaim_step_v1(p_max_rows => @max_rows::integer);

-- name: RetentionDue :many
-- The partitions that a sweep has to look at now, with the rules of their queues.
SELECT * FROM queen.log_retention_due_v1(
    p_max_rows => @max_rows::integer,
    p_skip => @skip::uuid[],
    p_written_since => sqlc.narg('written_since')::timestamptz);

-- name: CleanupPartitionsStep :one
-- One bounded step that deletes partitions that are empty and were not used for so many days.
SELECT * FROM queen.log_cleanup_partitions_step_v1(p_days => @days::integer, p_max_rows => @max_rows::integer);

-- name: PurgeMetricsStep :one
-- One bounded step that removes metrics and audit rows older than so many days.
SELECT * FROM queen.log_purge_metrics_step_v1(p_days => @days::integer, p_max_rows => @max_rows::integer);

-- name: WalkWatermarksStep :one
-- One bounded step that checks the times by which partitions become due.
SELECT * FROM queen.log_walk_watermarks_step_v1(p_after => @after::uuid, p_max_rows => @max_rows::integer);

-- name: GetRetentionPreview :one
-- What the next sweep would delete from a queue.
SELECT queen.get_retention_preview_v1(p_queue => @queue::text, p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: GetRetentionSeries :one
-- What retention deleted, by rule, over time.
SELECT queen.get_retention_series_v1(
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_queue => sqlc.narg('queue')::text,
    p_group_by => sqlc.narg('group_by')::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;
