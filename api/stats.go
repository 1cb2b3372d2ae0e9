package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// registerStats adds the routes that sum over queues, and the one that counts
// them anew.
func (s *Server) registerStats(api huma.API) {
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "get-overview", Path: "/api/v1/resources/overview", Summary: "Queues, messages, lag and throughput in one document",
		Description: "Counted every STATS_INTERVAL_MS; statsAge tells how old the numbers are. The default tenant sees all tenants, and for total, completed, failed and deadLetter what the servers counted since the beginning; another tenant sees what it keeps. " +
			"lag.time is the age of messages when they were delivered in the last five minutes, or without deliveries the age of what waits.",
		Responses: map[string]*huma.Response{"200": jsonReply[Overview](api, "The whole at a glance.", nil)},
	}), s.getOverview)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "list-namespaces", Path: "/api/v1/resources/namespaces", Summary: "Every namespace with its queues and messages",
		Description: "Partitions are of this moment, messages as last counted.",
		Responses:   map[string]*huma.Response{"200": jsonReply[NamespaceList](api, "By name; queues without one are left out.", nil)},
	}), s.listNamespaces)
	huma.Register(api, s.statsOp(huma.Operation{
		OperationID: "list-tasks", Path: "/api/v1/resources/tasks", Summary: "Every task with its queues and messages",
		Description: "Partitions are of this moment, messages as last counted.",
		Responses:   map[string]*huma.Response{"200": jsonReply[TaskList](api, "By name; queues without one are left out.", nil)},
	}), s.listTasks)
	refresh := s.statsOp(huma.Operation{
		OperationID: "refresh-stats", Path: "/api/v1/stats/refresh", Summary: "Count all queues now",
		Description: "Runs the cycle that runs every STATS_INTERVAL_MS anyway and does not move its schedule. Bytes and segments are not measured by it. A rate over less than three seconds is 0.",
		Responses:   map[string]*huma.Response{"200": jsonReply[StatsSummary](api, "What was counted.", nil)},
	})
	refresh.Method = http.MethodPost
	huma.Register(api, refresh, s.refreshStats)
}

// statsOp completes an operation that shows numbers.
func (s *Server) statsOp(op huma.Operation, errors ...int) huma.Operation {
	op.Method = http.MethodGet
	op.Tags = []string{"numbers"}
	op.DefaultStatus = http.StatusOK
	op.Errors = append(errors, http.StatusInternalServerError, http.StatusServiceUnavailable)
	return op
}

func (s *Server) getOverview(ctx context.Context, _ *struct{}) (*documentReply, error) {
	return s.shown(ctx, "overview", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetOverview(ctx, s.tenant(ctx))
	})
}

func (s *Server) listNamespaces(ctx context.Context, _ *struct{}) (*documentReply, error) {
	return s.shown(ctx, "namespaces", func(ctx context.Context, q querier) ([]byte, error) {
		return q.ListNamespaces(ctx, s.tenant(ctx))
	})
}

func (s *Server) listTasks(ctx context.Context, _ *struct{}) (*documentReply, error) {
	return s.shown(ctx, "tasks", func(ctx context.Context, q querier) ([]byte, error) {
		return q.ListTasks(ctx, s.tenant(ctx))
	})
}

// refreshStats lets one caller of this server in at a time: those who wait hold
// no connection (F129).
func (s *Server) refreshStats(ctx context.Context, _ *struct{}) (*documentReply, error) {
	if refusal := s.refreshing.enter(ctx, s.cfg.AcquireTimeout); refusal != nil {
		return nil, refusal
	}
	defer s.refreshing.leave()
	return s.document(ctx, "refresh", func(ctx context.Context, q querier) ([]byte, error) {
		return q.RefreshStats(ctx, true)
	})
}

// turnstile lets one caller in at a time. The zero value is not usable.
type turnstile chan struct{}

func newTurnstile() turnstile { return make(turnstile, 1) }

// enter waits for the turn, at most patience.
func (t turnstile) enter(ctx context.Context, patience time.Duration) *Error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case t <- struct{}{}:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	return newError(http.StatusServiceUnavailable, "", "too many callers ask for this at once")
}

func (t turnstile) leave() { <-t }
