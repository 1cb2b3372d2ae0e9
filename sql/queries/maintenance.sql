-- name: SettleHeadsStep :one
-- One bounded step that writes back the heads of quiet partitions.
SELECT * FROM queen.log_settle_heads_step_v1(
    p_max_rows => @max_rows::integer,
    p_quiet_seconds => @quiet_seconds::integer);

-- name: MarkClock :one
-- Note the clock beside a transaction id.
SELECT * FROM queen.log_mark_clock_v1();

-- name: PurgeDeadLettersStep :one
-- One bounded step that removes dead letters past their queue's deadLetterRetentionSeconds.
SELECT * FROM queen.log_purge_dead_letters_step_v1(p_max_rows => @max_rows::integer);

-- name: GetMaintenance :one
-- Which maintenance switches are on.
SELECT * FROM queen.get_maintenance_v1();

-- name: SetMaintenance :one
-- Turn maintenance switches on or off; nil leaves one as it is.
SELECT * FROM queen.set_maintenance_v1(
    p_push_paused => sqlc.narg('push_paused')::boolean,
    p_pop_paused => sqlc.narg('pop_paused')::boolean);

-- name: ReplaySpool :one
-- Store a piece of a spool file, and its position, in one transaction.
SELECT * FROM queen.log_replay_spool_v1(
    p_spool_id => @spool_id::uuid,
    p_file => @file::bigint,
    p_from => @from_position::bigint,
    p_to => @to_position::bigint,
    p_queues => @queues::text[],
    p_partitions => @partitions::text[],
    p_counts => @counts::integer[],
    p_payloads => @payloads::text[],
    p_transaction_ids => (@transaction_ids::queen.opt_text[])::text[],
    p_keys => (@keys::queen.opt_text[])::text[],
    p_tenant_id => @tenant_id::uuid,
    p_sealed => @sealed::boolean[],
    p_producer_subs => (@producer_subs::queen.opt_text[])::text[]);

-- name: ForgetSpool :one
-- Drop the positions of a spool's files, but those to keep.
SELECT * FROM queen.log_forget_spool_v1(
    p_spool_id => @spool_id::uuid,
    p_keep => @keep::bigint[]);

-- name: ListEncryptedQueues :many
-- The encrypted queues of all tenants.
SELECT * FROM queen.log_encrypted_queues_v1();
