-- +goose Up

-- So that a replay carries what the message carried. Null in rows from before, which did not keep it.
ALTER TABLE queen.log_dlq ADD COLUMN trace_id uuid, ADD COLUMN producer_sub text COLLATE "C";
