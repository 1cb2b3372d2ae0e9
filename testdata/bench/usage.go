package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// clockTicks is how many ticks of /proc/*/stat make a second on Linux.
const clockTicks = 100

// usage is a reading of what the database has spent so far; nil: not readable.
type usage struct {
	wal, stored *float64
	server      *float64          // seconds of the server, when it is a process of its own
	cpu         map[int32]float64 // seconds by process
}

// cpuSince is what the processes of both readings used in between.
func (u usage) cpuSince(before usage) *float64 {
	var sum float64
	var known bool
	for pid, seconds := range u.cpu {
		if earlier, was := before.cpu[pid]; was {
			sum, known = sum+seconds-earlier, true
		}
	}
	if !known {
		return nil
	}
	return &sum
}

// meter reads a database through a connection of its own.
type meter struct {
	conn    *pgx.Conn
	version string
}

func openMeter(ctx context.Context, dsn string) (*meter, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &meter{conn: conn, version: conn.PgConn().ParameterStatus("server_version")}, nil
}

func (m *meter) close() { _ = m.conn.Close(context.Background()) }

// settle brings the database to a known state: statistics as autovacuum would
// leave them, and a checkpoint where the role may ask for one.
func (m *meter) settle(ctx context.Context, vacuum bool) error {
	if vacuum {
		if _, err := m.conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
			return fmt.Errorf("vacuum: %w", err)
		}
	}
	var allowed bool
	err := m.conn.QueryRow(ctx, `SELECT rolsuper OR pg_has_role(current_user, 'pg_checkpoint', 'MEMBER')
		FROM pg_roles WHERE rolname = current_user`).Scan(&allowed)
	if err != nil || !allowed {
		return err
	}
	if _, err := m.conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// read takes a reading.
func (m *meter) read(ctx context.Context) (usage, error) {
	var u usage
	err := m.conn.QueryRow(ctx, `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8,
		(SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		 WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema'))`).Scan(&u.wal, &u.stored)
	if err != nil {
		return usage{}, fmt.Errorf("read WAL position and sizes: %w", err)
	}
	rows, err := m.conn.Query(ctx, "SELECT pid FROM pg_stat_activity")
	if err != nil {
		return usage{}, fmt.Errorf("read the server's processes: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
	if err != nil {
		return usage{}, fmt.Errorf("read the server's processes: %w", err)
	}
	u.cpu = cpuSeconds(pids)
	return u, nil
}

// ProcessSeconds is the processor time that a process of this machine has used so far.
func ProcessSeconds(pid int) (float64, error) {
	ticks, _, err := readTicks(pid)
	return ticks / clockTicks, err
}

// cpuSeconds is what each process has used so far, nil when they are not on
// this machine, which their names tell.
func cpuSeconds(pids []int32) map[int32]float64 {
	used := make(map[int32]float64, len(pids))
	for _, pid := range pids {
		ticks, err := processTicks(pid)
		switch {
		case errors.Is(err, fs.ErrNotExist): // ended meanwhile
		case err != nil:
			return nil
		default:
			used[pid] = ticks / clockTicks
		}
	}
	return used
}

// processTicks reads a process of PostgreSQL.
func processTicks(pid int32) (float64, error) {
	ticks, name, err := readTicks(int(pid))
	if err == nil && !strings.HasSuffix(name, "(postgres") {
		return 0, fmt.Errorf("process %d is not a server of this machine", pid)
	}
	return ticks, err
}

func readTicks(pid int) (ticks float64, name string, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, "", err
	}
	name, rest, found := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !found || len(fields) < 13 {
		return 0, "", fmt.Errorf("process %d is not one of this machine", pid)
	}
	user, err := strconv.ParseFloat(fields[11], 64)
	if err != nil {
		return 0, "", err
	}
	system, err := strconv.ParseFloat(fields[12], 64)
	return user + system, name, err
}
