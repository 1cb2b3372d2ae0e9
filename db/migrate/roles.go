package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// sqlRoles makes the roles of the house, which nobody can log in as. Roles
// belong to the whole cluster: another database's migration may be quicker.
const sqlRoles = `DO $regent$
DECLARE
    v_role text;
BEGIN
    FOREACH v_role IN ARRAY ARRAY['queen_reader', 'queen_writer', 'queen_admin', 'queen_server'] LOOP
        IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = v_role) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', v_role);
        END IF;
    END LOOP;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL;
END
$regent$`

// grantsFolder holds the function files that grant to the roles.
const grantsFolder = "999_grants/"

// Roles makes queen_reader, queen_writer, queen_admin and queen_server where
// they are missing, and grants them what is theirs in the database at dsn, when
// its schema is there already; otherwise Up grants. It may be repeated. Making
// a role needs CREATEROLE; granting needs the role that owns the schema, or a
// superuser. A nil log discards the progress lines.
//
// It returns what Up returns when it refuses.
func Roles(ctx context.Context, dsn string, log *slog.Logger) (err error) {
	src, err := builtin()
	if err != nil {
		return err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s, err := openSession(ctx, dsn)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.lock(ctx, log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.unlock(ctx)) }()
	return s.applyRoles(ctx, log, src)
}

func (s *session) applyRoles(ctx context.Context, log *slog.Logger, src source) error {
	want, err := src.read()
	if err != nil {
		return err
	}
	have, err := readState(ctx, s.conn)
	if err != nil {
		return err
	}
	if have.release > 0 {
		if err := have.compare(want); err != nil {
			return err
		}
	}
	// A lost race ends the loop early; the second run makes the rest.
	for range 2 {
		if _, err := s.conn.Exec(ctx, sqlRoles); err != nil {
			return fmt.Errorf("create the roles: %w", err)
		}
	}
	if have.release == 0 {
		log.InfoContext(ctx, "the roles are there; regent migrate up grants them what is theirs")
		return nil
	}
	for _, f := range want.files {
		if strings.HasPrefix(f.path, grantsFolder) {
			if _, err := s.conn.Exec(ctx, f.text); err != nil {
				return fmt.Errorf("grant to the roles (%s): %w", f.path, err)
			}
		}
	}
	log.InfoContext(ctx, "the roles have their grants")
	return nil
}
