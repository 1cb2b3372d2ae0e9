package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// maxLog is the size in bytes above which a start puts the log aside.
	maxLog = 16 << 20
	// quotedLines and quotedBytes bound what an error quotes of the log.
	quotedLines = 15
	quotedBytes = 16 << 10
)

// Server is a running PostgreSQL. Its methods may be called from any goroutine.
type Server struct {
	binDir, socketDir, password string
	port                        int
	tcp                         bool
	logPath                     string
	logFrom                     int64
	process                     *os.Process
	stopping                    atomic.Bool
	// exited is closed when the process is reaped, done when its lock and
	// its temporary folder are given back, too; err is set before both.
	exited, done chan struct{}
	err          error
}

// bootError is a server that ended before it was ready.
type bootError struct {
	cause error
	log   string
}

func (e *bootError) Error() string {
	if e.log == "" {
		return fmt.Sprintf("postgres ended: %v", e.cause)
	}
	return fmt.Sprintf("postgres ended: %v; its log says:\n%s", e.cause, e.log)
}

func (e *bootError) Unwrap() error { return e.cause }

// portTaken and leftovers tell the two failures that another try cures. The
// server's messages are in English, since the launcher sets lc_messages.
func (e *bootError) portTaken() bool {
	return strings.Contains(e.log, "could not create any TCP/IP sockets") ||
		strings.Contains(e.log, "Address already in use")
}

func (e *bootError) leftovers() bool {
	return strings.Contains(e.log, "pre-existing shared memory block")
}

// start launches until the server is ready or fails for a lasting reason.
func (l *launcher) start(ctx context.Context) (*Server, error) {
	deadline := time.Now().Add(leftoverGrace)
	// Waiting for what a killed server left behind is no reason for another port,
	// which whoever was connected would have to learn.
	for attempt := 1; ; {
		s, err := l.launch(ctx, attempt)
		if err == nil {
			return s, nil
		}
		var boot *bootError
		if !errors.As(err, &boot) || ctx.Err() != nil {
			return nil, err
		}
		switch {
		case boot.portTaken() && attempt < portAttempts:
			l.opts.Log.Warn("port was taken by another process, trying the next")
			attempt++
		case boot.leftovers() && time.Now().Before(deadline):
			time.Sleep(10 * pollEvery)
		default:
			return nil, err
		}
	}
}

// launch starts postgres once and waits until it is ready.
func (l *launcher) launch(ctx context.Context, attempt int) (*Server, error) {
	port, err := l.choosePort(attempt)
	if err != nil {
		return nil, err
	}
	s, err := l.spawn(port)
	if err != nil {
		return nil, err
	}
	if err := l.awaitReady(ctx, s); err != nil {
		return nil, err
	}
	if l.password == "" {
		if err := l.renewPassword(ctx, s); err != nil {
			return nil, errors.Join(err, s.abandon())
		}
	}
	s.password = l.password
	go func() {
		<-s.exited
		l.close()
		close(s.done)
	}()
	l.opts.Log.Info("PostgreSQL is ready", "pid", s.PID(), "dir", l.pgdata)
	return s, nil
}

func (l *launcher) spawn(port int) (*Server, error) {
	log, from, err := openLog(l.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	s := &Server{binDir: l.binDir, socketDir: l.socketDir, port: port, tcp: l.opts.TCP, logPath: l.log, logFrom: from,
		exited: make(chan struct{}), done: make(chan struct{})}
	cmd := l.command(context.Background(), "postgres", l.arguments(port)...)
	cmd.Stdout, cmd.Stderr = log, log
	started := make(chan error)
	go s.supervise(cmd, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("run postgres as user %s: %w", l.account.name, err)
	}
	return s, nil
}

// supervise starts the process and reaps it. The kernel signals the process
// when the thread that forked it ends, so this goroutine keeps its thread.
func (s *Server) supervise(cmd *exec.Cmd, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	s.process = cmd.Process
	started <- err
	if err != nil {
		return
	}
	err = cmd.Wait()
	if err == nil {
		err = errors.New("it was shut down by somebody else")
	}
	if !s.stopping.Load() {
		s.err = &bootError{cause: err, log: logSince(s.logPath, s.logFrom)}
	}
	close(s.exited)
}

// awaitReady leaves no process behind when it fails.
func (l *launcher) awaitReady(ctx context.Context, s *Server) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		pf, err := readPIDFile(l.pgdata)
		if err == nil && pf.pid == s.PID() && pf.state == "ready" {
			return nil
		}
		select {
		case <-s.exited:
			return s.err
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("wait until postgres is ready: %w", ctx.Err()), s.abandon())
		case <-tick.C:
		}
	}
}

// abandon stops a server that Start is not going to return.
func (s *Server) abandon() error {
	ctx, cancel := context.WithTimeout(context.Background(), quitGrace)
	defer cancel()
	return s.stop(ctx, s.exited)
}

// arguments are given on the command line, where no edited file overrides them.
func (l *launcher) arguments(port int) []string {
	settings := map[string]string{
		"max_connections":         strconv.Itoa(cmp.Or(l.opts.MaxConnections, defaultMaxConnections)),
		"port":                    strconv.Itoa(port),
		"listen_addresses":        "",
		"unix_socket_directories": l.socketDir,
		"unix_socket_permissions": "0700",
		"lc_messages":             "C",
		"logging_collector":       "off",
		"log_destination":         "stderr",
		"log_line_prefix":         "%m [%p] ",
	}
	if l.opts.TCP {
		settings["listen_addresses"] = "127.0.0.1"
	}
	for _, name := range durableSettings {
		settings[name] = map[bool]string{true: "on", false: "off"}[l.opts.Durable]
	}
	maps.Copy(settings, l.opts.Settings)
	args := []string{"-D", l.pgdata}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}

// choosePort asks the kernel, unless there is a wish and it was not refused
// yet. Without TCP the number only names the socket.
func (l *launcher) choosePort(attempt int) (int, error) {
	if attempt == 1 && l.opts.PreferPort != 0 {
		return l.opts.PreferPort, nil
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("ask for a free port: %w", err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().(*net.TCPAddr).Port, nil
}

// openLog appends to the log and returns where this start begins in it.
func openLog(path string) (*os.File, int64, error) {
	if st, err := os.Lstat(path); err == nil && st.Size() > maxLog {
		_ = os.Rename(path, path+".1")
	}
	f, err := openOwned(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return nil, 0, fmt.Errorf("open the server's log: %w", err)
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("open the server's log: %w", err)
	}
	return f, end, nil
}

// logSince returns the last lines of the log, none from before the offset.
func logSince(path string, from int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if st, err := f.Stat(); err == nil {
		from = max(from, st.Size()-quotedBytes)
	}
	text, _ := io.ReadAll(io.NewSectionReader(f, from, quotedBytes))
	return lastLines(string(text))
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-quotedLines):], "\n")
}

// DSN is the connection string for clients: loopback with the generated
// password when Options.TCP was set, else SocketDSN. It is a secret.
func (s *Server) DSN() string {
	if !s.tcp {
		return s.SocketDSN()
	}
	u := url.URL{Scheme: "postgres", User: url.UserPassword(superuser, s.password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + maintainDB, RawQuery: "sslmode=disable"}
	return u.String()
}

// SocketDSN is the connection string through the local socket, which asks for
// no password and lets in only the server's user and root.
func (s *Server) SocketDSN() string {
	q := url.Values{"host": {s.socketDir}, "port": {strconv.Itoa(s.port)}, "sslmode": {"disable"}}
	return "postgres://" + superuser + "@/" + maintainDB + "?" + q.Encode()
}

// WriteDSN replaces the file at path by one of mode 0600 that holds DSN and a
// newline.
func (s *Server) WriteDSN(path string) error {
	if err := writeSecret(path, s.DSN()+"\n"); err != nil {
		return fmt.Errorf("write the connection string: %w", err)
	}
	return nil
}

// BinDir is the folder of the server programs in use.
func (s *Server) BinDir() string { return s.binDir }

// PID is the number of the postmaster process.
func (s *Server) PID() int { return s.process.Pid }

// Port is the number of the loopback port; without Options.TCP it only names the
// socket.
func (s *Server) Port() int { return s.port }

// Done is closed when the server has ended, for whatever reason, and its data
// directory can be started again.
func (s *Server) Done() <-chan struct{} { return s.done }

// LogPath is the file that the server logs to.
func (s *Server) LogPath() string { return s.logPath }

// Err is nil while the server runs and after Stop. When the server ended by
// itself it says how, with the end of its log.
func (s *Server) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Stop ends the server: fast, which disconnects the clients and writes a
// checkpoint, and at once when ctx ends first. It then returns an error that
// matches ctx.Err(), though the server has ended and nothing committed is lost.
// On a server that has ended already it does nothing. Give ctx a deadline.
func (s *Server) Stop(ctx context.Context) error {
	return s.stop(ctx, s.done)
}

func (s *Server) stop(ctx context.Context, ended <-chan struct{}) error {
	s.stopping.Store(true)
	if err := s.signal(syscall.SIGINT); err != nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	if err := s.signal(syscall.SIGQUIT); err != nil {
		return err
	}
	select {
	case <-ended:
		return fmt.Errorf("stop PostgreSQL: cut short, it recovers on the next start: %w", ctx.Err())
	case <-time.After(quitGrace):
		return fmt.Errorf("stop PostgreSQL: process %d does not end: %w", s.PID(), ctx.Err())
	}
}

func (s *Server) signal(sig syscall.Signal) error {
	if err := s.process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	return nil
}
