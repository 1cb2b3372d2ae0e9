package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"regent.local/regent/db/embedded"
)

// StartServer starts a private, durable PostgreSQL in a temporary folder. stop
// ends it and removes the folder.
func StartServer(ctx context.Context, log *slog.Logger) (dsn string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "regent-bench-")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for PostgreSQL: %w", err)
	}
	// The server runs under another user when this process is root's.
	if err := os.Chmod(dir, 0o711); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	server, err := embedded.Start(ctx, embedded.Options{DataDir: filepath.Join(dir, "data"), Durable: true, Install: true, TCP: true,
		MaxConnections: 400, Log: log, Settings: map[string]string{"shared_buffers": "1GB", "max_wal_size": "8GB", "autovacuum": "on",
			"checkpoint_timeout": "30min"}})
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return server.DSN(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		// Nothing of it is kept, so a stop without the last checkpoint is fine.
		if err := server.Stop(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		return os.RemoveAll(dir)
	}, nil
}

// database is the one that a cell runs in.
type database struct {
	server, name, dsn string
}

// createDatabase makes an empty database on the server of dsn.
func createDatabase(ctx context.Context, dsn string) (*database, error) {
	name := "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:16]
	own, err := withDatabase(dsn, name)
	if err != nil {
		return nil, err
	}
	d := &database{server: dsn, name: name, dsn: own}
	if err := d.run(ctx, "CREATE DATABASE "+name); err != nil {
		return nil, fmt.Errorf("create a database for the cell: %w", err)
	}
	return d, nil
}

func (d *database) drop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := d.run(ctx, "DROP DATABASE IF EXISTS "+d.name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("drop the database of the cell: %w", err)
	}
	return nil
}

func (d *database) run(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, d.server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// withDatabase is dsn with another database name, in both forms of a
// connection string.
func withDatabase(dsn, name string) (string, error) {
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		return dsn + " dbname=" + name, nil
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return "", errors.New("--dsn is not a connection string")
	}
	u.Path = "/" + name
	return u.String(), nil
}
