package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// absurd numbers are no 64-bit integers, some not even what PostgreSQL's numeric holds.
var absurd = []string{"1e999999", "-1e400", "1e-999999", "9223372036854775808", "-9223372036854775809", "0.5"}

// TestAbsurdNumbersEverywhere puts them into every parameter and every number of
// every body that the document names: a 400 of ours, or an answer, never a fault
// or a word of PostgreSQL's.
func TestAbsurdNumbersEverywhere(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	ts.pushOne("q", "p", `1`)
	tried := 0
	try := func(method, target, body string) {
		t.Helper()
		r := ts.send(method, target, body)
		tried++
		require.Less(t, r.Status, http.StatusInternalServerError, "%s %s %.200s: %s", method, target, body, r.Body)
		if r.Status == http.StatusBadRequest {
			require.Equal(t, "QN400", r.failure(t).Code, "%s %s %.200s: %s", method, target, body, r.Body)
		}
	}
	var document struct {
		Paths map[string]map[string]struct {
			Parameters  []struct{ Name, In string }
			RequestBody *struct {
				Content map[string]struct{ Schema schemaNode }
			}
		}
		Components struct{ Schemas map[string]schemaNode }
	}
	text, err := OpenAPI("test", "/openapi.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &document))
	for path, item := range document.Paths {
		for method, op := range item {
			method, target := strings.ToUpper(method), path
			for _, p := range op.Parameters {
				if p.In == "path" {
					target = strings.ReplaceAll(target, "{"+p.Name+"}", map[bool]string{true: "q", false: "x"}[p.Name == "queue"])
				}
			}
			for _, p := range op.Parameters {
				if p.In != "query" {
					continue
				}
				for _, number := range absurd {
					try(method, target+"?"+p.Name+"="+number, "")
				}
				// What cannot be read is refused by name, not left out.
				r := ts.send(method, target+"?"+p.Name+"=%zz", "")
				require.Equal(t, http.StatusBadRequest, r.Status, "%s %s: %s", target, p.Name, r.Body)
				require.Equal(t, p.Name, r.failure(t).Invalid, "%s: %s", target, r.Body)
			}
			if op.RequestBody == nil {
				continue
			}
			for _, body := range op.RequestBody.Content["application/json"].Schema.spoilt(document.Components.Schemas, 0) {
				for _, number := range absurd {
					try(method, target, strings.ReplaceAll(body, `"NUMBER"`, number))
				}
			}
		}
	}
	require.Greater(t, tried, 300)
}

// schemaNode is as much of a JSON schema as such a body needs.
type schemaNode struct {
	Ref        string `json:"$ref"`
	Type       any
	Properties map[string]schemaNode
	Required   []string
	Items      *schemaNode
	Enum       []any
}

func (n schemaNode) is(kind string) bool { return strings.Contains(fmt.Sprint(n.Type), kind) }

// spoilt are documents of the schema, each with one number replaced by "NUMBER".
func (n schemaNode) spoilt(known map[string]schemaNode, depth int) (out []string) {
	if name, ok := strings.CutPrefix(n.Ref, "#/components/schemas/"); ok {
		n = known[name]
	}
	switch {
	case depth > 6:
	case n.is("integer"), n.is("number"):
		out = append(out, `"NUMBER"`)
	case n.is("array") && n.Items != nil:
		for _, one := range n.Items.spoilt(known, depth+1) {
			out = append(out, "["+one+"]")
		}
	case n.is("object"):
		for name, property := range n.Properties {
			for _, one := range property.spoilt(known, depth+1) {
				members := []string{fmt.Sprintf("%q:%s", name, one)}
				for _, other := range n.Required {
					if other != name {
						members = append(members, fmt.Sprintf("%q:%s", other, n.Properties[other].plain(known, depth+1)))
					}
				}
				out = append(out, "{"+strings.Join(members, ",")+"}")
			}
		}
	}
	return out
}

// plain is the least document of the schema.
func (n schemaNode) plain(known map[string]schemaNode, depth int) string {
	if name, ok := strings.CutPrefix(n.Ref, "#/components/schemas/"); ok {
		n = known[name]
	}
	switch {
	case depth > 6:
	case n.is("array"):
		return "[]"
	case n.is("object"):
		var members []string
		for _, name := range n.Required {
			members = append(members, fmt.Sprintf("%q:%s", name, n.Properties[name].plain(known, depth+1)))
		}
		return "{" + strings.Join(members, ",") + "}"
	case n.is("integer"), n.is("number"):
		return "1"
	case n.is("boolean"):
		return "true"
	case len(n.Enum) > 0:
		return fmt.Sprintf("%q", n.Enum[0])
	}
	return `"q"`
}
