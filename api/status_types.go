package api

import "time"

// Status is what all servers did, and how things stand.
type Status struct {
	TimeRange       TimeRange         `json:"timeRange"`
	BucketMinutes   int64             `json:"bucketMinutes" example:"1"`
	PointCount      int64             `json:"pointCount" example:"60"`
	Throughput      []ThroughputPoint `json:"throughput" doc:"Newest first; times without a flush are left out."`
	Queues          []ConsumedQueue   `json:"queues" doc:"Queues that keep messages, as last counted."`
	Messages        StatusMessages    `json:"messages"`
	Leases          StatusLeases      `json:"leases"`
	DeadLetterQueue StatusLetters     `json:"deadLetterQueue"`
	Workers         []StatusWorker    `json:"workers" doc:"Servers that flushed their counters in the last two minutes."`
	Errors          StatusErrors      `json:"errors" doc:"In the range."`
	StatsAge        int64             `json:"statsAge" minimum:"-1" doc:"Seconds since the queues were counted; -1: never." example:"4"`
}

// TimeRange is a range of time.
type TimeRange struct {
	From time.Time `json:"from" example:"2026-07-30T08:12:44.011Z"`
	To   time.Time `json:"to" example:"2026-07-30T09:12:44.011Z"`
}

// ThroughputPoint is what happened in one bucket of time.
type ThroughputPoint struct {
	Timestamp          time.Time `json:"timestamp" doc:"Begin of the bucket." example:"2026-07-30T09:12:00.000Z"`
	Ingested           int64     `json:"ingested" doc:"Messages pushed." example:"1200"`
	Processed          int64     `json:"processed" doc:"Messages acknowledged." example:"1190"`
	PopMessages        int64     `json:"popMessages" doc:"Messages delivered." example:"1195"`
	IngestedPerSecond  float64   `json:"ingestedPerSecond" example:"20"`
	ProcessedPerSecond float64   `json:"processedPerSecond" example:"19.83"`
	PopPerSecond       float64   `json:"popPerSecond" example:"19.92"`
	AvgLagMs           *float64  `json:"avgLagMs" nullable:"true" doc:"Age of messages when they were delivered; null without deliveries." example:"41.2"`
	MaxLagMs           *float64  `json:"maxLagMs" nullable:"true" example:"380"`
	AvgEventLoopLagMs  float64   `json:"avgEventLoopLagMs" example:"0"`
	MaxEventLoopLagMs  float64   `json:"maxEventLoopLagMs" example:"0"`
	MinFreeSlots       float64   `json:"minFreeSlots" example:"8"`
	DBErrors           int64     `json:"dbErrors" example:"0"`
	AckFailed          int64     `json:"ackFailed" example:"0"`
	DLQCount           int64     `json:"dlqCount" example:"0"`
	QueenCPUUserPct    float64   `json:"queenCpuUserPct" example:"3.1"`
	QueenCPUSysPct     float64   `json:"queenCpuSysPct" example:"1.2"`
	QueenRSSMb         float64   `json:"queenRssMb" example:"48.2"`
	DBPoolActive       float64   `json:"dbPoolActive" example:"2"`
	DBPoolIdle         float64   `json:"dbPoolIdle" example:"6"`
	DBPoolSize         float64   `json:"dbPoolSize" example:"8"`
}

// ConsumedQueue is a queue and what was consumed of it.
type ConsumedQueue struct {
	ID            string `json:"id" format:"uuid" example:"0198c0de-0000-7000-8000-000000000001"`
	Name          string `json:"name" example:"orders"`
	Namespace     string `json:"namespace" example:"billing"`
	Task          string `json:"task" example:"invoice"`
	Partitions    int64  `json:"partitions" example:"8"`
	TotalConsumed int64  `json:"totalConsumed" doc:"Messages that all groups together have consumed." example:"25000"`
}

// StatusMessages counts messages over all queues.
type StatusMessages struct {
	Total           int64             `json:"total" doc:"Pushed since the beginning." example:"1290400"`
	Pending         int64             `json:"pending" doc:"Owed to the slowest group of each partition, those being processed included." example:"310"`
	Processing      int64             `json:"processing" doc:"Under a live lease." example:"24"`
	Completed       int64             `json:"completed" doc:"Acknowledged since the beginning." example:"1290090"`
	Failed          int64             `json:"failed" doc:"Acks that said failed since the beginning." example:"7"`
	DeadLetter      int64             `json:"deadLetter" doc:"Dead-lettered since the beginning." example:"0"`
	Requests        RequestCounts     `json:"requests" doc:"Calls since the beginning."`
	BatchEfficiency RequestEfficiency `json:"batchEfficiency" doc:"Messages a call."`
}

// RequestCounts counts calls.
type RequestCounts struct {
	Push int64 `json:"push" example:"12904"`
	Pop  int64 `json:"pop" example:"12904"`
	Ack  int64 `json:"ack" example:"12904"`
}

// RequestEfficiency is how many messages a call carries.
type RequestEfficiency struct {
	Push float64 `json:"push" example:"100"`
	Pop  float64 `json:"pop" example:"99.5"`
	Ack  float64 `json:"ack" example:"99.5"`
}

// StatusLeases counts live leases.
type StatusLeases struct {
	Active               int64 `json:"active" example:"3"`
	PartitionsWithLeases int64 `json:"partitionsWithLeases" example:"3"`
	TotalBatchSize       int64 `json:"totalBatchSize" doc:"Messages under a live lease, of each group." example:"24"`
	TotalAcked           int64 `json:"totalAcked" doc:"Always 0." example:"0"`
}

// StatusLetters sums up the dead letters.
type StatusLetters struct {
	TotalMessages      int64         `json:"totalMessages" doc:"Dead-lettered since the beginning." example:"7"`
	CurrentMessages    int64         `json:"currentMessages" doc:"Dead letters now." example:"2"`
	AffectedPartitions int64         `json:"affectedPartitions" example:"1"`
	TopErrors          []LetterError `json:"topErrors" doc:"The five commonest reasons."`
}

// LetterError is a reason and how often it was given.
type LetterError struct {
	Error string `json:"error" example:"card declined"`
	Count int64  `json:"count" example:"2"`
}

// StatusWorker is one server.
type StatusWorker struct {
	Hostname          string   `json:"hostname" example:"app-1"`
	WorkerID          int64    `json:"workerId" example:"0"`
	AvgEventLoopLagMs float64  `json:"avgEventLoopLagMs" example:"0"`
	MaxEventLoopLagMs float64  `json:"maxEventLoopLagMs" example:"0"`
	FreeSlots         float64  `json:"freeSlots" example:"8"`
	DBConnections     int64    `json:"dbConnections" example:"8"`
	JobQueueSize      *float64 `json:"jobQueueSize" nullable:"true" doc:"Always null."`
	MessagesProcessed int64    `json:"messagesProcessed" doc:"Messages pushed, delivered and acknowledged." example:"3585"`
}

// StatusErrors counts what went wrong.
type StatusErrors struct {
	DBErrors    int64 `json:"dbErrors" example:"0"`
	AckFailed   int64 `json:"ackFailed" example:"0"`
	DLQMessages int64 `json:"dlqMessages" example:"0"`
}
