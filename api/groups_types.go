package api

import "time"

// ConsumerGroup is a group on one queue.
type ConsumerGroup struct {
	Name                  string     `json:"name" example:"billing"`
	Topics                []string   `json:"topics" doc:"The queue, as a list of one." example:"[\"orders\"]"`
	QueueName             string     `json:"queueName" example:"orders"`
	Members               int64      `json:"members" doc:"The same as partitionCursors." example:"8"`
	PartitionCursors      int64      `json:"partitionCursors" doc:"Partitions that the group has a cursor on." example:"8"`
	PartitionsWithLag     int64      `json:"partitionsWithLag" example:"2"`
	TotalLag              int64      `json:"totalLag" doc:"Messages that the group has not finished." example:"310"`
	MaxTimeLag            int64      `json:"maxTimeLag" doc:"Seconds since the oldest of them was stored." example:"12"`
	State                 string     `json:"state" enum:"Stable,Lagging,Dead" doc:"Lagging: more than 300 seconds behind. Dead: not behind, and it never finished a message."`
	Storage               string     `json:"storage" enum:"segments"`
	SubscriptionMode      *string    `json:"subscriptionMode" nullable:"true" doc:"all, new or timestamp; null for a group that never popped from the whole queue." example:"new"`
	SubscriptionTimestamp *time.Time `json:"subscriptionTimestamp" nullable:"true" example:"2026-07-30T09:12:44.011Z"`
	SubscriptionCreatedAt *time.Time `json:"subscriptionCreatedAt" nullable:"true" example:"2026-07-30T09:12:44.011Z"`
	Conflation            bool       `json:"conflation"`
}

// LaggingPartition is a partition on which a group is behind.
type LaggingPartition struct {
	ConsumerGroup      string     `json:"consumer_group" example:"billing"`
	QueueName          string     `json:"queue_name" example:"orders"`
	PartitionName      string     `json:"partition_name" example:"customer-17"`
	PartitionID        string     `json:"partition_id" format:"uuid" example:"7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11"`
	WorkerID           *string    `json:"worker_id" nullable:"true" doc:"The lease on it, live or not."`
	OffsetLag          int64      `json:"offset_lag" doc:"Messages not finished." example:"310"`
	TimeLagSeconds     int64      `json:"time_lag_seconds" example:"5400"`
	LagHours           float64    `json:"lag_hours" example:"1.5"`
	OldestUnconsumedAt *time.Time `json:"oldest_unconsumed_at" nullable:"true" example:"2026-07-30T09:12:44.011Z"`
	LastConsumedAt     *time.Time `json:"last_consumed_at" nullable:"true" doc:"Always null: it is not kept."`
}

// ConsumerGroupDetail is a group by queue.
type ConsumerGroupDetail map[string]ConsumerGroupQueue

// ConsumerGroupQueue is where a group stands on a queue.
type ConsumerGroupQueue struct {
	Conflation bool                     `json:"conflation"`
	Partitions []ConsumerGroupPartition `json:"partitions" doc:"Those that the group has a cursor on, by name."`
}

// ConsumerGroupPartition is where a group stands on a partition.
type ConsumerGroupPartition struct {
	Partition      string     `json:"partition" example:"customer-17"`
	WorkerID       *string    `json:"workerId" nullable:"true" doc:"The lease on it, live or not."`
	LastConsumedAt *time.Time `json:"lastConsumedAt" nullable:"true" doc:"Always null: it is not kept."`
	TotalConsumed  int64      `json:"totalConsumed" example:"12904"`
	OffsetLag      int64      `json:"offsetLag" doc:"Messages not finished." example:"310"`
	TimeLagSeconds int64      `json:"timeLagSeconds" example:"12"`
	LeaseActive    bool       `json:"leaseActive"`
}

// SubscriptionRequest moves a subscription.
type SubscriptionRequest struct {
	SubscriptionTimestamp string `json:"subscriptionTimestamp" doc:"A time that PostgreSQL can read; without a zone it is UTC." example:"2026-07-30T09:00:00Z"`
}

// SubscriptionResponse tells what was moved.
type SubscriptionResponse struct {
	Success       bool      `json:"success"`
	ConsumerGroup string    `json:"consumerGroup" example:"billing"`
	NewTimestamp  time.Time `json:"newTimestamp" example:"2026-07-30T09:00:00.000Z"`
	RowsUpdated   int64     `json:"rowsUpdated" doc:"Queues on which the group is registered; 0 for one that never popped." example:"3"`
}

// SeekRequest says where to.
type SeekRequest struct {
	ToEnd     *bool   `json:"toEnd,omitempty" nullable:"true" doc:"Behind the last message." example:"true"`
	Timestamp *string `json:"timestamp,omitempty" nullable:"true" doc:"Before the first messages stored at or after this time; without a zone it is UTC. Not read with toEnd." example:"2026-07-30T09:00:00Z"`
}

// SeekResponse tells what was moved on a queue.
type SeekResponse struct {
	Success           bool       `json:"success"`
	ConsumerGroup     string     `json:"consumerGroup" example:"billing"`
	QueueName         string     `json:"queueName" example:"orders"`
	SeekToEnd         bool       `json:"seekToEnd"`
	TargetTimestamp   *time.Time `json:"targetTimestamp" nullable:"true" example:"2026-07-30T09:00:00.000Z"`
	PartitionsUpdated int64      `json:"partitionsUpdated" example:"8"`
}

// SeekPartitionResponse tells what was moved on a partition.
type SeekPartitionResponse struct {
	Success         bool       `json:"success"`
	ConsumerGroup   string     `json:"consumerGroup" example:"billing"`
	QueueName       string     `json:"queueName" example:"orders"`
	PartitionName   string     `json:"partitionName" example:"customer-17"`
	SeekToEnd       bool       `json:"seekToEnd"`
	TargetTimestamp *time.Time `json:"targetTimestamp" nullable:"true" example:"2026-07-30T09:00:00.000Z"`
	Updated         bool       `json:"updated"`
}

// DeleteGroupResponse tells what was forgotten.
type DeleteGroupResponse struct {
	Success           bool    `json:"success"`
	ConsumerGroup     string  `json:"consumerGroup" example:"billing"`
	QueueName         *string `json:"queueName,omitempty" doc:"Only when one queue was named." example:"orders"`
	DeletedPartitions int64   `json:"deletedPartitions" doc:"Cursors removed." example:"8"`
	MetadataDeleted   bool    `json:"metadataDeleted" doc:"Whether the subscription was to go, too."`
}
