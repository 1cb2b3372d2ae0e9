package api

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"golang.org/x/sync/singleflight"

	"regent.local/regent/db"
)

// switchesEvery is how old a server's view of the maintenance switches may be
// when it works. A server that does nothing asks nothing (F049).
const switchesEvery = 500 * time.Millisecond

// switches are the maintenance switches as this server last saw them.
type switches struct {
	push, pop atomic.Bool
	seen      atomic.Int64 // unix nanoseconds of the last look
	looking   singleflight.Group
}

func (w *switches) stale() bool {
	return time.Now().UnixNano()-w.seen.Load() >= int64(switchesEvery)
}

// Switch is the body that turns a switch.
type Switch struct {
	Enabled bool `json:"enabled"`
}

// MaintenanceStatus tells of the switches and of this server's spool.
type MaintenanceStatus struct {
	MaintenanceMode    bool        `json:"maintenanceMode" doc:"Pushes of all servers go to their spools."`
	PopMaintenanceMode bool        `json:"popMaintenanceMode" doc:"Pops of all servers find nothing."`
	BufferedMessages   int64       `json:"bufferedMessages" doc:"Messages in this server's spool."`
	BufferHealthy      bool        `json:"bufferHealthy" doc:"Whether this server has a spool that takes messages."`
	BufferStats        BufferStats `json:"bufferStats"`
}

// PushSwitchResult is the state after the switch for pushes was turned.
type PushSwitchResult struct {
	MaintenanceMode  bool   `json:"maintenanceMode"`
	BufferedMessages int64  `json:"bufferedMessages"`
	BufferHealthy    bool   `json:"bufferHealthy"`
	Message          string `json:"message"`
}

// PopSwitch is the state of the switch for pops.
type PopSwitch struct {
	PopMaintenanceMode bool   `json:"popMaintenanceMode"`
	Message            string `json:"message"`
}

// SharedState is what clients of this wire ask about the state that servers share.
type SharedState struct {
	Enabled            bool   `json:"enabled" doc:"Always false: servers share nothing but the database."`
	Reason             string `json:"reason"`
	MaintenanceMode    bool   `json:"maintenance_mode"`
	PopMaintenanceMode bool   `json:"pop_maintenance_mode"`
}

type switchInput struct {
	RawBody []byte
}

type maintenanceReply struct{ Body MaintenanceStatus }
type pushSwitchReply struct{ Body PushSwitchResult }
type popSwitchReply struct{ Body PopSwitch }
type sharedStateReply struct{ Body SharedState }

func (s *Server) registerMaintenance(api huma.API) {
	op := func(method, id, path, summary, description string) huma.Operation {
		o := s.op(huma.Operation{OperationID: id, Method: method, Path: path, Tags: []string{"operations"}, Summary: summary, Description: description})
		if method == http.MethodPost {
			o.SkipValidateBody = true
			o.RequestBody = jsonBody[Switch](api, "The switch.", map[string]any{"enabled": true})
		}
		return o
	}
	const push, pop = "/api/v1/system/maintenance", "/api/v1/system/maintenance/pop"
	huma.Register(api, op(http.MethodGet, "get-maintenance", push, "Maintenance switches and this server's spool",
		"Reads the switches from the database; while it is away, as this server saw them last."), s.getMaintenance)
	huma.Register(api, op(http.MethodPost, "set-maintenance", push, "Pause or resume pushes",
		"While pushes are paused every server keeps them in its spool (FILE_BUFFER_DIR) and answers buffered; afterwards they are replayed, each exactly once. "+
			"A server without a spool answers 503. The other servers follow within half a second."), s.setMaintenance)
	huma.Register(api, op(http.MethodGet, "get-pop-maintenance", pop, "Are pops paused", "As this server saw the switch last."), s.getPopMaintenance)
	huma.Register(api, op(http.MethodPost, "set-pop-maintenance", pop, "Pause or resume pops",
		"While pops are paused each answers 204 at once. Acks, extends and transactions go on. The other servers follow within half a second."), s.setPopMaintenance)
	huma.Register(api, op(http.MethodGet, "get-shared-state", "/api/v1/system/shared-state", "State that servers share", "Kept for clients that ask."), s.getSharedState)
}

func (s *Server) getMaintenance(ctx context.Context, _ *struct{}) (*maintenanceReply, error) {
	err := s.readSwitches(ctx)
	if err != nil {
		s.log.DebugContext(ctx, "the maintenance switches cannot be read", "error", clip(err.Error(), 300))
	}
	reply := &maintenanceReply{}
	stats, healthy := s.spool.stats()
	stats.DBHealthy = err == nil && !s.away.Load()
	reply.Body = MaintenanceStatus{MaintenanceMode: s.switches.push.Load(), PopMaintenanceMode: s.switches.pop.Load(),
		BufferedMessages: stats.PendingCount, BufferHealthy: healthy, BufferStats: stats}
	return reply, nil
}

func (s *Server) setMaintenance(ctx context.Context, in *switchInput) (*pushSwitchReply, error) {
	enabled, err := readSwitch(in.RawBody)
	if err == nil {
		err = s.turn(ctx, &enabled, nil)
	}
	if err != nil {
		return nil, s.fail(ctx, "maintenance", err)
	}
	stats, healthy := s.spool.stats()
	reply := &pushSwitchReply{Body: PushSwitchResult{MaintenanceMode: enabled, BufferedMessages: stats.PendingCount, BufferHealthy: healthy}}
	switch {
	case !enabled && s.spool == nil:
		reply.Body.Message = "pushes are stored again"
	case !enabled:
		reply.Body.Message = "pushes are stored again; what the spools hold is replayed"
	case s.spool == nil:
		reply.Body.Message = "pushes are paused; this server has no spool and refuses them"
	default:
		reply.Body.Message = "pushes are paused and kept in the servers' spools"
	}
	return reply, nil
}

func (s *Server) getPopMaintenance(context.Context, *struct{}) (*popSwitchReply, error) {
	return popState(s.switches.pop.Load()), nil
}

func (s *Server) setPopMaintenance(ctx context.Context, in *switchInput) (*popSwitchReply, error) {
	enabled, err := readSwitch(in.RawBody)
	if err == nil {
		err = s.turn(ctx, nil, &enabled)
	}
	if err != nil {
		return nil, s.fail(ctx, "maintenance", err)
	}
	return popState(enabled), nil
}

func popState(paused bool) *popSwitchReply {
	if paused {
		return &popSwitchReply{Body: PopSwitch{true, "pops are paused and find nothing"}}
	}
	return &popSwitchReply{Body: PopSwitch{false, "pops deliver"}}
}

func (s *Server) getSharedState(context.Context, *struct{}) (*sharedStateReply, error) {
	return &sharedStateReply{Body: SharedState{Reason: "single_node_segments_broker",
		MaintenanceMode: s.switches.push.Load(), PopMaintenanceMode: s.switches.pop.Load()}}, nil
}

// readSwitch takes exactly a boolean.
func readSwitch(body []byte) (bool, error) {
	var in struct {
		Enabled *bool `json:"enabled"`
	}
	if err := readJSON(body, &in); err != nil || in.Enabled == nil {
		e := badRequest("enabled (boolean) is required")
		e.Invalid = "enabled"
		return false, e
	}
	return *in.Enabled, nil
}

// turn turns switches for all servers; nil leaves one as it is.
func (s *Server) turn(ctx context.Context, push, pop *bool) error {
	return s.call(ctx, func(ctx context.Context, q querier) error {
		row, err := q.SetMaintenance(ctx, push, pop)
		if err == nil {
			s.follow(row)
		}
		return err
	})
}

// freshen makes sure that the switches were looked at lately. While the database
// is away they stay as they were.
func (s *Server) freshen(ctx context.Context) {
	if !s.switches.stale() || s.away.Load() {
		return
	}
	_, err, _ := s.switches.looking.Do("", func() (any, error) {
		if !s.switches.stale() {
			return nil, nil
		}
		err := s.readSwitches(context.WithoutCancel(ctx))
		s.switches.seen.Store(time.Now().UnixNano())
		return nil, err
	})
	if err != nil {
		s.log.DebugContext(ctx, "the maintenance switches cannot be read", "error", clip(err.Error(), 300))
	}
}

// readSwitches looks how the switches stand in the database.
func (s *Server) readSwitches(ctx context.Context) error {
	until := time.Now().Add(healthPatience)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	look := s.seals.begin()
	err := s.call(ctx, func(running context.Context, q querier) error {
		running, cancel := context.WithDeadline(running, until) // also where it waits for a lock
		defer cancel()
		return s.look(running, q)
	})
	if err != nil {
		s.seals.miss(look)
	}
	return err
}

// spoolsPlain reports whether this server could spool plaintext.
func (s *Server) spoolsPlain() bool { return s.spool != nil && s.seals.current == nil }

// look reads the switches over a connection that is at hand, and on a server that
// could spool plaintext what it may not.
func (s *Server) look(ctx context.Context, q querier) error {
	if s.spoolsPlain() {
		look := s.seals.begin()
		encrypted, err := q.ListEncryptedQueues(ctx)
		if err != nil {
			return err
		}
		s.seals.list(encrypted, look)
	}
	row, err := q.GetMaintenance(ctx)
	if err == nil {
		s.follow(row)
	}
	return err
}

// follow takes over what the database says. Parked pops look again when pops are
// paused, and go home.
func (s *Server) follow(row db.MaintenanceRow) {
	s.switches.seen.Store(time.Now().UnixNano())
	if s.switches.push.Swap(row.PushPaused) != row.PushPaused {
		s.log.Info("push maintenance was turned", "enabled", row.PushPaused)
	}
	if s.switches.pop.Swap(row.PopPaused) != row.PopPaused {
		s.log.Info("pop maintenance was turned", "enabled", row.PopPaused)
		s.room.told("")
	}
}
