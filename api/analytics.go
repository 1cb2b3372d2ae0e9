package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

type queueRangeInput struct {
	From  string `query:"from" doc:"Begin of the range; an hour ago by default." example:"2026-07-30T09:00:00Z"`
	To    string `query:"to" doc:"End of the range; now by default."`
	Queue string `query:"queue" doc:"Only this queue." example:"orders"`
}

type systemMetricsInput struct {
	From     string `query:"from" doc:"Begin of the range; an hour ago by default." example:"2026-07-30T09:00:00Z"`
	To       string `query:"to" doc:"End of the range; now by default."`
	Hostname string `query:"hostname" doc:"Only servers on this host."`
	WorkerID string `query:"workerId" doc:"Only this worker; a server is worker 0 of its host."`
}

type workerMetricsInput struct {
	From     string `query:"from" doc:"Begin of the range; an hour ago by default." example:"2026-07-30T09:00:00Z"`
	To       string `query:"to" doc:"End of the range; now by default."`
	Queue    string `query:"queue" doc:"Only this queue, in queues." example:"orders"`
	Hostname string `query:"hostname" doc:"Only servers on this host."`
	WorkerID string `query:"workerId" doc:"Only this worker; a server is worker 0 of its host."`
}

type workloadInput struct {
	From      string `query:"from" doc:"Begin of the range; an hour ago by default." example:"2026-07-30T09:00:00Z"`
	To        string `query:"to" doc:"End of the range; now by default."`
	GroupBy   string `query:"groupBy" default:"namespace" doc:"namespace, task or queue. Anything else is refused." example:"queue"`
	Namespace string `query:"namespace" doc:"Only queues with this label, in rows."`
	Task      string `query:"task" doc:"Only queues with this label, in rows."`
	Queue     string `query:"queue" doc:"Only this queue, in rows." example:"orders"`
}

type signaturesInput struct {
	Queue string `query:"queue" doc:"The queue; required." example:"orders"`
	Limit int32  `query:"limit" default:"200" minimum:"1" maximum:"2147483647" doc:"How many of the newest dead letters to look at, at most 1000."`
}

type livenessInput struct {
	Queue     string `query:"queue" doc:"Only this queue." example:"orders"`
	Task      string `query:"task" doc:"Only queues with this label."`
	Limit     int32  `query:"limit" default:"20" minimum:"1" maximum:"2147483647" doc:"How many queues, at most 200."`
	Namespace string `query:"namespace" doc:"Only queues with this label; given and empty: queues without one."`

	labelled bool // the parameter was there
}

// Resolve is called by the framework with the request.
func (in *livenessInput) Resolve(ctx huma.Context) []error {
	at := ctx.URL()
	in.labelled = at.Query().Has("namespace")
	return nil
}

// bucketWords tell of the widths of buckets.
const bucketWords = "A bucket is a minute wide up to an hour, then 5 minutes (6 hours), 15 (a day), 60 (a week) and 360. What servers did is known up to their last flush (METRICS_FLUSH_MS)."

// registerAnalytics adds the routes over what servers counted.
func (s *Server) registerAnalytics(api huma.API) {
	op := func(id, path, summary, description string, answer *huma.Response, errors ...int) huma.Operation {
		return s.statsOp(huma.Operation{OperationID: id, Path: "/api/v1/analytics/" + path, Summary: summary, Description: description,
			Responses: map[string]*huma.Response{"200": answer}}, append(errors, http.StatusBadRequest)...)
	}
	huma.Register(api, op("get-queue-lag", "queue-lag", "How old messages were when they were delivered", bucketWords,
		jsonReply[[]QueueLagPoint](api, "Newest first, then by name.", nil)), s.getQueueLag)
	huma.Register(api, op("get-queue-ops", "queue-ops", "What happened on queues", bucketWords,
		jsonReply[QueueOps](api, "By bucket and queue.", nil)), s.getQueueOps)
	huma.Register(api, op("get-queue-parked-replicas", "queue-parked-replicas", "Where pops were parked", bucketWords,
		jsonReply[ParkedReplicas](api, "By bucket, queue and server.", nil)), s.getParkedReplicas)
	huma.Register(api, op("get-workload", "workload", "What was done and what is owed, by namespace, task or queue", bucketWords+" At most the 1,000 rows with the most messages pushed are shown; tenant covers all queues.",
		jsonReply[Workload](api, "Most messages pushed first, and all queues of the tenant together.", nil)), s.getWorkload)
	huma.Register(api, op("get-system-metrics", "system-metrics", "What each server process used", "Over all tenants. "+bucketWords,
		jsonReply[SystemMetrics](api, "By server and bucket.", nil)), s.getSystemMetrics)
	huma.Register(api, op("get-worker-metrics", "worker-metrics", "What the servers did", "Over all tenants. "+bucketWords,
		jsonReply[WorkerMetrics](api, "By bucket, with the servers that are there and lifetime totals.", nil)), s.getWorkerMetrics)
	huma.Register(api, op("get-dead-letter-signatures", "dlq-signatures", "What the dead letters of a queue have in common", "Looks at the newest dead letters and gathers those whose errors differ only in ids and numbers.",
		jsonReply[DeadLetterSignatures](api, "The most frequent errors first.", nil), http.StatusNotFound), s.getSignatures)
	huma.Register(api, op("get-partition-liveness", "partition-liveness", "How many partitions are alive", "Partitions of each queue by how long ago the last message was stored in them.",
		jsonReply[PartitionLiveness](api, "Queues with most partitions first.", nil)), s.getLiveness)
	huma.Register(api, op("get-postgres-stats", "postgres-stats", "What PostgreSQL counts about this database", "Over all tenants. Since the statistics of the database were reset.",
		jsonReply[PostgresStats](api, "Cache, dead rows, vacuum, sessions and sizes.", nil)), s.getPostgresStats)
}

func (s *Server) getQueueLag(ctx context.Context, in *queueRangeInput) (*documentReply, error) {
	args, refusal := in.args()
	if refusal != nil {
		return nil, refusal
	}
	args.TenantID = s.tenant(ctx)
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetQueueLag(ctx, args) })
}

func (s *Server) getQueueOps(ctx context.Context, in *queueRangeInput) (*documentReply, error) {
	args, refusal := in.args()
	if refusal != nil {
		return nil, refusal
	}
	args.TenantID = s.tenant(ctx)
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetQueueOps(ctx, db.GetQueueOpsParams(args))
	})
}

func (s *Server) getParkedReplicas(ctx context.Context, in *queueRangeInput) (*documentReply, error) {
	args, refusal := in.args()
	if refusal != nil {
		return nil, refusal
	}
	args.TenantID = s.tenant(ctx)
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetQueueParkedReplicas(ctx, db.GetQueueParkedReplicasParams(args))
	})
}

func (s *Server) getWorkload(ctx context.Context, in *workloadInput) (*documentReply, error) {
	refusal := checkNames(named{"groupBy", in.GroupBy}, named{"namespace", in.Namespace}, named{"task", in.Task}, named{"queue", in.Queue})
	if refusal != nil {
		return nil, refusal
	}
	args := db.GetWorkloadParams{GroupBy: in.GroupBy, Namespace: given(in.Namespace), Task: given(in.Task), Queue: given(in.Queue), TenantID: s.tenant(ctx)}
	if args.Since, args.Until, refusal = readRange(in.From, in.To); refusal != nil {
		return nil, refusal
	}
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetWorkload(ctx, args) })
}

func (s *Server) getSystemMetrics(ctx context.Context, in *systemMetricsInput) (*documentReply, error) {
	since, until, refusal := readRange(in.From, in.To)
	if refusal != nil {
		return nil, refusal
	}
	args := db.GetSystemMetricsParams{Since: since, Until: until, Hostname: given(in.Hostname)}
	if args.WorkerID, refusal = readWorker(in.Hostname, in.WorkerID); refusal != nil {
		return nil, refusal
	}
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetSystemMetrics(ctx, args) })
}

func (s *Server) getWorkerMetrics(ctx context.Context, in *workerMetricsInput) (*documentReply, error) {
	asked, refusal := (&queueRangeInput{From: in.From, To: in.To, Queue: in.Queue}).args()
	if refusal != nil {
		return nil, refusal
	}
	args := db.GetWorkerMetricsParams{Since: asked.Since, Until: asked.Until, Queue: asked.Queue, Hostname: given(in.Hostname)}
	if args.WorkerID, refusal = readWorker(in.Hostname, in.WorkerID); refusal != nil {
		return nil, refusal
	}
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetWorkerMetrics(ctx, args) })
}

func (s *Server) getSignatures(ctx context.Context, in *signaturesInput) (*documentReply, error) {
	if in.Queue == "" {
		return nil, badField("queue", "required")
	}
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	args := db.GetDeadLetterSignaturesParams{Queue: in.Queue, MaxRows: in.Limit, TenantID: s.tenant(ctx)}
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetDeadLetterSignatures(ctx, args) })
}

func (s *Server) getLiveness(ctx context.Context, in *livenessInput) (*documentReply, error) {
	if refusal := checkNames(named{"queue", in.Queue}, named{"namespace", in.Namespace}, named{"task", in.Task}); refusal != nil {
		return nil, refusal
	}
	args := db.GetPartitionLivenessParams{Queue: given(in.Queue), Task: given(in.Task), MaxRows: in.Limit, TenantID: s.tenant(ctx)}
	if in.labelled {
		args.Namespace = &in.Namespace
	}
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetPartitionLiveness(ctx, args) })
}

func (s *Server) getPostgresStats(ctx context.Context, _ *struct{}) (*documentReply, error) {
	return s.analytics(ctx, func(ctx context.Context, q querier) ([]byte, error) { return q.GetPostgresStats(ctx) })
}

func (s *Server) analytics(ctx context.Context, read func(context.Context, querier) ([]byte, error)) (*documentReply, error) {
	return s.shown(ctx, "analytics", read)
}

// args judges the range and the name.
func (in *queueRangeInput) args() (args db.GetQueueLagParams, refusal *Error) {
	if refusal = checkName("queue", in.Queue); refusal != nil {
		return args, refusal
	}
	args.Queue = given(in.Queue)
	args.Since, args.Until, refusal = readRange(in.From, in.To)
	return args, refusal
}

// readWorker judges the names of a server; the number is nil when none is given.
func readWorker(hostname, number string) (*int32, *Error) {
	if refusal := checkName("hostname", hostname); refusal != nil || number == "" {
		return nil, refusal
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil {
		return nil, badField("workerId", "must be an integer")
	}
	worker := int32(n)
	return &worker, nil
}
