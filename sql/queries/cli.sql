-- name: PushMessage :one
SELECT * FROM queen.push_v1(p_queue => @queue::text, p_payload => @payload::json, p_partition => @partition::text);

-- name: PushMany :many
SELECT * FROM queen.push_many_v1(
    p_queue => @queue::text,
    p_payloads => @payloads::json[],
    p_partitions => @partitions::text[],
    p_transaction_ids => @transaction_ids::text[],
    p_keys => (@keys::queen.opt_text[])::text[]
);

-- name: CountPushed :one
-- For a caller that keeps no ids: how many of the messages were stored.
SELECT count(*) FROM queen.push_many_v1(
    p_queue => @queue::text,
    p_payloads => @payloads::json[],
    p_partitions => @partitions::text[],
    p_transaction_ids => @transaction_ids::text[]
) m WHERE m.status = 'queued';

-- name: PopMessages :many
SELECT * FROM queen.pop_v1(
    p_queue => @queue::text,
    p_batch => @batch::integer,
    p_group => sqlc.narg('consumer_group')::text,
    p_partition => sqlc.narg('partition')::text,
    p_lease_seconds => sqlc.narg('lease_seconds')::integer,
    p_auto_ack => @auto_ack::boolean,
    p_max_partitions => @max_partitions::integer,
    p_subscription_mode => @subscription_mode::text,
    p_subscription_from => sqlc.narg('subscription_from')::text,
    p_waited_ms => sqlc.narg('waited_ms')::integer
);

-- name: ReadPartition :many
SELECT * FROM queen.read_v1(
    p_queue => @queue::text,
    p_partition => @partition::text,
    p_from_offset => sqlc.narg('from_offset')::bigint,
    p_max_rows => @max_rows::integer,
    p_since => sqlc.narg('since')::timestamptz
);

-- name: AckMessages :many
SELECT * FROM queen.ack_v1(
    p_partition_id => @partition_id::uuid,
    p_transaction_ids => @transaction_ids::text[],
    p_lease_id => sqlc.narg('lease_id')::text,
    p_group => sqlc.narg('consumer_group')::text,
    p_status => @status::text,
    p_error => sqlc.narg('error')::text
);
