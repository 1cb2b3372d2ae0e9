package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// docsPage renders the document in a browser without any outside help.
//
//go:embed docs.html
var docsPage []byte

// Document is one form of the OpenAPI document.
type Document struct {
	Path string // where the server offers it
	Type string // content type
	Make func(*huma.OpenAPI) ([]byte, error)
}

// Documents lists the forms: 3.1, and 3.0 for tools that are behind.
func Documents() []Document {
	return []Document{
		{"/openapi.json", "application/openapi+json", func(o *huma.OpenAPI) ([]byte, error) { return json.MarshalIndent(o, "", "  ") }},
		{"/openapi.yaml", "application/openapi+yaml", (*huma.OpenAPI).YAML},
		{"/openapi-3.0.json", "application/openapi+json", (*huma.OpenAPI).Downgrade},
		{"/openapi-3.0.yaml", "application/openapi+yaml", (*huma.OpenAPI).DowngradeYAML},
	}
}

// OpenAPI writes the document in the form that Documents names by path, without a database.
func OpenAPI(version, path string) ([]byte, error) {
	cfg := DefaultConfig()
	cfg.Version = version
	s, err := New(cfg, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, document := range Documents() {
		if document.Path == path {
			return document.Make(s.api.OpenAPI())
		}
	}
	return nil, fmt.Errorf("there is no document %q", path)
}

// serveDocuments offers the documents and the page that shows them.
func (s *Server) serveDocuments(mux *http.ServeMux) {
	for _, document := range Documents() {
		made := sync.OnceValues(func() ([]byte, error) { return document.Make(s.api.OpenAPI()) })
		mux.HandleFunc("GET "+document.Path, func(w http.ResponseWriter, r *http.Request) {
			body, err := made()
			if err != nil {
				answer(w, s.fail(r.Context(), "document", err))
				return
			}
			write(w, document.Type, body)
		})
	}
	mux.HandleFunc("GET /docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		write(w, "text/html; charset=utf-8", docsPage)
	})
}

func write(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(body)
}

// jsonReply documents an answer with a JSON body of type T.
func jsonReply[T any](api huma.API, description string, example any) *huma.Response {
	return &huma.Response{Description: description, Content: jsonContent[T](api, example)}
}

// jsonBody documents a request body of type T. Operations whose input has a
// RawBody field set SkipValidateBody as well: they read the bytes themselves.
func jsonBody[T any](api huma.API, description string, example any) *huma.RequestBody {
	content := jsonContent[T](api, example)
	return &huma.RequestBody{Description: description, Required: true, Content: content, Extensions: map[string]any{keptContent: content["application/json"]}}
}

// keptContent carries the content of a body past the framework, which puts a
// binary string in its place; finish puts it back.
const keptContent = "x-kept-content"

func jsonContent[T any](api huma.API, example any) map[string]*huma.MediaType {
	kind := reflect.TypeFor[T]()
	schema := api.OpenAPI().Components.Schemas.Schema(kind, true, kind.Name())
	return map[string]*huma.MediaType{"application/json": {Schema: schema, Example: example}}
}

// finish takes out of the document what the framework adds and we do not mean.
func finish(document *huma.OpenAPI) {
	for _, item := range document.Paths {
		for _, op := range operations(item) {
			finishOperation(op)
		}
	}
	for schema := range maps.Values(document.Components.Schemas.Map()) {
		permit(schema)
	}
}

// operations lists what a path answers.
func operations(item *huma.PathItem) []*huma.Operation {
	var found []*huma.Operation
	for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
		if op != nil {
			found = append(found, op)
		}
	}
	return found
}

func finishOperation(op *huma.Operation) {
	delete(op.Responses, "422")
	for status, response := range op.Responses {
		delete(response.Headers, "Content-Type")
		if status < "400" {
			delete(response.Headers, "Retry-After") // a reply that can be either has a field for it
		}
	}
	delete(op.Responses, "default")
	if op.RequestBody != nil {
		if kept, ok := op.RequestBody.Extensions[keptContent].(*huma.MediaType); ok {
			op.RequestBody.Content = map[string]*huma.MediaType{"application/json": kept}
		}
		delete(op.RequestBody.Extensions, keptContent)
	}
	if busy := op.Responses["503"]; busy != nil && op.Path != "/health" && op.Path != "/readyz" {
		busy.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait.", Schema: &huma.Schema{Type: "integer"}}}
	}
}

// permit removes "additionalProperties: true", which is what its absence means
// and which bloats generated clients.
func permit(schema *huma.Schema) {
	if schema == nil {
		return
	}
	if allowed, ok := schema.AdditionalProperties.(bool); ok && allowed {
		schema.AdditionalProperties = nil
	}
	permit(schema.Items)
	for _, property := range schema.Properties {
		permit(property)
	}
}
