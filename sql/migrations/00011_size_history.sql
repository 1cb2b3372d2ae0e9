-- +goose Up

-- Sizes by the hour go when they are as old as other numbers that are purged.
CREATE INDEX queue_size_history_hour_at_idx ON queen.queue_size_history (hour_at);
