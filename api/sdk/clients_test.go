// Package sdk tests the generated clients of other languages, where their tool
// chains are at hand, against a real server.
package sdk

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/api"
	"regent.local/regent/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func serve(t *testing.T) (url string) {
	t.Helper()
	cfg := api.DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize = dbtest.New(t).DSN, 8
	pool, err := api.OpenPool(context.Background(), cfg)
	require.NoError(t, err)
	server, err := api.New(cfg, pool, nil)
	require.NoError(t, err)
	server.Start(context.Background())
	web := httptest.NewServer(server.Handler())
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
		pool.Close()
	})
	return web.URL
}

// install runs what fetches a client's libraries. A machine that cannot has not
// the tool chain at hand.
func install(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not at hand", name)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("%s %v: %v\n%s", name, args, err, out)
	}
}

func run(t *testing.T, dir, url, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REGENT_URL="+url)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	install(t, "ts", "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	run(t, "ts", serve(t), "npm", "test")
}

func TestPythonClient(t *testing.T) {
	t.Parallel()
	venv := t.TempDir()
	install(t, ".", "python3", "-m", "venv", venv)
	python := filepath.Join(venv, "bin", "python")
	install(t, "python", python, "-m", "pip", "install", "--quiet", "httpx>=0.23.1,<0.29", "attrs>=22.2", "python-dateutil>=2.8")
	run(t, "python", serve(t), python, "-m", "unittest", "discover", "test")
}
