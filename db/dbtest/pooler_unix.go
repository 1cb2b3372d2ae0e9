//go:build unix

package dbtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Pooler is a pgbouncer in transaction mode, with far fewer server connections
// than clients may have. It ends with the test.
type Pooler struct {
	t       testing.TB
	path    string // the program
	dir     string
	target  *pgx.ConnConfig
	command *exec.Cmd
	life    interface{ Close() error }
}

// findPooler is the path of pgbouncer. As root on Debian it is installed when it
// is missing; where it cannot be had the test is skipped.
func findPooler(t testing.TB) string {
	t.Helper()
	look := func() string {
		for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer"} {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
		return ""
	}
	path := look()
	if path == "" && os.Getuid() == 0 {
		root, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
		require.NoError(t, err)
		out, err := exec.Command(filepath.Join(strings.TrimSpace(string(root)), ".tools", "install")).CombinedOutput()
		t.Logf("installing pgbouncer: %v\n%s", err, out)
		path = look()
	}
	if path == "" {
		t.Skip("there is no pgbouncer, and it cannot be installed here; on Debian: apt-get install pgbouncer")
	}
	return path
}

// StartPooler runs a pooler before the server of a connection.
func StartPooler(t testing.TB, target *pgx.ConnConfig) *Pooler {
	t.Helper()
	path := findPooler(t)
	dir, err := os.MkdirTemp("", "regent-pooler-")
	require.NoError(t, err)
	p := &Pooler{t: t, path: path, dir: dir, target: target}
	t.Cleanup(func() {
		p.end()
		os.RemoveAll(dir)
	})
	users := fmt.Sprintf("%q %q\n", target.User, target.Password)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "users"), []byte(users), 0o644))
	settings := fmt.Sprintf(`[databases]
* = host=%[1]s port=%[2]d
[pgbouncer]
listen_addr =
listen_port = 6543
unix_socket_dir = %[3]s
auth_type = trust
auth_file = %[3]s/users
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
server_login_retry = 1
logfile = %[3]s/log
pidfile = %[3]s/pid
`, target.Host, target.Port, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ini"), []byte(settings), 0o644))
	p.Start()
	return p
}

// Start starts it, again after Kill, and waits until it answers.
func (p *Pooler) Start() {
	p.t.Helper()
	// The pipe ends with this process, however that ends, and pgbouncer with the pipe.
	p.command = exec.Command("sh", "-c", `"$0" "$1" </dev/null & read -r end; kill $!; wait`, p.path, filepath.Join(p.dir, "ini"))
	life, err := p.command.StdinPipe()
	require.NoError(p.t, err)
	p.life = life
	if os.Getuid() == 0 { // which pgbouncer refuses to be; the owner of the socket may use it
		owner := syscall.Credential{Uid: 65534, Gid: 65534}
		if st, err := os.Stat(p.target.Host); err == nil {
			owner.Uid, owner.Gid = st.Sys().(*syscall.Stat_t).Uid, st.Sys().(*syscall.Stat_t).Gid
		}
		require.NoError(p.t, os.Chown(p.dir, int(owner.Uid), int(owner.Gid)))
		p.command.SysProcAttr = &syscall.SysProcAttr{Credential: &owner}
	}
	require.NoError(p.t, p.command.Start())
	require.Eventually(p.t, func() bool {
		conn, err := pgx.Connect(context.Background(), p.DSN(p.target.Database))
		if err != nil {
			return false
		}
		return conn.Close(context.Background()) == nil
	}, 30*time.Second, 20*time.Millisecond, "pgbouncer answers")
}

// Kill kills it with -9 and waits until it is gone.
func (p *Pooler) Kill() {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "pid"))
	require.NoError(p.t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(p.t, err)
	require.NoError(p.t, syscall.Kill(pid, syscall.SIGKILL))
	p.end()
	for _, left := range []string{"pid", ".s.PGSQL.6543", ".s.PGSQL.6543.lock"} {
		_ = os.Remove(filepath.Join(p.dir, left))
	}
}

func (p *Pooler) end() {
	if p.life != nil {
		_ = p.life.Close()
		_ = p.command.Wait()
		p.life = nil
	}
}

// DSN leads to a database through the pooler.
func (p *Pooler) DSN(database string) string {
	query := url.Values{"host": {p.dir}, "port": {"6543"}, "sslmode": {"disable"}}
	return "postgres://" + url.PathEscape(p.target.User) + "@/" + database + "?" + query.Encode()
}
