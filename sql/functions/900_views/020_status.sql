/*
 * Purpose:     what operators look at in psql, one view a question. They read through functions with the rights of the
 *              owner, so that queen_reader needs no right on a table, and show the session's own tenant.
 * Locks:       none.  Isolation: any; read one view in one statement.
 * Bounds:      as the function behind each.
 * Source:      design 2 (900_views), S-11 to S-18, S-23.
 */
CREATE OR REPLACE VIEW queen.queue_status AS
SELECT s.* FROM queen.list_queue_status_v1() s;
COMMENT ON VIEW queen.queue_status IS 'Queues with their numbers as they are now; only the rates and retained_bytes are those that were counted last.';
COMMENT ON COLUMN queen.queue_status.queue IS 'Name of the queue.';
COMMENT ON COLUMN queen.queue_status.namespace IS 'Namespace for discovery; empty for none.';
COMMENT ON COLUMN queen.queue_status.task IS 'Task for discovery; empty for none.';
COMMENT ON COLUMN queen.queue_status.partitions IS 'How many partitions there are.';
COMMENT ON COLUMN queen.queue_status.messages IS 'Messages kept: head - log start + 1 less what compaction removed.';
COMMENT ON COLUMN queen.queue_status.pending IS 'Messages that the slowest named group still owes, those being processed included; the queue-mode cursor counts only where no named group has one.';
COMMENT ON COLUMN queen.queue_status.processing IS 'How many of pending are under a live lease.';
COMMENT ON COLUMN queen.queue_status.ready IS 'pending less processing.';
COMMENT ON COLUMN queen.queue_status.completed IS 'messages less pending and dead letters, never below zero: a residual, no tally of acks.';
COMMENT ON COLUMN queen.queue_status.dead_letters IS 'Dead letters of the partitions that exist.';
COMMENT ON COLUMN queen.queue_status.oldest_pending_at IS 'Stamp of the oldest segment that holds something pending; null when nothing is.';
COMMENT ON COLUMN queen.queue_status.lag_seconds IS 'Whole seconds since oldest_pending_at, 0 for none.';
COMMENT ON COLUMN queen.queue_status.newest_message_at IS 'Stamp of the newest message that is kept; null when the queue is empty.';
COMMENT ON COLUMN queen.queue_status.size_bytes IS 'Bytes of the messages as they were sent, uncompressed: payload, transactionId and key.';
COMMENT ON COLUMN queen.queue_status.retained_bytes IS 'Bytes of the payloads as stored, compressed, as the retained-bytes lane counted them last; 0 before its first pass.';
COMMENT ON COLUMN queen.queue_status.ingested_per_second IS 'How fast messages grew between the last two counts of the reconciler.';
COMMENT ON COLUMN queen.queue_status.processed_per_second IS 'How fast completed grew between the last two counts of the reconciler.';
COMMENT ON COLUMN queen.queue_status.rates_at IS 'When the reconciler counted last; null before its first count.';
COMMENT ON COLUMN queen.queue_status.created_at IS 'When the queue was created.';
COMMENT ON COLUMN queen.queue_status.queue_id IS 'Identity of the queue.';

CREATE OR REPLACE VIEW queen.group_status AS
SELECT s.* FROM queen.list_group_status_v1() s;
COMMENT ON VIEW queen.group_status IS 'Consumer groups, once for each queue, as they stand now.';
COMMENT ON COLUMN queen.group_status.queue IS 'Name of the queue.';
COMMENT ON COLUMN queen.group_status.consumer_group IS 'Name of the group; __QUEUE_MODE__ stands for consumers that name none.';
COMMENT ON COLUMN queen.group_status.partitions IS 'On how many partitions the group has a cursor.';
COMMENT ON COLUMN queen.group_status.partitions_behind IS 'On how many partitions it owes something.';
COMMENT ON COLUMN queen.group_status.behind IS 'How many messages it owes, on partitions that it has not touched yet too.';
COMMENT ON COLUMN queen.group_status.oldest_pending_at IS 'Stamp of the oldest segment that holds something it owes; null when it owes nothing.';
COMMENT ON COLUMN queen.group_status.lag_seconds IS 'Whole seconds since oldest_pending_at, 0 for none.';
COMMENT ON COLUMN queen.group_status.leases IS 'How many live leases it holds, one a partition.';
COMMENT ON COLUMN queen.group_status.consumed IS 'How many messages it was done with, over its lifetime.';
COMMENT ON COLUMN queen.group_status.last_active_at IS 'When it last did anything on the queue; null means that this was not noted yet.';
COMMENT ON COLUMN queen.group_status.subscription_mode IS 'How it subscribed, all or new; null for a group that is not registered.';
COMMENT ON COLUMN queen.group_status.queue_id IS 'Identity of the queue.';

CREATE OR REPLACE VIEW queen.partition_status AS
SELECT s.* FROM queen.list_partition_status_v1() s;
COMMENT ON VIEW queen.partition_status IS 'Partitions as they stand now. Name a queue with queen.list_partition_status_v1(queue) where there are many.';
COMMENT ON COLUMN queen.partition_status.queue IS 'Name of the queue.';
COMMENT ON COLUMN queen.partition_status.partition IS 'Name of the partition.';
COMMENT ON COLUMN queen.partition_status.log_start IS 'First offset that is kept.';
COMMENT ON COLUMN queen.partition_status.head_offset IS 'Last offset given; -1 before the first.';
COMMENT ON COLUMN queen.partition_status.messages IS 'Messages kept: head - log start + 1 less what compaction removed.';
COMMENT ON COLUMN queen.partition_status.pending IS 'Messages that the slowest named group still owes, those being processed included.';
COMMENT ON COLUMN queen.partition_status.processing IS 'How many of pending are under a live lease.';
COMMENT ON COLUMN queen.partition_status.ready IS 'pending less processing.';
COMMENT ON COLUMN queen.partition_status.completed IS 'messages less pending and dead letters, never below zero.';
COMMENT ON COLUMN queen.partition_status.dead_letters IS 'Dead letters of this partition.';
COMMENT ON COLUMN queen.partition_status.oldest_pending_at IS 'Stamp of the oldest segment that holds something pending; null when nothing is.';
COMMENT ON COLUMN queen.partition_status.lag_seconds IS 'Whole seconds since oldest_pending_at, 0 for none.';
COMMENT ON COLUMN queen.partition_status.newest_message_at IS 'Stamp of the newest message that is kept; null when the partition is empty.';
COMMENT ON COLUMN queen.partition_status.size_bytes IS 'Bytes of the messages as they were sent, uncompressed.';
COMMENT ON COLUMN queen.partition_status.last_write_at IS 'Second of a recent push: at most one second behind the newest one.';
COMMENT ON COLUMN queen.partition_status.settled IS 'Whether the head stands in the row of the partition; else it is read from the last segment.';
COMMENT ON COLUMN queen.partition_status.created_at IS 'When the partition was created.';
COMMENT ON COLUMN queen.partition_status.queue_id IS 'Identity of the queue.';
COMMENT ON COLUMN queen.partition_status.partition_id IS 'Identity of the partition.';

CREATE OR REPLACE VIEW queen.retention_status AS
SELECT s.* FROM queen.list_retention_status_v1() s;
COMMENT ON VIEW queen.retention_status IS 'What deletes messages from each queue, and what it did.';
COMMENT ON COLUMN queen.retention_status.queue IS 'Name of the queue.';
COMMENT ON COLUMN queen.retention_status.active IS 'Whether any rule deletes messages from this queue.';
COMMENT ON COLUMN queen.retention_status.inactive_because IS 'Why none does; null when one does.';
COMMENT ON COLUMN queen.retention_status.cleanup_policy IS 'delete, compact, or compact,delete.';
COMMENT ON COLUMN queen.retention_status.retention_enabled IS 'The switch of the age rules and of the size limits.';
COMMENT ON COLUMN queen.retention_status.retention_seconds IS 'Age at which a message goes; 0 is off.';
COMMENT ON COLUMN queen.retention_status.completed_retention_seconds IS 'Age at which a message goes that every group has consumed; 0 is off.';
COMMENT ON COLUMN queen.retention_status.max_wait_time_seconds IS 'Age at which an unconsumed message goes, whatever retention_enabled says; 0 is off.';
COMMENT ON COLUMN queen.retention_status.retention_bytes IS 'Size limit of a partition in uncompressed bytes; 0 is off.';
COMMENT ON COLUMN queen.retention_status.retention_messages IS 'Limit of the messages in a partition; 0 is off.';
COMMENT ON COLUMN queen.retention_status.dead_letter_retention_seconds IS 'Age at which a dead letter goes; 0 keeps them.';
COMMENT ON COLUMN queen.retention_status.messages IS 'Messages kept.';
COMMENT ON COLUMN queen.retention_status.size_bytes IS 'Their bytes as they were sent, uncompressed.';
COMMENT ON COLUMN queen.retention_status.oldest_message_at IS 'Stamp of the oldest segment that is kept; null when the queue is empty.';
COMMENT ON COLUMN queen.retention_status.oldest_age_seconds IS 'Whole seconds since oldest_message_at, 0 for none.';
COMMENT ON COLUMN queen.retention_status.overdue_seconds IS 'How far the oldest segment is past retention_seconds; 0 when it is not, or when that rule is off.';
COMMENT ON COLUMN queen.retention_status.unreclaimed_partitions IS 'Partitions with rows that are deleted but not yet removed from disk.';
COMMENT ON COLUMN queen.retention_status.deleted_last_day IS 'Messages deleted in the last 24 hours.';
COMMENT ON COLUMN queen.retention_status.deleted_bytes_last_day IS 'Their bytes, uncompressed.';
COMMENT ON COLUMN queen.retention_status.last_deleted_at IS 'When something was deleted last in these 24 hours; null when nothing was.';
COMMENT ON COLUMN queen.retention_status.queue_id IS 'Identity of the queue.';

CREATE OR REPLACE VIEW queen.maintenance_status AS
SELECT s.* FROM queen.list_maintenance_status_v1() s;
COMMENT ON VIEW queen.maintenance_status IS 'Maintenance tasks of which one instance runs for all, and the settler, which runs everywhere.';
COMMENT ON COLUMN queen.maintenance_status.task IS 'Name of the task.';
COMMENT ON COLUMN queen.maintenance_status.enabled IS 'False pauses the task everywhere: UPDATE queen.maintenance_leases SET enabled = true WHERE task = ... resumes it.';
COMMENT ON COLUMN queen.maintenance_status.period_seconds IS 'How often it runs.';
COMMENT ON COLUMN queen.maintenance_status.next_due_at IS 'When it is due next.';
COMMENT ON COLUMN queen.maintenance_status.overdue_seconds IS 'Whole seconds since it was due, 0 while it is not, is running or is paused.';
COMMENT ON COLUMN queen.maintenance_status.running IS 'Whether an instance holds it now.';
COMMENT ON COLUMN queen.maintenance_status.holder IS 'Which one, or which one held it until it died.';
COMMENT ON COLUMN queen.maintenance_status.last_start_at IS 'When its last run began.';
COMMENT ON COLUMN queen.maintenance_status.last_end_at IS 'When its last run ended well; for the settler: when it last noted the clock.';
COMMENT ON COLUMN queen.maintenance_status.last_duration_ms IS 'Milliseconds that this run took.';
COMMENT ON COLUMN queen.maintenance_status.runs IS 'How many runs ended well.';
