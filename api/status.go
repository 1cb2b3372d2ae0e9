package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

type queueStatusInput struct {
	Queue     string `query:"queue" doc:"Only this queue." example:"orders"`
	Namespace string `query:"namespace" doc:"Only queues with this label."`
	Task      string `query:"task" doc:"Only queues with this label."`
	From      string `query:"from" doc:"Without effect: the numbers are those of the last count."`
	To        string `query:"to" doc:"Without effect."`
	Limit     int32  `query:"limit" default:"100" minimum:"0" maximum:"2147483647" doc:"Length of the page, at most 1000."`
	Offset    int32  `query:"offset" default:"0" minimum:"0" maximum:"2147483647" doc:"How many to pass over."`
}

type seriesInput struct {
	From      string `query:"from" doc:"Begin of the range; 24 hours ago by default." example:"2026-07-30T09:00:00Z"`
	To        string `query:"to" doc:"End of the range; now by default."`
	Interval  string `query:"interval" doc:"minute, hour or day; anything else is hour. At most 100000 points." example:"hour"`
	Queue     string `query:"queue" doc:"Only of this queue." example:"orders"`
	Namespace string `query:"namespace" doc:"Only of queues with this label."`
	Task      string `query:"task" doc:"Only of queues with this label."`
}

type statusInput struct {
	From      string `query:"from" doc:"Begin of the range; an hour ago by default." example:"2026-07-30T09:00:00Z"`
	To        string `query:"to" doc:"End of the range; now by default."`
	Queue     string `query:"queue" doc:"Only this queue, in throughput and queues." example:"orders"`
	Namespace string `query:"namespace" doc:"Only queues with this label, in throughput and queues."`
	Task      string `query:"task" doc:"Only queues with this label, in throughput and queues."`
}

type serverStatusReply struct{ Body ServerStatus }
type buffersReply struct{ Body Buffers }

// registerStatus adds the status routes.
func (s *Server) registerStatus(api huma.API) {
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-server-status", Path: "/status", Summary: "Is the server up", Description: "Never touches the database.",
	}), s.getServerStatus)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-status", Path: "/api/v1/status", Summary: "What all servers did, and how queues, leases and dead letters stand",
		Description: "Over all tenants. A point a minute up to an hour, then 5 (6 hours), 15 (a day), 60 (a week) and 360 minutes. What servers did is known up to their last flush (METRICS_FLUSH_MS); with a filter, throughput is that of the queues that match.",
		Responses:   map[string]*huma.Response{"200": jsonReply[Status](api, "The status.", nil)},
	}, http.StatusBadRequest), s.getStatus)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "list-queue-status", Path: "/api/v1/status/queues", Summary: "Queues with their stored counts, newest first",
		Description: "All numbers as last counted (STATS_INTERVAL_MS).",
		Responses:   map[string]*huma.Response{"200": jsonReply[QueueStatusList](api, "A page of queues.", nil)},
	}, http.StatusBadRequest), s.listQueueStatus)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-queue-status", Path: "/api/v1/status/queues/{queue}", Summary: "One queue and how far it was consumed", Description: "Counted now.",
		Responses: map[string]*huma.Response{"200": jsonReply[QueueStatus](api, "The queue.", nil)},
	}, http.StatusBadRequest, http.StatusNotFound), s.getQueueStatus)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-message-series", Path: "/api/v1/status/analytics", Summary: "How many of the messages kept were stored when",
		Description: "Counts what is still there: retention and compaction lower it.",
		Responses:   map[string]*huma.Response{"200": jsonReply[MessageSeries](api, "A point each interval, in UTC, zeros included.", nil)},
	}, http.StatusBadRequest), s.getMessageSeries)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-buffers", Path: "/api/v1/status/buffers", Summary: "This server's spool",
		Description: "What pushes wait in the files of this server for the database, and what could not be stored. All zero without a spool (FILE_BUFFER_DIR).",
	}), s.getBuffers)
}

func (s *Server) getServerStatus(context.Context, *struct{}) (*serverStatusReply, error) {
	return &serverStatusReply{Body: ServerStatus{Status: "ok", Engine: engineName}}, nil
}

func (s *Server) getStatus(ctx context.Context, in *statusInput) (*documentReply, error) {
	refusal := checkNames(named{"queue", in.Queue}, named{"namespace", in.Namespace}, named{"task", in.Task})
	if refusal != nil {
		return nil, refusal
	}
	args := db.GetStatusParams{Queue: given(in.Queue), Namespace: given(in.Namespace), Task: given(in.Task)}
	if args.Since, args.Until, refusal = readRange(in.From, in.To); refusal != nil {
		return nil, refusal
	}
	return s.shown(ctx, "status", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetStatus(ctx, args)
	})
}

func (s *Server) listQueueStatus(ctx context.Context, in *queueStatusInput) (*documentReply, error) {
	if refusal := checkNames(named{"queue", in.Queue}, named{"namespace", in.Namespace}, named{"task", in.Task}); refusal != nil {
		return nil, refusal
	}
	args := db.ListStoredQueuesParams{Queue: given(in.Queue), Namespace: given(in.Namespace), Task: given(in.Task),
		MaxRows: min(in.Limit, maxListed), Skip: in.Offset, TenantID: s.tenant(ctx)}
	return s.shown(ctx, "status", func(ctx context.Context, q querier) ([]byte, error) {
		return q.ListStoredQueues(ctx, args)
	})
}

func (s *Server) getQueueStatus(ctx context.Context, in *queueInput) (*documentReply, error) {
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	return s.shown(ctx, "status", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetQueueStatus(ctx, in.Queue, s.tenant(ctx))
	})
}

func (s *Server) getMessageSeries(ctx context.Context, in *seriesInput) (*documentReply, error) {
	step := clip(in.Interval, 16)
	refusal := checkNames(named{"interval", step}, named{"queue", in.Queue}, named{"namespace", in.Namespace}, named{"task", in.Task})
	if refusal != nil {
		return nil, refusal
	}
	args := db.GetMessageSeriesParams{Step: step, Queue: given(in.Queue), Namespace: given(in.Namespace), Task: given(in.Task), TenantID: s.tenant(ctx)}
	if args.Since, args.Until, refusal = readRange(in.From, in.To); refusal != nil {
		return nil, refusal
	}
	return s.shown(ctx, "status", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetMessageSeries(ctx, args)
	})
}

func (s *Server) getBuffers(context.Context, *struct{}) (*buffersReply, error) {
	stats, _ := s.spool.stats()
	return &buffersReply{Body: Buffers{Pending: stats.PendingCount, Failed: stats.FailedCount, DBHealthy: !s.away.Load()}}, nil
}

// readRange reads the two ends of a range of time; absent ones are nil.
func readRange(from, to string) (since, until *time.Time, refusal *Error) {
	if since, refusal = readTime("from", from); refusal == nil {
		until, refusal = readTime("to", to)
	}
	return since, until, refusal
}
