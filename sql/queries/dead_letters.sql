-- name: ListDeadLetters :many
-- Dead letters, newest first.
SELECT * FROM queen.list_dead_letters_v1(
    p_queue => sqlc.narg('queue')::text,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_limit => @max_rows::integer,
    p_offset => @skip::integer,
    p_tenant_id => @tenant_id::uuid);

-- name: GetDeadLetter :many
-- One dead letter; no row when there is none.
SELECT * FROM queen.get_dead_letter_v1(p_id => @id::uuid, p_tenant_id => @tenant_id::uuid);

-- name: DeleteDeadLetters :one
-- Delete at most MaxRows dead letters of a queue; call it until it answers less.
SELECT queen.delete_dead_letters_v1(
    p_queue => @queue::text,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_max_rows => @max_rows::integer,
    p_tenant_id => @tenant_id::uuid)::integer AS deleted;

-- name: ReplayDeadLetter :one
-- Move one dead letter back, or to another queue or partition.
SELECT * FROM queen.replay_dead_letter_v1(
    p_id => @id::uuid,
    p_queue => sqlc.narg('queue')::text,
    p_partition => sqlc.narg('partition')::text,
    p_tenant_id => @tenant_id::uuid,
    p_sealed_payload => sqlc.narg('sealed_payload')::text);

-- name: RedriveDeadLettersStep :many
-- One bounded step of a bulk replay, oldest failure first.
SELECT * FROM queen.redrive_dead_letters_step_v1(
    p_queue => sqlc.narg('queue')::text,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_partition => sqlc.narg('partition')::text,
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_error => sqlc.narg('error')::text,
    p_max_rows => @max_rows::integer,
    p_after_failed_at => sqlc.narg('after_failed_at')::timestamptz,
    p_after_id => sqlc.narg('after_id')::uuid,
    p_dry_run => @dry_run::boolean,
    p_tenant_id => @tenant_id::uuid);

-- name: DeleteMessage :one
-- Delete the dead letters of one message.
SELECT queen.delete_message_v1(
    p_partition_id => @partition_id::uuid,
    p_transaction_id => @transaction_id::text,
    p_tenant_id => @tenant_id::uuid)::integer AS deleted;

-- name: RetryMessage :many
-- Move the newest dead letter of one message back; no row when it has none.
SELECT * FROM queen.retry_message_v1(
    p_partition_id => @partition_id::uuid,
    p_transaction_id => @transaction_id::text,
    p_tenant_id => @tenant_id::uuid);
