package api

import "time"

// QueueSettings are the options of a queue but for its labels. Bounds hold for
// what is sent; a stored value may be outside of them.
type QueueSettings struct {
	Priority                    int32  `json:"priority" doc:"Stored and shown; nothing reads it." example:"0"`
	LeaseTime                   int32  `json:"leaseTime" doc:"Seconds a consumer has for a batch before it is delivered again. 300 unless set; 60 when a push or pop made the queue." example:"120"`
	RetryLimit                  int32  `json:"retryLimit" doc:"Failed deliveries of a batch before its poison message is set aside." example:"3"`
	RetryDelay                  int32  `json:"retryDelay" doc:"Milliseconds. Stored and shown; nothing reads it." example:"1000"`
	MaxSize                     int32  `json:"maxSize" doc:"Stored and shown; nothing reads it." example:"0"`
	TTL                         int32  `json:"ttl" doc:"Seconds. Stored and shown; nothing reads it." example:"3600"`
	DeadLetterQueue             bool   `json:"deadLetterQueue" doc:"Keep poison messages as dead letters. Off only when dlqAfterMaxRetries is off too." example:"true"`
	DLQAfterMaxRetries          bool   `json:"dlqAfterMaxRetries" doc:"As deadLetterQueue; either one switches dead letters on." example:"true"`
	DelayedProcessing           int32  `json:"delayedProcessing" doc:"Seconds a message must age before it is delivered." example:"0"`
	WindowBuffer                int32  `json:"windowBuffer" doc:"Seconds a partition must be quiet before it is delivered." example:"0"`
	RetentionSeconds            int32  `json:"retentionSeconds" doc:"Age in seconds at which messages are deleted, consumed or not. Needs retentionEnabled." example:"0"`
	CompletedRetentionSeconds   int32  `json:"completedRetentionSeconds" doc:"Age in seconds at which messages that every group has consumed are deleted. Needs retentionEnabled." example:"0"`
	RetentionEnabled            bool   `json:"retentionEnabled" doc:"Switch of the two retention rules." example:"false"`
	EncryptionEnabled           bool   `json:"encryptionEnabled" doc:"Payloads are stored encrypted from now on." example:"false"`
	MaxWaitTimeSeconds          int32  `json:"maxWaitTimeSeconds" doc:"Age in seconds at which messages are deleted whatever else is set. This loses data by design." example:"0"`
	MinPopWaitTime              int32  `json:"minPopWaitTime" doc:"Milliseconds a pop waits for a fuller batch; kept within 0 and 60000." example:"0"`
	DedupWindowSeconds          int32  `json:"dedupWindowSeconds" doc:"Seconds in which a repeated transactionId is a duplicate. 0: no check." example:"3600"`
	RetentionSinkHold           string `json:"retentionSinkHold" doc:"Name of a sink that must have copied a message before retention deletes it: at most 64 letters, digits, dots, underscores or hyphens." example:""`
	RetentionSinkHoldMaxSeconds int32  `json:"retentionSinkHoldMaxSeconds" doc:"Longest time the sink may hold retention up, 60 to 31536000 seconds." example:"604800"`
	DeadLetterRetentionSeconds  int32  `json:"deadLetterRetentionSeconds,omitempty" doc:"Seconds after which a dead letter is deleted. Absent: never." example:"604800"`
	RetentionBytes              int64  `json:"retentionBytes,omitempty" doc:"Bytes a partition may keep, as sent, before its oldest segments are deleted, consumed or not; the newest segment stays. Needs retentionEnabled. Absent: no limit." example:"1073741824"`
	RetentionMessages           int64  `json:"retentionMessages,omitempty" doc:"Messages a partition may keep before its oldest segments are deleted, consumed or not; the newest segment stays. Needs retentionEnabled. Absent: no limit." example:"1000000"`
	CleanupPolicy               string `json:"cleanupPolicy,omitempty" pattern:"^(delete|compact|compact,delete)$" doc:"compact: the newest message of each key is kept, and age and size delete nothing. compact,delete: both. Absent: delete." example:"compact"`
	DeleteRetentionSeconds      *int32 `json:"deleteRetentionSeconds,omitempty" doc:"Seconds for which compaction keeps the message that deletes a key. Absent: 86400." example:"3600"`
	MinCompactionLagSeconds     int32  `json:"minCompactionLagSeconds,omitempty" doc:"Age in seconds below which compaction leaves a message alone. Absent: 0." example:"60"`
	GroupIdleSeconds            int32  `json:"groupIdleSeconds,omitempty" doc:"Seconds without a pop, ack, lease extension or seek anywhere on the queue after which a group no longer holds back completedRetentionSeconds. Absent: never." example:"604800"`
}

// QueueOptions are all options of a queue, in the words that configure takes.
type QueueOptions struct {
	Namespace string `json:"namespace" doc:"Label to find queues by." example:"billing"`
	Task      string `json:"task" doc:"Second label to find queues by." example:"invoice"`
	QueueSettings
}

// ConfigureOptions are the options to set: what is absent stays (or, with mode
// replace, falls back), what is null gets its default.
type ConfigureOptions struct {
	Namespace                   *string `json:"namespace,omitempty" nullable:"true" maxLength:"255" doc:"Label to find queues by." example:"billing"`
	Task                        *string `json:"task,omitempty" nullable:"true" maxLength:"255" doc:"Second label to find queues by." example:"invoice"`
	Priority                    *int32  `json:"priority,omitempty" nullable:"true"`
	LeaseTime                   *int32  `json:"leaseTime,omitempty" nullable:"true" doc:"Seconds; default 300." example:"120"`
	RetryLimit                  *int32  `json:"retryLimit,omitempty" nullable:"true" doc:"Default 3." example:"5"`
	RetryDelay                  *int32  `json:"retryDelay,omitempty" nullable:"true" doc:"Milliseconds; default 1000."`
	MaxSize                     *int32  `json:"maxSize,omitempty" nullable:"true"`
	TTL                         *int32  `json:"ttl,omitempty" nullable:"true" doc:"Seconds; default 3600."`
	DeadLetterQueue             *bool   `json:"deadLetterQueue,omitempty" nullable:"true" doc:"Default true."`
	DLQAfterMaxRetries          *bool   `json:"dlqAfterMaxRetries,omitempty" nullable:"true" doc:"Default true."`
	DelayedProcessing           *int32  `json:"delayedProcessing,omitempty" nullable:"true" doc:"Seconds; default 0."`
	WindowBuffer                *int32  `json:"windowBuffer,omitempty" nullable:"true" doc:"Seconds; default 0."`
	RetentionSeconds            *int32  `json:"retentionSeconds,omitempty" nullable:"true" doc:"Seconds; default 0."`
	CompletedRetentionSeconds   *int32  `json:"completedRetentionSeconds,omitempty" nullable:"true" doc:"Seconds; default 0."`
	RetentionEnabled            *bool   `json:"retentionEnabled,omitempty" nullable:"true" doc:"Default false."`
	EncryptionEnabled           *bool   `json:"encryptionEnabled,omitempty" nullable:"true" doc:"Default false."`
	MaxWaitTimeSeconds          *int32  `json:"maxWaitTimeSeconds,omitempty" nullable:"true" doc:"Seconds; default 0."`
	MinPopWaitTime              *int32  `json:"minPopWaitTime,omitempty" nullable:"true" doc:"Milliseconds; default 0; brought within 0 and 60000."`
	DedupWindowSeconds          *int32  `json:"dedupWindowSeconds,omitempty" nullable:"true" doc:"Seconds; default 3600; below 0 is 0." example:"600"`
	RetentionSinkHold           *string `json:"retentionSinkHold,omitempty" nullable:"true" pattern:"^[A-Za-z0-9._-]{0,64}$" doc:"Default empty. Anything else than the pattern is refused."`
	RetentionSinkHoldMaxSeconds *int32  `json:"retentionSinkHoldMaxSeconds,omitempty" nullable:"true" minimum:"60" maximum:"31536000" doc:"Seconds; default 604800. Refused out of range."`
	DeadLetterRetentionSeconds  *int32  `json:"deadLetterRetentionSeconds,omitempty" nullable:"true" minimum:"0" doc:"Seconds; default 0: dead letters are kept."`
	RetentionBytes              *int64  `json:"retentionBytes,omitempty" nullable:"true" minimum:"0" doc:"Bytes a partition may keep; default 0: no limit." example:"1073741824"`
	RetentionMessages           *int64  `json:"retentionMessages,omitempty" nullable:"true" minimum:"0" doc:"Messages a partition may keep; default 0: no limit."`
	CleanupPolicy               *string `json:"cleanupPolicy,omitempty" nullable:"true" pattern:"^(delete|compact|compact,delete)$" doc:"delete (the default), compact, or compact,delete." example:"delete"`
	DeleteRetentionSeconds      *int32  `json:"deleteRetentionSeconds,omitempty" nullable:"true" minimum:"0" doc:"Seconds; default 86400; 0: no grace."`
	MinCompactionLagSeconds     *int32  `json:"minCompactionLagSeconds,omitempty" nullable:"true" minimum:"0" doc:"Seconds; default 0."`
	GroupIdleSeconds            *int32  `json:"groupIdleSeconds,omitempty" nullable:"true" minimum:"0" doc:"Seconds; default 0: a group never counts as idle. 1 to 299 are refused."`
}

// ConfigureRequest is the body of configure.
type ConfigureRequest struct {
	Queue     string            `json:"queue" maxLength:"255" doc:"Name of the queue. The empty name is legal." example:"orders"`
	Namespace *string           `json:"namespace,omitempty" nullable:"true" maxLength:"255" doc:"As options.namespace, which wins; empty or null is as absent beside an options object." example:"billing"`
	Task      *string           `json:"task,omitempty" nullable:"true" maxLength:"255" doc:"As options.task, which wins; empty or null is as absent beside an options object." example:"invoice"`
	Mode      *string           `json:"mode,omitempty" nullable:"true" enum:"merge,replace" doc:"merge (the default) keeps what is not mentioned, replace sets it back to its default."`
	Options   *ConfigureOptions `json:"options,omitempty" doc:"The options to set."`
	DryRun    *bool             `json:"dryRun,omitempty" nullable:"true" doc:"Change nothing: answer the configuration as it would stand, and in retention what the next sweep would then delete."`
}

// ConfigureResponse is the whole configuration as it now stands.
type ConfigureResponse struct {
	Configured  bool          `json:"configured" example:"true"`
	QueueID     string        `json:"queueId" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	PartitionID *string       `json:"partitionId" nullable:"true" format:"uuid" doc:"Always null: partitions are made by the first push that names them."`
	Queue       string        `json:"queue" example:"orders"`
	Namespace   string        `json:"namespace" example:"billing"`
	Task        string        `json:"task" example:"invoice"`
	Storage     string        `json:"storage" enum:"segments" example:"segments"`
	Options     QueueSettings `json:"options"`

	DryRun    bool              `json:"dryRun,omitempty" doc:"Nothing was changed; configured is false then, and queueId all zero for a queue that does not exist."`
	Retention *RetentionPreview `json:"retention,omitempty" doc:"With dryRun: what the next sweep would delete under these options."`
}

// QueueList is every queue, newest first.
type QueueList struct {
	Queues []QueueSummary `json:"queues"`
}

// QueueSummary is one queue of a list.
type QueueSummary struct {
	ID            string          `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	Name          string          `json:"name" example:"orders"`
	Namespace     string          `json:"namespace" example:"billing"`
	Task          string          `json:"task" example:"invoice"`
	CreatedAt     time.Time       `json:"createdAt" example:"2026-07-30T09:12:44.011Z"`
	Partitions    int64           `json:"partitions" example:"8"`
	RetainedBytes int64           `json:"retainedBytes" doc:"Compressed bytes of the payloads kept, as last measured." example:"194883"`
	Segments      QueueSegments   `json:"segments"`
	Messages      QueueTotalsList `json:"messages"`
}

// QueueSegments counts what is stored.
type QueueSegments struct {
	Segments int64 `json:"segments" doc:"Rows that hold the messages." example:"41"`
	Messages int64 `json:"messages" doc:"Messages kept, consumed or not." example:"12904"`
}

// QueueTotalsList counts messages in a list.
type QueueTotalsList struct {
	Total      int64 `json:"total" doc:"Messages kept, consumed or not." example:"12904"`
	Pending    int64 `json:"pending" doc:"Messages owed to the slowest group, those being processed included." example:"310"`
	Processing int64 `json:"processing" doc:"Messages under a live lease." example:"24"`
}

// QueueDetail is one queue with its partitions.
type QueueDetail struct {
	ID            string           `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	Name          string           `json:"name" example:"orders"`
	Namespace     string           `json:"namespace" example:"billing"`
	Task          string           `json:"task" example:"invoice"`
	CreatedAt     time.Time        `json:"createdAt" example:"2026-07-30T09:12:44.011Z"`
	Options       QueueOptions     `json:"options"`
	Partitions    []QueuePartition `json:"partitions" doc:"By name."`
	Totals        QueueCounts      `json:"totals"`
	RetainedBytes int64            `json:"retainedBytes" doc:"Compressed bytes of the payloads kept." example:"194883"`
	Segments      QueueSegments    `json:"segments"`
}

// QueuePartition is one partition of a queue.
type QueuePartition struct {
	ID            string      `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000002"`
	Name          string      `json:"name" example:"Default"`
	CreatedAt     time.Time   `json:"createdAt" example:"2026-07-30T09:12:44.031Z"`
	Stats         QueueCounts `json:"stats"`
	OldestMessage *time.Time  `json:"oldestMessage" nullable:"true" doc:"Oldest message that is pending." example:"2026-07-30T09:12:45.1Z"`
	NewestMessage *time.Time  `json:"newestMessage" nullable:"true" doc:"Newest message kept." example:"2026-07-30T10:44:02.9Z"`
}

// QueueCounts counts messages of a queue or partition.
type QueueCounts struct {
	Total      int64  `json:"total" doc:"Messages kept, consumed or not." example:"12904"`
	Pending    int64  `json:"pending" doc:"Messages owed to the slowest group, those being processed included." example:"310"`
	Processing int64  `json:"processing" doc:"Messages under a live lease." example:"24"`
	Completed  int64  `json:"completed" doc:"Total without pending and dead letters." example:"12594"`
	Failed     *int64 `json:"failed" nullable:"true" doc:"Always null: there is no such state."`
	DeadLetter int64  `json:"deadLetter" example:"0"`
}

// QueueDepth is the backlog of a queue.
type QueueDepth struct {
	Queue             string           `json:"queue" example:"orders"`
	Group             *string          `json:"group" nullable:"true" doc:"The group asked for, null for the slowest one."`
	Pending           int64            `json:"pending" doc:"Messages owed, those being processed included." example:"310"`
	Processing        int64            `json:"processing" doc:"Messages under a live lease." example:"24"`
	Ready             int64            `json:"ready" doc:"pending without processing." example:"286"`
	PartitionsPending int64            `json:"partitionsPending" doc:"Partitions with something pending." example:"4"`
	PartitionsReady   int64            `json:"partitionsReady" doc:"Partitions with something ready." example:"3"`
	Conflation        bool             `json:"conflation" doc:"Whether the group takes only the last value of a partition." example:"false"`
	EffectivePending  int64            `json:"effectivePending" doc:"Deliveries that remain: partitionsPending for a conflating group, else pending." example:"310"`
	EffectiveReady    int64            `json:"effectiveReady" doc:"As effectivePending, of what is ready." example:"286"`
	Partitions        []PartitionDepth `json:"partitions" doc:"By name."`
}

// PartitionDepth is the backlog of one partition.
type PartitionDepth struct {
	Partition  string `json:"partition" example:"Default"`
	Pending    int64  `json:"pending" example:"310"`
	Processing int64  `json:"processing" example:"24"`
	Ready      int64  `json:"ready" example:"286"`
}

// DeleteQueueResponse tells whether something was deleted.
type DeleteQueueResponse struct {
	Deleted bool   `json:"deleted" example:"true"`
	Queue   string `json:"queue" example:"orders"`
	Existed bool   `json:"existed" example:"true"`
	Message string `json:"message,omitempty" doc:"Only when nothing was deleted." example:"Queue not found, nothing was deleted"`
}
