-- name: PopDiscovery :many
-- Claim the next messages of all queues with the given labels for a group. MaxPartitions -1 is not given.
SELECT * FROM queen.log_pop_discovery_v1(
    p_namespace => @namespace::text,
    p_task => @task::text,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_batch => @batch::integer,
    p_max_partitions => nullif(@max_partitions::integer, -1),
    p_lease_seconds => sqlc.narg('lease_seconds')::integer,
    p_auto_ack => @auto_ack::boolean,
    p_subscription_mode => sqlc.narg('subscription_mode')::text,
    p_subscription_from => sqlc.narg('subscription_from')::text,
    p_tenant_id => @tenant_id::uuid,
    p_conflation => @conflation::boolean,
    p_waited_ms => sqlc.narg('waited_ms')::integer);

-- name: PendingDiscovery :many
-- Positions of the probed (namespace, task, group) triples that may have something to deliver.
SELECT p.item::integer AS item FROM queen.log_pending_discovery_v1(
    p_namespaces => @namespaces::text[],
    p_tasks => @tasks::text[],
    p_consumer_groups => @consumer_groups::text[],
    p_tenant_ids => @tenant_ids::uuid[]) AS p (item);

-- name: ListConsumerGroups :one
SELECT queen.list_consumer_groups_v1(p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: ListLaggingPartitions :one
SELECT queen.list_lagging_partitions_v1(
    p_min_lag_seconds => @min_lag_seconds::integer,
    p_tenant_id => @tenant_id::uuid
)::json AS result;

-- name: GetConsumerGroup :one
SELECT queen.get_consumer_group_v1(p_group => @consumer_group::text, p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: UpdateSubscription :one
SELECT queen.update_subscription_v1(
    p_group => @consumer_group::text,
    p_timestamp => @since::text,
    p_tenant_id => @tenant_id::uuid
)::json AS result;

-- name: SeekConsumerGroup :one
SELECT queen.seek_consumer_group_v1(
    p_queue => @queue::text,
    p_group => @consumer_group::text,
    p_to_end => @to_end::boolean,
    p_timestamp => sqlc.narg('since')::text,
    p_partition => sqlc.narg('partition')::text,
    p_tenant_id => @tenant_id::uuid
)::json AS result;

-- name: DeleteConsumerGroup :one
SELECT queen.delete_consumer_group_v1(
    p_group => @consumer_group::text,
    p_queue => sqlc.narg('queue')::text,
    p_delete_metadata => @delete_metadata::boolean,
    p_tenant_id => @tenant_id::uuid
)::json AS result;
