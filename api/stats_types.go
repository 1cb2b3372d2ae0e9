package api

import "time"

// Overview is everything at a glance.
type Overview struct {
	Queues     int64              `json:"queues" example:"12"`
	Partitions int64              `json:"partitions" example:"480"`
	Namespaces int64              `json:"namespaces" example:"3"`
	Tasks      int64              `json:"tasks" example:"4"`
	Messages   OverviewMessages   `json:"messages"`
	Lag        OverviewLag        `json:"lag"`
	Throughput OverviewThroughput `json:"throughput"`
	Timestamp  time.Time          `json:"timestamp" example:"2026-07-30T09:12:44.011Z"`
	StatsAge   int64              `json:"statsAge" minimum:"-1" doc:"Seconds since the numbers were counted; -1: never." example:"4"`
}

// OverviewMessages counts messages over queues.
type OverviewMessages struct {
	Total      int64 `json:"total" doc:"Pushed since the beginning; for another tenant than the default one, kept." example:"1290400"`
	Pending    int64 `json:"pending" doc:"Owed to the slowest group of each partition, those being processed included." example:"310"`
	Processing int64 `json:"processing" doc:"Under a live lease." example:"24"`
	Completed  int64 `json:"completed" doc:"Acknowledged since the beginning; for another tenant, total without pending and dead letters." example:"1290090"`
	Failed     int64 `json:"failed" doc:"Acks that said failed since the beginning; for another tenant 0." example:"7"`
	DeadLetter int64 `json:"deadLetter" doc:"Dead-lettered since the beginning; for another tenant, dead letters now." example:"0"`
}

// OverviewLag tells how far consumers are behind.
type OverviewLag struct {
	Time   LagNumbers `json:"time" doc:"Seconds."`
	Offset LagNumbers `json:"offset" doc:"Messages a queue."`
}

// LagNumbers sum up a lag.
type LagNumbers struct {
	Avg    float64 `json:"avg" example:"0.31"`
	Median float64 `json:"median" example:"0.25"`
	Min    float64 `json:"min" doc:"Always 0." example:"0"`
	Max    float64 `json:"max" example:"0.8"`
}

// OverviewThroughput is what happened a second over the last five minutes.
type OverviewThroughput struct {
	IngestedPerSecond  float64 `json:"ingestedPerSecond" doc:"Messages pushed a second." example:"41.5"`
	ProcessedPerSecond float64 `json:"processedPerSecond" doc:"Messages acknowledged a second." example:"41.5"`
}

// NamespaceList is every namespace.
type NamespaceList struct {
	Namespaces []NamespaceNumbers `json:"namespaces"`
}

// NamespaceNumbers is one namespace.
type NamespaceNumbers struct {
	Namespace  string        `json:"namespace" example:"billing"`
	Queues     int64         `json:"queues" example:"2"`
	Partitions int64         `json:"partitions" example:"16"`
	Messages   LabelMessages `json:"messages"`
}

// TaskList is every task.
type TaskList struct {
	Tasks []TaskNumbers `json:"tasks"`
}

// TaskNumbers is one task.
type TaskNumbers struct {
	Task       string        `json:"task" example:"invoice"`
	Queues     int64         `json:"queues" example:"2"`
	Partitions int64         `json:"partitions" example:"16"`
	Messages   LabelMessages `json:"messages"`
}

// LabelMessages counts the messages under a label.
type LabelMessages struct {
	Total   int64 `json:"total" doc:"Messages kept, consumed or not." example:"12904"`
	Pending int64 `json:"pending" doc:"Messages owed to the slowest group, those being processed included." example:"310"`
}

// StatsSummary is what a count of all queues did.
type StatsSummary struct {
	Engine        string `json:"engine" enum:"segments" example:"segments"`
	QueuesUpdated int64  `json:"queuesUpdated" example:"12"`
	QueuesChanged int64  `json:"queuesChanged" doc:"Queues of which a number is another than at the last count." example:"3"`
	SegPartitions int64  `json:"segPartitions" doc:"Partitions of all queues." example:"480"`
	Namespaces    struct {
		NamespacesUpdated int64 `json:"namespacesUpdated" example:"3"`
	} `json:"namespaces"`
	Tasks struct {
		TasksUpdated int64 `json:"tasksUpdated" example:"4"`
	} `json:"tasks"`
	System struct {
		SystemUpdated int64 `json:"systemUpdated" example:"1"`
	} `json:"system"`
	RefreshedAt time.Time `json:"refreshedAt" example:"2026-07-30T09:12:44.011Z"`
}

// ServerStatus is the answer of /status.
type ServerStatus struct {
	Status string `json:"status" enum:"ok" example:"ok"`
	Engine string `json:"engine" example:"segments-rust"`
}

// Buffers tells of this server's spool.
type Buffers struct {
	Pending   int64 `json:"pending" doc:"Messages that wait in the spool."`
	Failed    int64 `json:"failed" doc:"Messages that the database refused for good."`
	DBHealthy bool  `json:"dbHealthy" doc:"Whether the last call of the database went through."`
	Worker    int64 `json:"worker" doc:"Always 0."`
}

// QueueStatusList is a page of queues.
type QueueStatusList struct {
	Queues     []QueueStatusItem `json:"queues"`
	Pagination Pagination        `json:"pagination"`
}

// QueueStatusItem is one queue of a page.
type QueueStatusItem struct {
	ID         string       `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	Name       string       `json:"name" example:"orders"`
	Namespace  string       `json:"namespace" example:"billing"`
	Task       string       `json:"task" example:"invoice"`
	CreatedAt  time.Time    `json:"createdAt" example:"2026-07-30T09:12:44.011Z"`
	Partitions int64        `json:"partitions" example:"8"`
	Messages   StoredCounts `json:"messages"`
}

// StoredCounts are the counts of a queue as last stored.
type StoredCounts struct {
	Total      int64 `json:"total" doc:"Messages kept, consumed or not." example:"12904"`
	Pending    int64 `json:"pending" doc:"Messages owed to the slowest group, those being processed included." example:"310"`
	Processing int64 `json:"processing" doc:"Messages under a live lease." example:"24"`
	Completed  int64 `json:"completed" doc:"Total without pending and dead letters." example:"12594"`
	DeadLetter int64 `json:"deadLetter" example:"0"`
}

// QueueStatus is one queue with how far it was consumed.
type QueueStatus struct {
	Queue      QueueIdentity        `json:"queue"`
	Partitions []PartitionStatus    `json:"partitions" doc:"By name."`
	Totals     QueueStatusTotalsDoc `json:"totals"`
}

// QueueStatusTotalsDoc holds the totals of a queue.
type QueueStatusTotalsDoc struct {
	Messages QueueCounts `json:"messages"`
}

// QueueIdentity is a queue and six of its options.
type QueueIdentity struct {
	ID        string            `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	Name      string            `json:"name" example:"orders"`
	Namespace string            `json:"namespace" example:"billing"`
	Task      string            `json:"task" example:"invoice"`
	Priority  int64             `json:"priority" example:"0"`
	CreatedAt time.Time         `json:"createdAt" example:"2026-07-30T09:12:44.011Z"`
	Config    QueueStatusConfig `json:"config"`
}

// QueueStatusConfig is six options of a queue.
type QueueStatusConfig struct {
	LeaseTime       int64 `json:"leaseTime" doc:"Seconds." example:"300"`
	RetryLimit      int64 `json:"retryLimit" example:"3"`
	RetryDelay      int64 `json:"retryDelay" doc:"Milliseconds." example:"1000"`
	TTL             int64 `json:"ttl" doc:"Seconds." example:"3600"`
	MaxQueueSize    int64 `json:"maxQueueSize" example:"0"`
	DeadLetterQueue bool  `json:"deadLetterQueue" example:"true"`
}

// PartitionStatus is one partition and how far it was consumed.
type PartitionStatus struct {
	ID            string         `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000002"`
	Name          string         `json:"name" example:"Default"`
	CreatedAt     time.Time      `json:"createdAt" example:"2026-07-30T09:12:44.031Z"`
	Messages      QueueCounts    `json:"messages"`
	Stats         QueueCounts    `json:"stats" doc:"The same as messages."`
	Cursor        ConsumedCursor `json:"cursor"`
	LastActivity  *time.Time     `json:"lastActivity" nullable:"true" doc:"When anything of it was last leased." example:"2026-07-30T10:44:02.9Z"`
	OldestMessage *time.Time     `json:"oldestMessage" nullable:"true" doc:"Oldest message that is pending." example:"2026-07-30T09:12:45.1Z"`
	NewestMessage *time.Time     `json:"newestMessage" nullable:"true" doc:"Newest message kept." example:"2026-07-30T10:44:02.9Z"`
}

// ConsumedCursor tells how much was consumed.
type ConsumedCursor struct {
	TotalConsumed   int64 `json:"totalConsumed" doc:"Messages that all groups together have consumed." example:"25000"`
	BatchesConsumed int64 `json:"batchesConsumed" doc:"Always 0: batches are not counted." example:"0"`
}

// MessageSeries is how many messages were stored when.
type MessageSeries struct {
	DataPoints []MessagePoint `json:"dataPoints"`
	Interval   string         `json:"interval" enum:"minute,hour,day" example:"hour"`
	From       time.Time      `json:"from" example:"2026-07-29T09:12:44.011Z"`
	To         time.Time      `json:"to" example:"2026-07-30T09:12:44.011Z"`
}

// MessagePoint is one point of a series.
type MessagePoint struct {
	Timestamp time.Time `json:"timestamp" doc:"Begin of the interval." example:"2026-07-30T09:00:00.000Z"`
	Messages  int64     `json:"messages" example:"120"`
}
