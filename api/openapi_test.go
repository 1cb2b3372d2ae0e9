package api

import (
	"bytes"
	"os"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
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
		judge, errs := validator.NewValidator(parsed)
		require.Empty(t, errs)
		valid, findings := judge.ValidateDocument()
		for _, finding := range findings {
			t.Log(document.Path, finding.Message, finding.Reason)
			for _, detail := range finding.SchemaValidationErrors {
				t.Log(detail.FieldPath, detail.Reason)
			}
		}
		require.True(t, valid, document.Path)
	}
}
