// Package sdk tests the generated clients of other languages, where their tool
// chains are at hand, against a real server.
package sdk

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/api"
	"regent.local/regent/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

func serve(t *testing.T) (url string) {
	t.Helper()
	return serveOn(t, func(cfg *api.Config) { cfg.DatabaseURL, cfg.PoolSize = dbtest.New(t).DSN, 8 })
}

// serveOn starts a server with another configuration.
func serveOn(t *testing.T, change func(*api.Config)) (url string) {
	t.Helper()
	cfg := api.DefaultConfig()
	change(&cfg)
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

// A toolChain is what runs the client of a language. It is fetched once, and the
// client built; why it cannot be had is in lacks, why the client cannot be built
// in broken.
type toolChain struct {
	dir           string // of the client
	fetch         [][]string
	build         []string
	once          sync.Once
	lacks, broken string
}

var (
	node = toolChain{dir: "ts", build: []string{"npm", "run", "--silent", "build"},
		fetch: [][]string{{"npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"}}}
	snake = toolChain{dir: "python", fetch: [][]string{{"python3", "-m", "venv", filepath.Dir(filepath.Dir(snakeProgram))},
		{snakeProgram, "-m", "pip", "install", "--quiet", "httpx>=0.23.1,<0.29", "attrs>=22.2", "python-dateutil>=2.8"}}}
	// snakeProgram is Python with its libraries, seen from the client's folder.
	snakeProgram = filepath.Join("..", "..", "..", ".cache", "python", "bin", "python")
)

// run runs a program of the client in its folder and returns what it prints, and
// why it was not run where the tool chain is not at hand.
func (c *toolChain) run(t *testing.T, url, program string, args ...string) (out, lacks string) {
	t.Helper()
	c.once.Do(c.prepare)
	if c.lacks != "" {
		return "", c.lacks
	}
	require.Empty(t, c.broken)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "REGENT_URL="+url)
	printed, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	return string(printed), ""
}

func (c *toolChain) prepare() {
	for _, command := range c.fetch {
		if c.lacks = c.fault(command); c.lacks != "" {
			return
		}
	}
	if c.build != nil {
		c.broken = c.fault(c.build)
	}
}

// fault runs a command and says what went wrong, "" for nothing.
func (c *toolChain) fault(command []string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = c.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v: %v\n%s", command, err, out)
	}
	return ""
}

func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	if _, lacks := node.run(t, serve(t), "node", "--test", "test/"); lacks != "" {
		t.Skip(lacks)
	}
}

func TestPythonClient(t *testing.T) {
	t.Parallel()
	if _, lacks := snake.run(t, serve(t), snakeProgram, "-m", "unittest", "discover", "test"); lacks != "" {
		t.Skip(lacks)
	}
}
