-- name: Doctor :many
SELECT * FROM queen.doctor_v1(p_size_bytes => @size_bytes::bigint);

-- name: DatabaseClock :one
SELECT clock_timestamp()::timestamptz AS clock;
