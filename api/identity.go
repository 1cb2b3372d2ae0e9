package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

// Me says who the caller is, in the words of a console that knows of clusters: a
// server of its own is one of which the caller is the admin.
type Me struct {
	UserID          string      `json:"user_id" example:"standalone"`
	Email           *string     `json:"email" nullable:"true"`
	TenantSlug      string      `json:"tenant_slug" example:"local"`
	IsOperator      bool        `json:"is_operator"`
	OperatorEnabled bool        `json:"operator_enabled"`
	OperatorLive    bool        `json:"operator_live"`
	ActingCluster   MyCluster   `json:"acting_cluster"`
	Clusters        []MyCluster `json:"clusters"`
	ActHeader       string      `json:"act_cluster_header" example:"x-queen-act-cluster"`
	Role            string      `json:"role" example:"admin"`
	Cluster         *string     `json:"cluster" nullable:"true"`
	Standalone      bool        `json:"standalone"`
}

// MyCluster is the one server.
type MyCluster struct {
	ID         string `json:"id"`
	Slug       string `json:"slug" example:"local"`
	Role       string `json:"role,omitempty" example:"admin"`
	TenantSlug string `json:"tenant_slug,omitempty" example:"local"`
	TenantID   string `json:"tenant_id,omitempty"`
	Status     string `json:"status,omitempty" example:"active"`
	CellSlug   string `json:"cell_slug,omitempty" example:"local"`
}

// LoggedOut is the answer to a logout.
type LoggedOut struct {
	OK bool `json:"ok"`
}

type meReply struct{ Body Me }

type loggedOutReply struct{ Body LoggedOut }

type loginReply struct {
	Status      int
	Location    string `header:"Location"`
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// loginPage is what a browser sees: tokens come from elsewhere.
const loginPage = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Regent</title>
<p>This server asks for a token: send <code>Authorization: Bearer ...</code> with every call.</p></html>
`

func (s *Server) registerIdentity(api huma.API) {
	huma.Register(api, huma.Operation{
		OperationID: "get-me", Method: http.MethodGet, Path: "/auth/me", Tags: []string{"operations"},
		Summary: "Who am I", Description: "A server that asks for no token answers with its one user. One that does answers 401: it keeps no sessions.",
		Errors: []int{http.StatusUnauthorized},
	}, s.getMe)
	huma.Register(api, huma.Operation{
		OperationID: "login", Method: http.MethodGet, Path: "/auth/login", Tags: []string{"operations"},
		Summary: "Log in with a browser", Description: "Leads to / where no token is asked for; otherwise a page that says how to send one.",
		Responses: map[string]*huma.Response{
			"200": {Description: "A page.", Content: map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: "string"}}}},
			"302": {Description: "No token is asked for."},
		},
	}, s.login)
	huma.Register(api, huma.Operation{
		OperationID: "logout", Method: http.MethodPost, Path: "/auth/logout", Tags: []string{"operations"},
		Summary: "Log out", Description: "There is no session to end: always ok.",
	}, s.logout)
}

func (s *Server) getMe(context.Context, *struct{}) (*meReply, error) {
	if s.cfg.Guarded() {
		return nil, newError(http.StatusUnauthorized, "auth_required", "auth_required")
	}
	id := defaultTenant.String()
	return &meReply{Me{
		UserID: "standalone", TenantSlug: "local", IsOperator: true, OperatorEnabled: true, OperatorLive: true,
		ActingCluster: MyCluster{ID: id, Slug: "local"},
		Clusters:      []MyCluster{{ID: id, Slug: "local", Role: "admin", TenantSlug: "local", TenantID: id, Status: "active", CellSlug: "local"}},
		ActHeader:     "x-queen-act-cluster", Role: "admin", Standalone: true,
	}}, nil
}

func (s *Server) login(context.Context, *struct{}) (*loginReply, error) {
	if !s.cfg.Guarded() {
		return &loginReply{Status: http.StatusFound, Location: "/"}, nil
	}
	return &loginReply{Status: http.StatusOK, ContentType: "text/html; charset=utf-8", Body: []byte(loginPage)}, nil
}

func (s *Server) logout(context.Context, *struct{}) (*loggedOutReply, error) {
	return &loggedOutReply{LoggedOut{OK: true}}, nil
}
