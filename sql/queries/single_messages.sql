-- name: ListMessages :many
-- Browse messages, newest first.
SELECT * FROM queen.list_messages_v1(
    p_queue => sqlc.narg('queue')::text,
    p_partition => sqlc.narg('partition')::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text,
    p_status => sqlc.narg('status')::text,
    p_from => sqlc.narg('since')::timestamptz,
    p_to => sqlc.narg('until')::timestamptz,
    p_limit => @max_rows::integer,
    p_offset => @skip::integer,
    p_tenant_id => @tenant_id::uuid);

-- name: MessageMode :one
-- How what a browse looks at is consumed.
SELECT * FROM queen.message_mode_v1(
    p_queue => sqlc.narg('queue')::text,
    p_partition => sqlc.narg('partition')::text,
    p_namespace => sqlc.narg('namespace')::text,
    p_task => sqlc.narg('task')::text,
    p_tenant_id => @tenant_id::uuid);

-- name: GetMessage :many
-- One message in detail; no row when there is none.
SELECT * FROM queen.get_message_v1(
    p_partition_id => @partition_id::uuid,
    p_transaction_id => @transaction_id::text,
    p_tenant_id => @tenant_id::uuid);

-- name: RecordTrace :one
-- Note something about a message.
SELECT queen.record_trace_v1(
    p_partition_id => @partition_id::uuid,
    p_transaction_id => @transaction_id::text,
    p_data => (@data::text)::json,
    p_consumer_group => sqlc.narg('consumer_group')::text,
    p_event_type => sqlc.narg('event_type')::text,
    p_trace_names => @trace_names::text[],
    p_tenant_id => @tenant_id::uuid)::uuid AS id;

-- name: ListTraces :one
SELECT queen.list_traces_v1(
    p_partition_id => @partition_id::uuid,
    p_transaction_id => @transaction_id::text,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: ListTracesByName :one
SELECT queen.list_traces_by_name_v1(
    p_trace_name => @trace_name::text,
    p_limit => @max_rows::integer,
    p_offset => @skip::integer,
    p_tenant_id => @tenant_id::uuid)::json AS result;

-- name: ListTraceNames :one
SELECT queen.list_trace_names_v1(
    p_limit => @max_rows::integer,
    p_offset => @skip::integer,
    p_tenant_id => @tenant_id::uuid)::json AS result;
