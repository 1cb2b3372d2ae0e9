package api

import "time"

// QueueLagPoint is the delivery of one queue in one bucket of time.
type QueueLagPoint struct {
	QueueName     string    `json:"queueName"`
	PopCount      int64     `json:"popCount" doc:"Messages delivered."`
	AvgLagMs      *float64  `json:"avgLagMs" nullable:"true" doc:"Average age at delivery; null when nothing was delivered."`
	MaxLagMs      *int64    `json:"maxLagMs" nullable:"true"`
	BucketMinutes int32     `json:"bucketMinutes"`
	BucketTime    time.Time `json:"bucketTime"`
}

// QueueOps is what happened on queues.
type QueueOps struct {
	TimeRange     TimeRange       `json:"timeRange"`
	BucketMinutes int32           `json:"bucketMinutes"`
	Series        []QueueOpsPoint `json:"series" doc:"Oldest first."`
	Queues        []string        `json:"queues"`
}

// QueueOpsPoint is one queue in one bucket of time.
type QueueOpsPoint struct {
	Bucket            time.Time `json:"bucket"`
	QueueName         string    `json:"queueName"`
	PushRequests      int64     `json:"pushRequests"`
	PushMessages      int64     `json:"pushMessages" doc:"Messages stored."`
	PopMessages       int64     `json:"popMessages"`
	PopEmpty          int64     `json:"popEmpty" doc:"Pops that found nothing."`
	AckRequests       int64     `json:"ackRequests"`
	AckSuccess        int64     `json:"ackSuccess" doc:"Completed, autoAck included."`
	AckFailed         int64     `json:"ackFailed" doc:"Refused, or anything but completed."`
	Transactions      int64     `json:"transactions"`
	PartitionsCreated int64     `json:"partitionsCreated"`
	PartitionsDeleted int64     `json:"partitionsDeleted"`
	PartitionCount    int64     `json:"partitionCount" doc:"As the reconciler counted them last; 0 when it had not."`
	AvgLagMs          *float64  `json:"avgLagMs" nullable:"true"`
	MaxLagMs          *int64    `json:"maxLagMs" nullable:"true"`
	PushPerSecond     float64   `json:"pushPerSecond"`
	PopPerSecond      float64   `json:"popPerSecond"`
	AckPerSecond      float64   `json:"ackPerSecond"`
	EmptyPerSecond    float64   `json:"emptyPerSecond"`
	ParkedCount       float64   `json:"parkedCount" doc:"Pops parked on the average, at all servers."`
}

// ParkedReplicas is where pops were parked.
type ParkedReplicas struct {
	TimeRange     TimeRange     `json:"timeRange"`
	BucketMinutes int32         `json:"bucketMinutes"`
	Series        []ParkedPoint `json:"series" doc:"Oldest first."`
	Replicas      []Replica     `json:"replicas"`
}

// ParkedPoint is one queue at one server in one bucket of time.
type ParkedPoint struct {
	Bucket      time.Time `json:"bucket"`
	QueueName   string    `json:"queueName"`
	Hostname    string    `json:"hostname"`
	WorkerID    int32     `json:"workerId"`
	ParkedCount float64   `json:"parkedCount"`
}

// Replica is one server.
type Replica struct {
	Hostname string `json:"hostname"`
	WorkerID int32  `json:"workerId"`
}

// Workload is what was done on queues and what is owed of them.
type Workload struct {
	TimeRange     TimeRange     `json:"timeRange"`
	BucketMinutes int32         `json:"bucketMinutes" example:"1"`
	GroupBy       string        `json:"groupBy" example:"namespace"`
	Buckets       []time.Time   `json:"buckets" doc:"Begin of each bucket in which something was counted on a queue of the tenant, oldest first."`
	Rows          []WorkloadRow `json:"rows" doc:"Most messages pushed first, then by key."`
	Tenant        WorkloadSums  `json:"tenant" doc:"All queues of the tenant, whatever was asked for."`
}

// WorkloadRow is one namespace, task or queue.
type WorkloadRow struct {
	Key       string  `json:"key" example:"orders"`
	Namespace *string `json:"namespace,omitempty" doc:"With groupBy=queue."`
	Task      *string `json:"task,omitempty" doc:"With groupBy=queue."`
	WorkloadSums
}

// WorkloadSums add up some queues.
type WorkloadSums struct {
	Queues int64          `json:"queues" example:"1"`
	Window WorkloadWindow `json:"window"`
	Series WorkloadSeries `json:"series"`
	Now    WorkloadNow    `json:"now"`
}

// WorkloadWindow is what was done in the range.
type WorkloadWindow struct {
	PushMessages      int64    `json:"pushMessages" doc:"Messages stored." example:"1200"`
	PushRequests      int64    `json:"pushRequests" example:"12"`
	PopMessages       int64    `json:"popMessages" example:"1200"`
	PopEmpty          int64    `json:"popEmpty" doc:"Pops that found nothing." example:"3"`
	AckRequests       int64    `json:"ackRequests" example:"12"`
	AckSuccess        int64    `json:"ackSuccess" doc:"Completed, autoAck included." example:"1199"`
	AckFailed         int64    `json:"ackFailed" doc:"Refused, or anything but completed." example:"1"`
	Transactions      int64    `json:"transactions" example:"0"`
	Conflated         int64    `json:"conflated" doc:"Messages passed over because a newer one of the same key stood for them." example:"0"`
	PartitionsCreated int64    `json:"partitionsCreated" example:"4"`
	PartitionsDeleted int64    `json:"partitionsDeleted" example:"0"`
	ParkedAvg         float64  `json:"parkedAvg" doc:"Pops parked on the average of the range, at all servers." example:"2.5"`
	AvgLagMs          *float64 `json:"avgLagMs" nullable:"true" doc:"Average age at delivery; null when nothing was delivered." example:"8.5"`
	MaxLagMs          *int64   `json:"maxLagMs" nullable:"true" example:"40"`
}

// WorkloadSeries has one value a bucket; null where nothing was counted.
type WorkloadSeries struct {
	Push      []*int64   `json:"push" doc:"Messages stored."`
	Pop       []*int64   `json:"pop" doc:"Messages delivered."`
	PopEmpty  []*int64   `json:"popEmpty"`
	AckFailed []*int64   `json:"ackFailed"`
	Parked    []*float64 `json:"parked" doc:"Pops parked on the average."`
	AvgLagMs  []*float64 `json:"avgLagMs"`
	MaxLagMs  []*int64   `json:"maxLagMs"`
}

// WorkloadNow is what is there now; messages, partitions and bytes as last counted.
type WorkloadNow struct {
	Pending             int64 `json:"pending" example:"10"`
	Processing          int64 `json:"processing" example:"2"`
	DeadLetter          int64 `json:"deadLetter" example:"1"`
	RetainedBytes       int64 `json:"retainedBytes" example:"240000"`
	Partitions          int64 `json:"partitions" example:"4"`
	Groups              int64 `json:"groups" doc:"Groups that read or have subscribed, counted for each queue; reading without a group is one too." example:"1"`
	QueuesWithoutGroup  int64 `json:"queuesWithoutGroup" doc:"Queues that nobody reads." example:"0"`
	PendingWithoutGroup int64 `json:"pendingWithoutGroup" doc:"Pending messages of these." example:"0"`
	QueuesTouched       int64 `json:"queuesTouched" doc:"Queues with any request in the range, empty pops included." example:"1"`
	QueuesActive        int64 `json:"queuesActive" doc:"Queues of which messages were stored or delivered in the range." example:"1"`
}

// SystemMetrics is what each server process used.
type SystemMetrics struct {
	TimeRange     TimeRange       `json:"timeRange"`
	BucketMinutes int32           `json:"bucketMinutes"`
	PointCount    int64           `json:"pointCount"`
	ReplicaCount  int64           `json:"replicaCount"`
	Replicas      []SystemReplica `json:"replicas"`
}

// SystemReplica is one server process.
type SystemReplica struct {
	Hostname   string        `json:"hostname"`
	Port       int32         `json:"port"`
	WorkerID   int32         `json:"workerId"`
	TimeSeries []SystemPoint `json:"timeSeries" doc:"Oldest first."`
}

// SystemPoint is one bucket of time of a process.
type SystemPoint struct {
	Timestamp   time.Time    `json:"timestamp"`
	SampleCount int64        `json:"sampleCount" doc:"Looks, one a second."`
	Metrics     SystemValues `json:"metrics"`
}

// SystemValues are the values of a process.
type SystemValues struct {
	CPU struct {
		User   Leaf `json:"user_us" doc:"Percent times 100."`
		System Leaf `json:"system_us" doc:"Percent times 100."`
	} `json:"cpu"`
	Memory struct {
		RSS Leaf `json:"rss_bytes"`
	} `json:"memory"`
	Database struct {
		Size   Leaf `json:"pool_size"`
		Idle   Leaf `json:"pool_idle"`
		Active Leaf `json:"pool_active"`
	} `json:"database"`
	Threadpool  *string `json:"threadpool" nullable:"true" doc:"Always null."`
	Uptime      Leaf    `json:"uptime_seconds"`
	SharedState struct {
		Enabled bool `json:"enabled" doc:"Always false."`
	} `json:"shared_state"`
}

// Leaf is a value over some looks.
type Leaf struct {
	Avg  *float64 `json:"avg" nullable:"true"`
	Min  *float64 `json:"min" nullable:"true"`
	Max  *float64 `json:"max" nullable:"true"`
	Last *float64 `json:"last" nullable:"true"`
}

// WorkerMetrics is what the servers did.
type WorkerMetrics struct {
	TimeRange     TimeRange      `json:"timeRange"`
	BucketMinutes int32          `json:"bucketMinutes"`
	PointCount    int64          `json:"pointCount"`
	TimeSeries    []WorkerPoint  `json:"timeSeries" doc:"Newest first."`
	Workers       []WorkerStatus `json:"workers" doc:"Servers that flushed in the last five minutes."`
	Queues        []DeliveredLag `json:"queues" doc:"Queues of which something was delivered."`
	Summary       WorkerSummary  `json:"summary"`
}

// WorkerPoint is all servers in one bucket of time.
type WorkerPoint struct {
	Timestamp    time.Time `json:"timestamp"`
	PushMessages int64     `json:"pushMessages"`
	PopMessages  int64     `json:"popMessages"`
	AckMessages  int64     `json:"ackMessages"`
	PushRequests int64     `json:"pushRequests"`
	PopRequests  int64     `json:"popRequests"`
	AckRequests  int64     `json:"ackRequests"`
	JobsDone     int64     `json:"jobsDone" doc:"Database calls that went well."`
	PushRate     float64   `json:"pushPerSecond"`
	PopRate      float64   `json:"popPerSecond"`
	AckRate      float64   `json:"ackPerSecond"`
	AvgLoopLag   float64   `json:"avgEventLoopLagMs" doc:"How late a timer of the process came."`
	MaxLoopLag   int64     `json:"maxEventLoopLagMs"`
	AvgFree      float64   `json:"avgFreeSlots" doc:"Free connections of a pool."`
	MinFree      int64     `json:"minFreeSlots"`
	Connections  int64     `json:"dbConnections"`
	AvgJobs      *float64  `json:"avgJobQueueSize" nullable:"true" doc:"Always null."`
	MaxJobs      *int64    `json:"maxJobQueueSize" nullable:"true" doc:"Always null."`
	Backoff      *int64    `json:"backoffSize" nullable:"true" doc:"Always null."`
	AvgLagMs     float64   `json:"avgLagMs"`
	MaxLagMs     int64     `json:"maxLagMs"`
	LagCount     int64     `json:"lagCount"`
	DBErrors     int64     `json:"dbErrors"`
	AckSuccess   int64     `json:"ackSuccess"`
	AckFailed    int64     `json:"ackFailed"`
	DLQCount     int64     `json:"dlqCount"`
}

// WorkerStatus is one server.
type WorkerStatus struct {
	Hostname    string    `json:"hostname"`
	WorkerID    int32     `json:"workerId"`
	AvgLoopLag  float64   `json:"avgEventLoopLagMs"`
	MaxLoopLag  int64     `json:"maxEventLoopLagMs"`
	FreeSlots   int64     `json:"freeSlots"`
	Connections int64     `json:"dbConnections"`
	JobQueue    *int64    `json:"jobQueueSize" nullable:"true" doc:"Always null."`
	Backoff     *int64    `json:"backoffSize" nullable:"true" doc:"Always null."`
	Messages    int64     `json:"messagesProcessed" doc:"Stored, delivered and acknowledged."`
	LastSeen    time.Time `json:"lastSeen"`
}

// DeliveredLag is the age at delivery of a queue's messages.
type DeliveredLag struct {
	QueueName string  `json:"queueName"`
	PopCount  int64   `json:"popCount"`
	AvgLagMs  float64 `json:"avgLagMs"`
	MaxLagMs  int64   `json:"maxLagMs"`
}

// WorkerSummary is the lifetime totals of all servers.
type WorkerSummary struct {
	PushMessages int64 `json:"totalPushMessages"`
	PopMessages  int64 `json:"totalPopMessages"`
	AckMessages  int64 `json:"totalAckMessages"`
	PushRequests int64 `json:"totalPushRequests"`
	PopRequests  int64 `json:"totalPopRequests"`
	AckRequests  int64 `json:"totalAckRequests"`
	DBErrors     int64 `json:"totalDbErrors"`
	AckFailed    int64 `json:"totalAckFailed"`
	DLQ          int64 `json:"totalDlq"`
	Pending      int64 `json:"pendingMessages" doc:"As the reconciler counted them last."`
}

// DeadLetterSignatures is what the dead letters of a queue have in common.
type DeadLetterSignatures struct {
	Queue       string           `json:"queue"`
	RowsNow     int64            `json:"rowsNow"`
	Sample      int64            `json:"sample" doc:"How many of the newest were looked at for signatures and avgBytes."`
	RetryCounts []RetryCount     `json:"retryCounts"`
	Groups      []GroupCount     `json:"groups"`
	Oldest      *time.Time       `json:"oldest" nullable:"true"`
	Newest      *time.Time       `json:"newest" nullable:"true"`
	AvgBytes    int64            `json:"avgBytes"`
	Signatures  []ErrorSignature `json:"signatures" doc:"The eight most frequent."`
	ByDay       []DayCount       `json:"byDay" doc:"By the day, in UTC, that they failed on."`
}

// RetryCount counts dead letters by the failed attempts before.
type RetryCount struct {
	RetryCount int32 `json:"retryCount"`
	N          int64 `json:"n"`
}

// GroupCount counts dead letters by the group that gave up.
type GroupCount struct {
	Group string `json:"group"`
	N     int64  `json:"n"`
}

// ErrorSignature is an error text without what differs.
type ErrorSignature struct {
	Text  string  `json:"text" doc:"Ids are <id>, dates <date>, numbers <n>."`
	N     int64   `json:"n"`
	Share float64 `json:"share" doc:"Of the sample."`
}

// DayCount counts dead letters by day.
type DayCount struct {
	Day string `json:"day" example:"2026-07-30"`
	N   int64  `json:"n"`
}

// PartitionLiveness is how many partitions of queues are alive.
type PartitionLiveness struct {
	CapturedAt time.Time       `json:"capturedAt"`
	Rows       []QueueLiveness `json:"rows" doc:"Most partitions first."`
}

// QueueLiveness is one queue.
type QueueLiveness struct {
	Queue      string     `json:"queue"`
	Namespace  string     `json:"namespace"`
	Task       string     `json:"task"`
	Partitions int64      `json:"partitions"`
	Live1h     int64      `json:"live1h" doc:"Written in the last hour."`
	Live24h    int64      `json:"live24h"`
	Live7d     int64      `json:"live7d"`
	Created24h int64      `json:"created24h"`
	Oldest     *time.Time `json:"oldestWriteAt" nullable:"true"`
	Newest     *time.Time `json:"newestWriteAt" nullable:"true"`
	Pending    int64      `json:"pending" doc:"As the reconciler counted them last."`
}

// PostgresStats is what PostgreSQL counts about this database.
type PostgresStats struct {
	Timestamp        time.Time         `json:"timestamp"`
	Database         map[string]any    `json:"database"`
	DatabaseCache    map[string]any    `json:"databaseCache"`
	TableCache       []map[string]any  `json:"tableCache" doc:"The 20 tables that read most."`
	IndexCache       []map[string]any  `json:"indexCache"`
	CacheSummary     map[string]any    `json:"cacheSummary"`
	DeadTuples       []map[string]any  `json:"deadTuples"`
	HotUpdates       []map[string]any  `json:"hotUpdates"`
	ActiveQueries    []map[string]any  `json:"activeQueries" doc:"Sessions by state; hidden are those of other roles that this one may not see."`
	AutovacuumStatus []map[string]any  `json:"autovacuumStatus"`
	BufferConfig     map[string]string `json:"bufferConfig"`
	BufferUsage      map[string]any    `json:"bufferUsage"`
	TableSizes       []map[string]any  `json:"tableSizes" doc:"The 20 largest tables of schema queen."`
}
