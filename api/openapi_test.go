package api

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

func TestCommittedDocumentIsTheServers(t *testing.T) {
	t.Parallel()
	made, err := OpenAPI("dev", "/openapi.yaml")
	require.NoError(t, err)
	committed, err := os.ReadFile("openapi.yaml")
	require.NoError(t, err)
	require.Equal(t, string(bytes.TrimSpace(committed)), string(bytes.TrimSpace(made)), "run make generate")

	ts := newTestServer(t, func(c *Config) { c.Version = "dev" })
	require.Equal(t, string(bytes.TrimSuffix(made, []byte{'\n'})), string(ts.get("/openapi.yaml").Body))
}

func TestEveryOperationIsDescribed(t *testing.T) {
	t.Parallel()
	s, err := New(DefaultConfig(), nil, nil)
	require.NoError(t, err)
	for path, item := range s.api.OpenAPI().Paths {
		for _, op := range operations(item) {
			require.NotEmpty(t, op.Summary, path)
			require.NotEmpty(t, op.Tags, path)
			require.NotContains(t, op.Responses, "422", path)
			require.NotContains(t, op.Responses, "default", path)
			for status, response := range op.Responses {
				require.NotEmpty(t, response.Description, path+" "+status)
			}
			if op.RequestBody != nil {
				require.NotNil(t, op.RequestBody.Content["application/json"], path)
				require.Contains(t, op.Responses, "413", path)
			}
		}
	}
}

func TestDocumentsSatisfyAValidatorThatIsNotOurs(t *testing.T) {
	t.Parallel()
	for _, document := range Documents() {
		text, err := OpenAPI("dev", document.Path)
		require.NoError(t, err)
		parsed, err := libopenapi.NewDocument(text)
		require.NoError(t, err)
		_, err = parsed.BuildV3Model()
		require.NoError(t, err)
		// What its Validator does, without compiling every schema first, for requests.
		valid, findings := schema_validation.ValidateOpenAPIDocument(parsed)
		for _, finding := range findings {
			t.Log(document.Path, finding.Message, finding.Reason)
			for _, detail := range finding.SchemaValidationErrors {
				t.Log(detail.FieldPath, detail.Reason)
			}
		}
		require.True(t, valid, document.Path)
	}
}

// Every body of the document, asked or answered, has an example that fits its
// schema, formats included.
func TestEveryBodyHasAnExample(t *testing.T) {
	t.Parallel()
	document := theContract().document
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	require.NoError(t, compiler.AddResource("mem://openapi.json", document))
	used := map[string]bool{}
	checkBodies := func(at, status string, body any) {
		content, _ := body.(map[string]any)["content"].(map[string]any)
		for kind, each := range content {
			media := each.(map[string]any)
			where := at + "/content/" + escape(kind) + "/schema"
			example, known := media["example"]
			if !known {
				require.Contains(t, media, "examples", where)
				ref := media["examples"].(map[string]any)["error"].(map[string]any)["$ref"].(string)
				name := strings.TrimPrefix(ref, "#/components/examples/")
				require.Equal(t, "error-"+status, name, where)
				used[name] = true
				example = document["components"].(map[string]any)["examples"].(map[string]any)[name].(map[string]any)["value"]
			}
			schema, err := compiler.Compile("mem://openapi.json" + where)
			require.NoError(t, err, where)
			require.NoError(t, schema.Validate(example), where)
		}
	}
	operationIDs := map[string]bool{}
	for path, item := range document["paths"].(map[string]any) {
		for method, each := range item.(map[string]any) {
			op := each.(map[string]any)
			at := "#/paths/" + escape(path) + "/" + method
			if body, ok := op["requestBody"]; ok {
				checkBodies(at+"/requestBody", "", body)
			}
			operationIDs[op["operationId"].(string)] = true
			for status, response := range op["responses"].(map[string]any) {
				operationIDs[op["operationId"].(string)+" "+status] = true
				checkBodies(at+"/responses/"+status, status, response)
			}
		}
	}
	var taken map[string]any
	require.NoError(t, json.Unmarshal(examplesFile, &taken))
	for name := range taken {
		require.True(t, operationIDs[name], "%s names no operation or status", name)
	}
	for status := range exampleErrors {
		require.True(t, used["error-"+status], status)
	}
}
