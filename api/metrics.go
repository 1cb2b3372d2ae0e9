package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// ProcessMetrics tells what this process did since it started.
type ProcessMetrics struct {
	Uptime   float64         `json:"uptime" doc:"Seconds since the process started."`
	Requests Throughput      `json:"requests" doc:"Pushes, pops and ack calls."`
	Messages Throughput      `json:"messages" doc:"Messages stored and messages delivered."`
	Database PoolMetrics     `json:"database"`
	Memory   MemoryMetrics   `json:"memory"`
	CPU      ProcessorShares `json:"cpu"`
}

// Throughput is a total since the start.
type Throughput struct {
	Total int64   `json:"total"`
	Rate  float64 `json:"rate" doc:"Always 0: take the difference of two totals."`
}

// PoolMetrics tells about the connections to the database.
type PoolMetrics struct {
	PoolSize        int32 `json:"poolSize"`
	IdleConnections int32 `json:"idleConnections"`
	WaitingRequests int32 `json:"waitingRequests" doc:"Always 0."`
}

// MemoryMetrics is what the process holds, in bytes.
type MemoryMetrics struct {
	RSS          int64 `json:"rss" doc:"Resident memory."`
	HeapTotal    int64 `json:"heapTotal" doc:"Always 0."`
	HeapUsed     int64 `json:"heapUsed" doc:"Always 0."`
	External     int64 `json:"external" doc:"Always 0."`
	ArrayBuffers int64 `json:"arrayBuffers" doc:"Always 0."`
}

// ProcessorShares is kept for clients that ask; queen.system_metrics has the numbers.
type ProcessorShares struct {
	User   float64 `json:"user" doc:"Always 0."`
	System float64 `json:"system" doc:"Always 0."`
}

type metricsReply struct{ Body ProcessMetrics }

func (s *Server) registerMetrics(api huma.API) {
	s.dbBlock.fresh, s.standing.fresh = blockFresh, standingFresh
	s.standing.behind, s.minutes.behind = s.loops.Go, s.loops.Go
	huma.Register(api, probeOp(huma.Operation{
		OperationID: "get-metrics", Path: "/metrics", Summary: "What this process did since it started",
		Description: "Counters of this process alone, without a look at the database; get-worker-metrics shows all servers.",
	}), s.getMetrics)
	huma.Register(api, probeOp(huma.Operation{
		OperationID: "get-prometheus-metrics", Path: "/metrics/prometheus", Summary: "All series for Prometheus",
		Description: "queen_process_ series are of this process, queen_cluster_ series lifetime totals of all servers, which every server shows alike; the rest are gauges. " +
			"While the database is away its part is missing and the answer is still 200.",
		Responses: map[string]*huma.Response{"200": {Description: "The text format 0.0.4.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}}},
	}), s.getPrometheus)
}

func (s *Server) getMetrics(context.Context, *struct{}) (*metricsReply, error) {
	stat := s.pool.Stat()
	return &metricsReply{Body: ProcessMetrics{
		Uptime:   time.Since(s.collect.began).Seconds(),
		Requests: Throughput{Total: s.count.get(pushRequests) + s.count.get(popRequests) + s.count.get(ackRequests)},
		Messages: Throughput{Total: s.count.get(pushMessages) + s.count.get(popMessages)},
		Database: PoolMetrics{PoolSize: stat.TotalConns(), IdleConnections: stat.IdleConns()},
		Memory:   MemoryMetrics{RSS: processUsage().rss},
	}}, nil
}

func (s *Server) getPrometheus(ctx context.Context, _ *struct{}) (*rawReply, error) {
	return &rawReply{ContentType: "text/plain; version=0.0.4; charset=utf-8", Body: s.scrape(ctx)}, nil
}
