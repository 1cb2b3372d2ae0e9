package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
)

// roles is what a caller may do. Roles do not nest: a level names those that
// satisfy it.
type roles uint8

const (
	roleAdmin roles = 1 << iota
	roleReadWrite
	roleReadOnly
	roleWriteOnly
)

// level is the set of roles that may use a route; public needs none.
type level struct {
	name string
	by   roles
}

var (
	public    = level{name: "public"}
	readOnly  = level{"read-only", roleReadOnly | roleReadWrite | roleAdmin}
	writeOnly = level{"write-only", roleWriteOnly | roleReadWrite | roleAdmin}
	readWrite = level{"read-write", roleReadWrite | roleAdmin}
	admin     = level{"admin", roleAdmin}
)

// access is what a route asks of its callers.
type access struct {
	level level
	// server: the route is about the whole server, and not for keys of a tenant.
	server bool
}

// caller is who sent a request.
type caller struct {
	subject string // stamped on what it pushes; "" is nobody
	roles   roles
	tenant  uuid.UUID
	bound   bool // to the tenant, by its key
}

type callerKey struct{}

// callerOf is who sent the request of a context, nil where nobody was asked.
func callerOf(ctx context.Context) *caller {
	c, _ := ctx.Value(callerKey{}).(*caller)
	return c
}

// tenant is whose data a request works on.
func (s *Server) tenant(ctx context.Context) uuid.UUID {
	if c := callerOf(ctx); c != nil {
		return c.tenant
	}
	return defaultTenant
}

// producer is the name that is stamped on pushed messages, nil for none. It
// comes from the caller's token or key and never from a body.
func producer(ctx context.Context) *string {
	if c := callerOf(ctx); c != nil && c.subject != "" {
		return &c.subject
	}
	return nil
}

// admit lets a request through to its route, or answers it. What matches no
// route asks for read-write, so that a stranger cannot tell what there is.
func (s *Server) admit(mux *http.ServeMux, next http.Handler) http.Handler {
	if !s.cfg.Guarded() && !s.cfg.TenancyHeader && s.throttle == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, pattern := mux.Handler(r)
		rule, known := levels[pattern]
		if !known {
			rule = access{level: readWrite}
		}
		who, err := s.identify(r, rule)
		if err != nil {
			answer(w, s.fail(r.Context(), "authentication", err))
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)))
	})
}

// identify tells who sent a request and whether it may use the route.
func (s *Server) identify(r *http.Request, rule access) (*caller, error) {
	who := &caller{tenant: defaultTenant}
	asked := s.cfg.Guarded() && rule.level.by != 0 && !skipped(s.cfg.SkipPaths, r.URL.EscapedPath())
	if asked {
		known, err := s.authenticate(r.Context(), r.Header)
		if err != nil {
			return nil, err
		}
		*who = *known
	}
	if err := s.limit(r, who, rule); err != nil {
		return nil, err
	}
	if asked && (who.roles&rule.level.by == 0 || rule.server && who.bound && who.tenant != defaultTenant) {
		return nil, errForbidden
	}
	if s.cfg.TenancyHeader && !rule.server && rule.level.by != 0 {
		return who, who.choose(r.Header)
	}
	return who, nil
}

// authenticate tells who a request comes from.
func (s *Server) authenticate(ctx context.Context, header http.Header) (*caller, error) {
	given := header.Values("Authorization")
	if len(given) != 1 {
		return nil, errNoToken
	}
	token := strings.TrimSpace(given[0])
	if scheme, rest, found := strings.Cut(token, " "); found && strings.EqualFold(scheme, "Bearer") {
		token = strings.TrimSpace(rest)
	}
	switch {
	case token == "" || strings.EqualFold(token, "Bearer"):
		return nil, errNoToken
	case strings.HasPrefix(token, KeyPrefix):
		return s.keys.find(ctx, token)
	case s.tokens == nil:
		return nil, errHeader
	}
	return s.tokens.verify(ctx, token)
}

// skipped reports whether a path is in the list of those that need no token.
func skipped(list []string, path string) bool {
	for _, entry := range list {
		if path == entry || len(entry) > 1 && strings.HasSuffix(entry, "/") && strings.HasPrefix(path, entry) {
			return true
		}
	}
	return false
}

// tenantHeader names the tenant, where the server was told to read it.
const tenantHeader = "X-Queen-Tenant"

// choose takes the tenant of the header. A caller that is bound to one cannot
// name another.
func (c *caller) choose(header http.Header) error {
	given := header.Values(tenantHeader)
	if len(given) == 0 || len(given) == 1 && strings.TrimSpace(given[0]) == "" {
		return nil
	}
	id, err := uuid.Parse(strings.TrimSpace(given[0]))
	if err != nil || len(given) > 1 || len(strings.TrimSpace(given[0])) != len(uuid.Nil.String()) {
		return badRequest("invalid x-queen-tenant header (must be a UUID)")
	}
	if c.bound && c.tenant != id {
		return errForbidden
	}
	c.tenant = id
	return nil
}

// checkLevels makes a route without a level a fault of the program: an unknown
// one would be open to the wrong callers (F161).
func checkLevels(document *huma.OpenAPI) error {
	for path, item := range document.Paths {
		for _, op := range operations(item) {
			if _, known := levels[op.Method+" "+path]; !known {
				return fmt.Errorf("%s %s has no level: add it to levels in routes.go", op.Method, path)
			}
		}
	}
	return nil
}

// securityScheme is the one way to say who one is.
const securityScheme = "token"

// documentAccess writes what each route asks of its callers into the document.
func documentAccess(document *huma.OpenAPI) {
	document.Components.SecuritySchemes = map[string]*huma.SecurityScheme{securityScheme: {
		Type: "http", Scheme: "bearer",
		Description: "A JSON web token or an API key. Servers that ask for neither take every call.",
	}}
	refusals := map[string]string{
		"401": "No token, or none that is accepted.",
		"403": "The token's role may not do this, or a page of another origin calls.",
		"429": "Too many calls of this key, subject or address.",
	}
	for path, item := range document.Paths {
		for _, op := range operations(item) {
			rule := levels[op.Method+" "+path].level
			if op.Extensions == nil {
				op.Extensions = map[string]any{}
			}
			op.Extensions["x-access-level"] = rule.name
			if rule.by == 0 {
				op.Security = []map[string][]string{}
				continue
			}
			op.Security = []map[string][]string{{securityScheme: {}}}
			for status, text := range refusals {
				op.Responses[status] = refusal(text)
			}
			if op.Responses["400"] == nil && !levels[op.Method+" "+path].server {
				op.Responses["400"] = refusal("Bad Request")
			}
			op.Responses["429"].Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait.", Schema: &huma.Schema{Type: "integer"}}}
		}
	}
}

func refusal(text string) *huma.Response {
	return &huma.Response{Description: text, Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Error"}}}}
}
