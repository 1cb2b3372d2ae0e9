-- name: RegisterTask :exec
-- Make a task known to all instances, with its period.
SELECT queen.log_register_task_v1(p_task => @task::text, p_period_ms => @period_ms::bigint);

-- name: ClaimTask :many
-- Try to become the one that runs a task now; no row is somebody else's.
SELECT * FROM queen.log_claim_task_v1(p_task => @task::text, p_holder => @holder::text);

-- name: RenewTask :one
-- Hold a claim longer; false when it is lost.
SELECT queen.log_renew_task_v1(p_task => @task::text, p_fence => @fence::bigint)::boolean AS held;

-- name: ReleaseTask :one
-- End a claim; false when it was lost before.
SELECT queen.log_release_task_v1(
    p_task => @task::text,
    p_fence => @fence::bigint,
    p_succeeded => @succeeded::boolean)::boolean AS released;

-- name: ReclaimStep :one
-- One bounded step that removes the rows of deleted queues.
SELECT * FROM queen.log_reclaim_step_v1(p_max_rows => @max_rows::integer);
