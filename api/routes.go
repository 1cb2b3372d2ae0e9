package api

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/klauspost/compress/gzhttp"
)

// route builds the mux, registers every topic, and wraps what the mux cannot do.
func (s *Server) route() {
	mux := http.NewServeMux()
	s.api = newAPI(s.cfg, mux)
	s.register(s.api)
	if err := checkLevels(s.api.OpenAPI()); err != nil {
		panic(err)
	}
	documentAccess(s.api.OpenAPI())
	finish(s.api.OpenAPI())
	if err := exemplify(s.api.OpenAPI()); err != nil {
		panic(err)
	}
	s.serveDocuments(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { missed(mux, w, r) })
	s.handler = s.guard(s.shield(s.admit(mux, compress(whole(mux)))))
}

// register adds every topic's routes. One line a topic file.
func (s *Server) register(api huma.API) {
	s.registerPush(api)
	s.registerPop(api)
	s.registerAck(api)
	s.registerLease(api)
	s.registerTransaction(api)
	s.registerHealth(api)
	s.registerMetrics(api)
	s.registerAnalytics(api)
	s.registerQueues(api)
	s.registerRetention(api)
	s.registerDeadLetters(api)
	s.registerMessages(api)
	s.registerLatest(api)
	s.registerFetch(api)
	s.registerChanged(api)
	s.registerGroups(api)
	s.registerTraces(api)
	s.registerMaintenance(api)
	s.registerStats(api)
	s.registerStatus(api)
	s.registerIdentity(api)
}

// levels is the one place that says who may use a route. A route that is not
// here does not start.
var levels = map[string]access{
	"GET /health":       {level: public},
	"GET /livez":        {level: public},
	"GET /readyz":       {level: public},
	"GET /metrics":      {level: public},
	"GET /auth/me":      {level: public},
	"GET /auth/login":   {level: public},
	"POST /auth/logout": {level: public},

	"GET /metrics/prometheus": {level: public},
	"GET /openapi.json":       {level: public},
	"GET /openapi.yaml":       {level: public},
	"GET /openapi-3.0.json":   {level: public},
	"GET /openapi-3.0.yaml":   {level: public},
	"GET /docs":               {level: public},

	"POST /api/v1/push":                                   {level: writeOnly},
	"GET /api/v1/pop":                                     {level: readWrite},
	"GET /api/v1/pop/queue/{queue}":                       {level: readWrite},
	"GET /api/v1/pop/queue/{queue}/partition/{partition}": {level: readWrite},
	"POST /api/v1/ack":                                    {level: readWrite},
	"POST /api/v1/ack/batch":                              {level: readWrite},
	"POST /api/v1/transaction":                            {level: readWrite},
	"POST /api/v1/lease/{leaseId}/extend":                 {level: readWrite},
	"POST /api/v1/fetch":                                  {level: readOnly},
	"POST /api/v1/partitions/changed":                     {level: readOnly},

	"POST /api/v1/configure":                                 {level: readWrite},
	"GET /api/v1/resources/queues":                           {level: readOnly},
	"GET /api/v1/resources/queues/{queue}":                   {level: readOnly},
	"GET /api/v1/resources/queues/{queue}/depth":             {level: readOnly},
	"GET /api/v1/resources/queues/{queue}/retention-preview": {level: readOnly},
	"DELETE /api/v1/resources/queues/{queue}":                {level: admin},
	"GET /api/v1/resources/overview":                         {level: readOnly},
	"GET /api/v1/resources/namespaces":                       {level: readOnly},
	"GET /api/v1/resources/tasks":                            {level: readOnly},

	"GET /api/v1/consumer-groups":                                                     {level: readOnly},
	"GET /api/v1/consumer-groups/lagging":                                             {level: readOnly},
	"GET /api/v1/consumer-groups/{group}":                                             {level: readOnly},
	"POST /api/v1/consumer-groups/{group}/subscription":                               {level: readWrite},
	"POST /api/v1/consumer-groups/{group}/queues/{queue}/seek":                        {level: readWrite},
	"POST /api/v1/consumer-groups/{group}/queues/{queue}/partitions/{partition}/seek": {level: readWrite},
	"DELETE /api/v1/consumer-groups/{group}":                                          {level: admin},
	"DELETE /api/v1/consumer-groups/{group}/queues/{queue}":                           {level: admin},

	"GET /api/v1/messages":                                      {level: readOnly},
	"GET /api/v1/messages/latest":                               {level: readOnly},
	"GET /api/v1/messages/{partitionId}/{transactionId}":        {level: readOnly},
	"DELETE /api/v1/messages/{partitionId}/{transactionId}":     {level: readWrite},
	"POST /api/v1/messages/{partitionId}/{transactionId}/retry": {level: readWrite},
	"GET /api/v1/dlq":                                           {level: readOnly},
	"DELETE /api/v1/dlq":                                        {level: admin},
	"POST /api/v1/dlq/{id}/replay":                              {level: readWrite},
	"POST /api/v1/traces":                                       {level: readWrite},
	"GET /api/v1/traces/{partitionId}/{transactionId}":          {level: readOnly},
	"GET /api/v1/traces/by-name/{traceName}":                    {level: readOnly},
	"GET /api/v1/traces/names":                                  {level: readOnly},

	"GET /status":                                 {level: readOnly, server: true},
	"GET /api/v1/status":                          {level: readOnly, server: true},
	"GET /api/v1/status/buffers":                  {level: readOnly, server: true},
	"GET /api/v1/status/queues":                   {level: readOnly},
	"GET /api/v1/status/queues/{queue}":           {level: readOnly},
	"GET /api/v1/status/analytics":                {level: readOnly},
	"GET /api/v1/analytics/queue-lag":             {level: readOnly},
	"GET /api/v1/analytics/queue-ops":             {level: readOnly},
	"GET /api/v1/analytics/retention":             {level: readOnly},
	"GET /api/v1/analytics/workload":              {level: readOnly},
	"GET /api/v1/analytics/dlq-signatures":        {level: readOnly},
	"GET /api/v1/analytics/partition-liveness":    {level: readOnly},
	"GET /api/v1/analytics/queue-parked-replicas": {level: readOnly},
	"GET /api/v1/analytics/system-metrics":        {level: readOnly, server: true},
	"GET /api/v1/analytics/worker-metrics":        {level: readOnly, server: true},
	"GET /api/v1/analytics/postgres-stats":        {level: readOnly, server: true},

	"POST /api/v1/stats/refresh":          {level: admin, server: true},
	"GET /api/v1/system/maintenance":      {level: admin, server: true},
	"POST /api/v1/system/maintenance":     {level: admin, server: true},
	"GET /api/v1/system/maintenance/pop":  {level: admin, server: true},
	"POST /api/v1/system/maintenance/pop": {level: admin, server: true},
	"GET /api/v1/system/shared-state":     {level: admin, server: true},
}

// newAPI is a bare API on mux: JSON only, whatever the content type says, no
// documents or hooks of the framework's own.
func newAPI(cfg Config, mux *http.ServeMux) huma.API {
	config := huma.DefaultConfig("Regent", cfg.Version)
	config.Info.Description = "A message log inside PostgreSQL, over HTTP. Pushed messages are durable when the answer arrives; consumers of a group get each partition in order, at least once."
	config.Info.License = &huma.License{Name: "Apache-2.0"}
	config.Servers = []*huma.Server{{URL: "/", Description: "The server that offers this document."}}
	config.Tags = []*huma.Tag{
		{Name: "messages", Description: "Push, pop, acknowledge."},
		{Name: "queues", Description: "Configure, list and delete queues."},
		{Name: "browse", Description: "Look at single messages without taking them, and at what was noted about them."},
		{Name: "dead letters", Description: "Look at what was given up, move it back, or delete it."},
		{Name: "groups", Description: "Consumer groups: where they stand, and moving them."},
		{Name: "numbers", Description: "What is kept, what is owed, and how fast it moves, each with its age."},
		{Name: "operations", Description: "Health of this process and of its database."},
	}
	config.CreateHooks, config.Transformers = nil, nil
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.AllowAdditionalPropertiesByDefault = true
	config.Formats = map[string]huma.Format{"application/json": {Marshal: writeJSON, Unmarshal: readJSON}}
	config.DefaultFormat = "application/json"
	api := humago.New(mux, config)
	api.UseMiddleware(readableQuery, bodyOfGet)
	return api
}

// readableQuery refuses a query string with a part that cannot be read, where a
// route reads it: what the framework leaves out would act as if it were absent.
func readableQuery(ctx huma.Context, next func(huma.Context)) {
	at := ctx.URL()
	if at.RawQuery != "" && slices.ContainsFunc(ctx.Operation().Parameters, func(p *huma.Param) bool { return p.In == "query" }) {
		if refusal := queryFault(at.RawQuery); refusal != nil {
			_, w := humago.Unwrap(ctx)
			answer(w, refusal)
			return
		}
	}
	next(ctx)
}

// bodyOfGet reads away a body that no GET route wants. Before a body was read, net/http
// does not notice that its client went: a pop would give its messages to nobody (F047).
func bodyOfGet(ctx huma.Context, next func(huma.Context)) {
	if request, _ := humago.Unwrap(ctx); request.Method == http.MethodGet && request.ContentLength != 0 {
		op := ctx.Operation()
		_ = ctx.SetReadDeadline(time.Now().Add(op.BodyReadTimeout))
		_, _ = io.CopyN(io.Discard, request.Body, op.MaxBodyBytes)
		_ = ctx.SetReadDeadline(time.Time{})
	}
	next(ctx)
}

// plainQuery is the length below which only an escape or a semicolon can be wrong with
// a query string; a longer one may have too many parts.
const plainQuery = 1 << 10

// queryFault names the first part of a query string that cannot be read, or is nil.
func queryFault(raw string) *Error {
	if len(raw) < plainQuery && !strings.ContainsAny(raw, "%;") {
		return nil
	}
	if _, err := url.ParseQuery(raw); err == nil {
		return nil
	}
	for part := range strings.SplitSeq(raw, "&") {
		key, value, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(key)
		if err != nil || textFault(name) != "" {
			name = key
		}
		name = clip(name, 100)
		if strings.Contains(part, ";") {
			return badField(name, "holds a bare semicolon; write %3B")
		}
		if err != nil {
			return badField(name, "has a broken escape in its name")
		}
		if _, err := url.QueryUnescape(value); err != nil {
			return badField(name, "has a broken escape; write a percent sign as %25")
		}
	}
	return badRequest("the query string cannot be read")
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// readJSON is strict: exact names, no repeated names, valid UTF-8 (F005).
func readJSON(data []byte, into any) error { return jsonv2.Unmarshal(data, into) }

// op completes an operation with the limits and the refusals that all share.
func (s *Server) op(op huma.Operation) huma.Operation {
	op.MaxBodyBytes = s.cfg.MaxBodyBytes + 1 // the framework refuses a body of exactly its limit
	op.BodyReadTimeout = s.cfg.BodyTimeout
	op.Errors = append(op.Errors, http.StatusBadRequest, http.StatusServiceUnavailable)
	if op.Method == http.MethodPost || op.Method == http.MethodPut {
		op.Errors = append(op.Errors, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge)
	}
	return op
}

// guard answers what never reaches a route, and keeps a fault in one request
// away from the others.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.rescue(w, r)
		r.Header.Del("Content-Type") // bodies are JSON, whatever the client calls them
		switch {
		case !clean(r.URL.EscapedPath()):
			answer(w, noRoute())
		case r.Method == http.MethodHead && strings.HasPrefix(r.URL.Path, "/api/v1/pop"):
			// A HEAD would take messages and deliver none.
			w.Header().Set("Allow", http.MethodGet)
			answer(w, newError(http.StatusMethodNotAllowed, "", "Method Not Allowed"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// clean reports whether the mux takes the path as it is. It would redirect
// others, and a redirect loses a body and changes names (F159); and to it a
// segment that is a slash is the end of the path.
func clean(escaped string) bool {
	if !strings.HasPrefix(escaped, "/") || path.Clean(escaped) != escaped {
		return false
	}
	return !strings.Contains(escaped, "%") || !strings.Contains(strings.ToUpper(escaped)+"/", "/%2F/")
}

// rescue turns a panic into an answer, and the stack into one log line (F169).
func (s *Server) rescue(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	if r.Context().Err() != nil { // the framework panics when it cannot write to a client that has gone
		return
	}
	s.log.ErrorContext(r.Context(), "handler panicked", "method", r.Method, "cause", cause, slog.String("stack", string(debug.Stack())))
	answer(w, newError(http.StatusInternalServerError, "", "internal error"))
}

// missed answers what matches no pattern: 405 when another method would.
func missed(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var allowed []string
	probe := r.Clone(r.Context())
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe.Method = method
		if _, pattern := mux.Handler(probe); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 {
		answer(w, noRoute())
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	answer(w, newError(http.StatusMethodNotAllowed, "", "Method Not Allowed"))
}

func noRoute() *Error { return newError(http.StatusNotFound, "no_such_route", "Not Found") }

// answer writes an error outside of any operation.
func answer(w http.ResponseWriter, e *Error) {
	for name, values := range e.GetHeaders() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	_ = writeJSON(w, e)
}

// lastByte remembers the last byte of an answer.
type lastByte struct {
	http.ResponseWriter
	last byte
}

func (w *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		w.last = p[len(p)-1]
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets deadlines and flushes through.
func (w *lastByte) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// whole ends JSON answers with a newline, so that they are whole lines on a
// terminal and in a file. It is no part of the document.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen := &lastByte{ResponseWriter: w}
		next.ServeHTTP(seen, r)
		if seen.last != 0 && seen.last != '\n' && w.Header().Get("Content-Type") == "application/json" && w.Header().Get("Content-Length") == "" {
			_, _ = w.Write([]byte{'\n'}) // a client that has gone needs none
		}
	})
}

// compress packs large answers, but not those of the message plane and not a
// scrape, where the time of the processor is dearer than that of the wire: packing
// the series of 10,000 queues takes longer than making them.
func compress(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(16<<10), gzhttp.EnableZstd(true))
	if err != nil {
		panic("compression options: " + err.Error())
	}
	packed := wrap(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hot(r.URL.Path) || r.URL.Path == "/metrics/prometheus" {
			next.ServeHTTP(w, r)
			return
		}
		packed.ServeHTTP(w, r)
	})
}

func hot(path string) bool {
	for _, prefix := range []string{"/api/v1/push", "/api/v1/pop", "/api/v1/ack", "/api/v1/lease/", "/api/v1/transaction", "/api/v1/fetch"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}
