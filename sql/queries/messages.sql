-- name: Push :many
-- Push groups of messages; group g is Counts[g] consecutive items of (Queues[g], Partitions[g]).
SELECT * FROM queen.log_push_v1(
    p_queues => @queues::text[],
    p_partitions => @partitions::text[],
    p_counts => @counts::integer[],
    p_payloads => @payloads::text[],
    p_transaction_ids => (@transaction_ids::queen.opt_text[])::text[],
    p_keys => (@keys::queen.opt_text[])::text[],
    p_nonces => @nonces::bigint[],
    p_skip_locked => @skip_locked::boolean,
    p_tenant_id => @tenant_id::uuid,
    p_trace_ids => (@trace_ids::queen.opt_text[])::text[],
    p_producer_subs => (@producer_subs::queen.opt_text[])::text[],
    p_sealed => @sealed::boolean[]);

-- name: FindPush :many
-- The segments a push with this nonce stored, none when it never committed.
SELECT * FROM queen.log_find_push_v1(
    p_partition_id => @partition_id::uuid,
    p_nonce => @nonce::bigint,
    p_started_at => @started_at::timestamptz);

-- name: FindPushes :many
-- The segments that the groups of a doubtful push stored; a group without a row never committed.
SELECT * FROM queen.log_find_pushes_v1(
    p_queues => @queues::text[],
    p_partitions => @partitions::text[],
    p_nonces => @nonces::bigint[],
    p_within_seconds => @within_seconds::integer,
    p_tenant_id => @tenant_id::uuid);

-- name: Pop :many
-- Claim the next messages of a queue for a group. MaxPartitions -1 is not given.
SELECT * FROM queen.log_pop_v1(
    p_queue => @queue::text,
    p_partition => sqlc.narg('partition')::text,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_batch => @batch::integer,
    p_max_partitions => nullif(@max_partitions::integer, -1),
    p_lease_seconds => sqlc.narg('lease_seconds')::integer,
    p_auto_ack => @auto_ack::boolean,
    p_subscription_mode => sqlc.narg('subscription_mode')::text,
    p_subscription_from => sqlc.narg('subscription_from')::text,
    p_tenant_id => @tenant_id::uuid,
    p_conflation => @conflation::boolean,
    p_waited_ms => sqlc.narg('waited_ms')::integer,
    p_hold => @hold::boolean,
    p_apart => @apart::boolean);

-- name: PopLanes :many
-- Claim the next messages of the given partitions, if they have any, each under a lease of its own.
SELECT * FROM queen.log_pop_lanes_v1(
    p_queue => @queue::text,
    p_partition_ids => @partition_ids::uuid[],
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_batch => @batch::integer,
    p_max_partitions => @max_partitions::integer,
    p_lease_seconds => sqlc.narg('lease_seconds')::integer,
    p_tenant_id => @tenant_id::uuid);

-- name: Pending :many
-- Positions of the probed (queue, partition, group) triples that may have something to deliver.
SELECT p.item::integer AS item FROM queen.log_pending_v1(
    p_queues => @queues::text[],
    p_partitions => (@partitions::queen.opt_text[])::text[],
    p_consumer_groups => @consumer_groups::text[],
    p_tenant_ids => @tenant_ids::uuid[]) AS p (item);

-- name: PopFill :one
-- What a pop could take now, and the queue's minPopWaitTime.
SELECT * FROM queen.log_pop_fill_v1(
    p_queue => @queue::text,
    p_partition => sqlc.narg('partition')::text,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_max_partitions => @max_partitions::integer,
    p_tenant_id => @tenant_id::uuid);

-- name: Ack :many
-- Acknowledge by transaction id; group g is Counts[g] consecutive items of one partition, group and lease.
SELECT * FROM queen.log_ack_v1(
    p_partition_ids => @partition_ids::uuid[],
    p_consumer_groups => @consumer_groups::text[],
    p_lease_ids => (@lease_ids::queen.opt_text[])::text[],
    p_counts => @counts::integer[],
    p_transaction_ids => @transaction_ids::text[],
    p_statuses => @statuses::text[],
    p_errors => (@errors::queen.opt_text[])::text[],
    p_require_lease => @require_lease::boolean,
    p_tenant_id => @tenant_id::uuid,
    p_skip_locked => @skip_locked::boolean);

-- name: Transaction :many
-- Pushes and acks, all or nothing; groups as in Push and Ack. LockTimeoutMs 0 leaves the session's.
SELECT * FROM queen.log_transaction_v1(
    p_queues => @queues::text[],
    p_partitions => @partitions::text[],
    p_counts => @counts::integer[],
    p_payloads => @payloads::text[],
    p_transaction_ids => (@transaction_ids::queen.opt_text[])::text[],
    p_ack_partition_ids => @ack_partition_ids::uuid[],
    p_ack_groups => @ack_groups::text[],
    p_ack_lease_ids => @ack_lease_ids::text[],
    p_ack_counts => @ack_counts::integer[],
    p_ack_transaction_ids => @ack_transaction_ids::text[],
    p_ack_statuses => @ack_statuses::text[],
    p_ack_errors => (@ack_errors::queen.opt_text[])::text[],
    p_required_leases => @required_leases::text[],
    p_require_lease => @require_lease::boolean,
    p_keys => (@keys::queen.opt_text[])::text[],
    p_trace_ids => (@trace_ids::queen.opt_text[])::text[],
    p_nonces => @nonces::bigint[],
    p_lock_timeout_ms => nullif(@lock_timeout_ms::integer, 0),
    p_tenant_id => @tenant_id::uuid,
    p_sealed => @sealed::boolean[],
    p_producer_sub => sqlc.narg('producer_sub')::text);

-- name: AckUpto :many
-- Complete every leased message up to the given offsets.
SELECT * FROM queen.log_ack_upto_v1(
    p_partition_ids => @partition_ids::uuid[],
    p_consumer_groups => @consumer_groups::text[],
    p_lease_ids => @lease_ids::text[],
    p_offsets => @offsets::bigint[],
    p_ok => @ok::boolean);

-- name: ExtendLease :one
-- Extend every live lease under a lease id.
SELECT * FROM queen.log_extend_lease_v1(
    p_lease_id => @lease_id::text,
    p_seconds => @seconds::integer,
    p_tenant_id => @tenant_id::uuid);

-- name: Fetch :many
-- Messages from absolute offsets; the first row of each entry has its bounds.
SELECT * FROM queen.log_fetch_v1(
    p_queues => @queues::text[],
    p_partitions => @partitions::text[],
    p_offsets => @offsets::bigint[],
    p_max_bytes => @max_bytes::integer[],
    p_tenant_id => @tenant_id::uuid);

-- name: PartitionsChanged :many
-- Partitions written since a time, or all; the first row has the safe time.
SELECT * FROM queen.log_partitions_changed_v1(
    p_queues => @queues::text[],
    p_sinces => (@sinces::queen.opt_text[])::timestamptz[],
    p_afters => (@afters::queen.opt_text[])::text[],
    p_limits => @limits::integer[],
    p_tenant_id => @tenant_id::uuid);
