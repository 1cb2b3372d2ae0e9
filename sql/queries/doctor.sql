-- name: Doctor :many
SELECT * FROM queen.doctor_v1(p_size_bytes => @size_bytes::bigint);

-- name: DatabaseClock :one
SELECT clock_timestamp()::timestamptz AS clock;

-- name: ListVerifyRanges :many
SELECT * FROM queen.list_verify_ranges_v1(p_after => sqlc.narg('after')::uuid, p_max_rows => @max_rows::integer);

-- name: VerifyPartitions :many
SELECT * FROM queen.verify_partitions_v1(
    p_partition_ids => @partition_ids::uuid[],
    p_from_offset => @from_offset::bigint,
    p_to_offset => @to_offset::bigint
);

-- name: VerifyOrphans :many
SELECT * FROM queen.verify_orphans_v1();

-- name: ListQueueStatus :many
SELECT * FROM queen.list_queue_status_v1();

-- name: ListMaintenanceStatus :many
SELECT * FROM queen.list_maintenance_status_v1();
