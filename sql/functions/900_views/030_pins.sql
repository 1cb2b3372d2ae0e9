/*
 * Purpose:     who pins this: for an operator who asks why completedRetentionSeconds deletes nothing.
 * Locks:       none.  Isolation: any.
 * Bounds:      as list_partition_pins_v1.
 * Source:      design 2 (900_views), design 5 item 2, R-3.
 */
CREATE OR REPLACE VIEW queen.partition_pins AS
SELECT s.* FROM queen.list_partition_pins_v1() s;
COMMENT ON VIEW queen.partition_pins IS 'Which consumer group pins which partition: the slowest one, that completedRetentionSeconds waits for. Name a queue with queen.list_partition_pins_v1(queue) where there are many.';
COMMENT ON COLUMN queen.partition_pins.queue IS 'Name of the queue.';
COMMENT ON COLUMN queen.partition_pins.partition IS 'Name of the partition.';
COMMENT ON COLUMN queen.partition_pins.consumer_group IS 'Name of the group; __QUEUE_MODE__ stands for consumers that name none.';
COMMENT ON COLUMN queen.partition_pins.pinned_offset IS 'First offset that the group has not consumed: from here on nothing goes as consumed.';
COMMENT ON COLUMN queen.partition_pins.behind IS 'How many messages the group still owes here.';
COMMENT ON COLUMN queen.partition_pins.pinned_since IS 'Stamp of the first message that it has not consumed: since then at the latest it stands there.';
COMMENT ON COLUMN queen.partition_pins.last_active_at IS 'When the group last did anything on any partition of the queue; null means that this was not noted yet.';
COMMENT ON COLUMN queen.partition_pins.leased_until IS 'When its live lease on the partition ends; null without one.';
COMMENT ON COLUMN queen.partition_pins.holds_back IS 'Whether completedRetentionSeconds is in force on the queue, so that this group holds it back now.';
COMMENT ON COLUMN queen.partition_pins.partition_id IS 'Identity of the partition.';
COMMENT ON COLUMN queen.partition_pins.queue_id IS 'Identity of the queue.';
