package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db/session"
)

// engineName is what clients of this wire look for.
const engineName = "segments-rust"

// healthPatience bounds a health probe: a probe that waits is no probe.
const healthPatience = 2 * time.Second

// Health is the answer of /health.
type Health struct {
	Status   string `json:"status" enum:"healthy,unhealthy" example:"healthy"`
	Database string `json:"database" enum:"connected,disconnected" doc:"connected means that it answers and takes writes." example:"connected"`
	Engine   string `json:"engine" example:"segments-rust"`
	Version  string `json:"version" example:"1.0.0"`
}

// Probe is the answer of /livez and /readyz.
type Probe struct {
	Status string `json:"status" enum:"ok,ready,unavailable,stopping" example:"ok"`
}

type healthReply struct {
	Status int
	Body   Health
}

type probeReply struct {
	Status int
	Body   Probe
}

func (s *Server) registerHealth(api huma.API) {
	huma.Register(api, probeOp(huma.Operation{
		OperationID: "get-health", Path: "/health", Summary: "Health of the process and of its database",
		Description: "Makes a round trip to the database. 503 when it is away or takes no writes.",
		Responses:   map[string]*huma.Response{"503": jsonReply[Health](api, "The database is away or takes no writes.", nil)},
	}), s.getHealth)
	huma.Register(api, probeOp(huma.Operation{
		OperationID: "get-livez", Path: "/livez", Summary: "Is the process alive",
		Description: "Never touches the database.",
	}), s.getLivez)
	huma.Register(api, probeOp(huma.Operation{
		OperationID: "get-readyz", Path: "/readyz", Summary: "Should this process get traffic",
		Description: "503 while the database is away or takes no writes, and while the process stops.",
		Responses:   map[string]*huma.Response{"503": jsonReply[Probe](api, "Not ready.", nil)},
	}), s.getReadyz)
}

// probeOp completes an operation that is never refused.
func probeOp(op huma.Operation) huma.Operation {
	op.Method, op.Tags, op.Errors = http.MethodGet, []string{"operations"}, []int{http.StatusInternalServerError}
	return op
}

func (s *Server) getHealth(ctx context.Context, _ *struct{}) (*healthReply, error) {
	reply := &healthReply{Status: http.StatusOK, Body: Health{Status: "healthy", Database: "connected", Engine: engineName, Version: s.cfg.Version}}
	if err := s.writable(ctx); err != nil {
		s.log.WarnContext(ctx, "database unhealthy", "error", clip(err.Error(), 300))
		reply.Status, reply.Body.Status, reply.Body.Database = http.StatusServiceUnavailable, "unhealthy", "disconnected"
	}
	return reply, nil
}

func (s *Server) getLivez(context.Context, *struct{}) (*probeReply, error) {
	return &probeReply{Status: http.StatusOK, Body: Probe{Status: "ok"}}, nil
}

func (s *Server) getReadyz(ctx context.Context, _ *struct{}) (*probeReply, error) {
	switch {
	case s.stopping.Load():
		return &probeReply{Status: http.StatusServiceUnavailable, Body: Probe{Status: "stopping"}}, nil
	case s.writable(ctx) != nil:
		return &probeReply{Status: http.StatusServiceUnavailable, Body: Probe{Status: "unavailable"}}, nil
	}
	return &probeReply{Status: http.StatusOK, Body: Probe{Status: "ready"}}, nil
}

// writable makes one round trip on a pooled connection. One that leads to a
// server without writes is dropped, so that the next probe finds the primary.
func (s *Server) writable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	conn, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := session.Writable(ctx, conn.Conn()); err != nil {
		s.dropReadOnly(context.WithoutCancel(ctx), conn)
		return err
	}
	return nil
}
