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
