package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"regent.local/regent/db"
)

// defaultExtension is how far a lease is extended when nobody says.
const defaultExtension = 60

// ExtendRequest is the body of an extension, for the document.
type ExtendRequest struct {
	Seconds int32 `json:"seconds,omitempty" default:"60" doc:"From now. Less than 1 acts as 1; a lease is never shortened." example:"120"`
}

// ExtendResponse tells how far the leases reach now.
type ExtendResponse struct {
	LeaseID        string     `json:"leaseId"`
	Success        bool       `json:"success" doc:"Whether any lease was extended. An expired one is not."`
	Renewed        int        `json:"renewed" doc:"Leases that were extended: one a partition."`
	NewExpiresAt   *time.Time `json:"newExpiresAt" nullable:"true" doc:"Earliest end among them."`
	ExpiresAt      *time.Time `json:"expiresAt" nullable:"true" doc:"The same."`
	LeaseExpiresAt *time.Time `json:"lease_expires_at" nullable:"true" doc:"The same."`
}

type extendInput struct {
	LeaseID string `path:"leaseId" doc:"As delivered." example:"01890a5d-ac96-7000-8000-7d9f3b1e4a52"`
	RawBody []byte
}

func (s *Server) registerLease(api huma.API) {
	body := jsonBody[ExtendRequest](api, "How far. Anything that is not understood is 60 seconds.", map[string]any{"seconds": 120})
	end := "2025-01-31T12:02:00.000000Z"
	huma.Register(api, s.op(huma.Operation{
		OperationID: "extend-lease", Method: http.MethodPost, Path: "/api/v1/lease/{leaseId}/extend", Tags: []string{"messages"},
		Summary: "Keep a lease", Description: "Extends every live lease under the id. It may be repeated safely.",
		SkipValidateBody: true, RequestBody: body,
		Responses: map[string]*huma.Response{"200": jsonReply[ExtendResponse](api, "What was extended.", map[string]any{
			"leaseId": "01890a5d-ac96-7000-8000-7d9f3b1e4a52", "success": true, "renewed": 1, "newExpiresAt": end, "expiresAt": end, "lease_expires_at": end})},
	}), s.extendLease)
	body.Required = false // an empty body is as good as any
}

func (s *Server) extendLease(ctx context.Context, in *extendInput) (*rawReply, error) {
	var row db.LeaseRow
	if idFault(in.LeaseID) == "" {
		args := db.ExtendLeaseParams{LeaseID: in.LeaseID, Seconds: extension(in.RawBody), TenantID: s.tenant(ctx)}
		err := s.call(ctx, func(ctx context.Context, q querier) (err error) {
			row, err = q.ExtendLease(ctx, args)
			return err
		})
		if err != nil {
			return nil, s.fail(ctx, "extend lease", err)
		}
	}
	return &rawReply{ContentType: "application/json", Body: renderExtension(in.LeaseID, row)}, nil
}

// extension reads the seconds. Such a call is never refused for its body.
func extension(body []byte) int32 {
	s := newScanner(body)
	seconds := int64(defaultExtension)
	err := s.document(func(name string) error {
		if name != "seconds" {
			return s.skip()
		}
		text, err := s.raw()
		if n, bad := strconv.ParseInt(text, 10, 64); bad == nil {
			seconds = n
		}
		return err
	})
	if err != nil {
		return defaultExtension
	}
	return int32(min(max(seconds, 1), 1<<31-1))
}

func renderExtension(lease string, row db.LeaseRow) []byte {
	end := []byte("null")
	if row.ExpiresAt != nil {
		end = append(row.ExpiresAt.UTC().AppendFormat([]byte{'"'}, stamp), '"')
	}
	out := appendText([]byte(`{"leaseId":`), lease)
	out = append(out, `,"success":`...)
	out = strconv.AppendBool(out, row.Renewed > 0)
	out = append(out, `,"renewed":`...)
	out = strconv.AppendInt(out, int64(row.Renewed), 10)
	for _, name := range []string{"newExpiresAt", "expiresAt", "lease_expires_at"} {
		out = append(out, `,"`...)
		out = append(out, name...)
		out = append(append(out, `":`...), end...)
	}
	return append(out, '}')
}
