package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"regent.local/regent/api"
	"regent.local/regent/db/migrate"
)

// ownDatabase is a database on the shared server that no server works on.
func ownDatabase(t *testing.T, name string) (dsn string, conn *pgx.Conn) {
	t.Helper()
	base := shared.get(t).dsn(t)
	admin, err := pgx.Connect(t.Context(), base)
	require.NoError(t, err)
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	u, err := url.Parse(base)
	require.NoError(t, err)
	u.Path = "/" + name
	conn, err = pgx.Connect(t.Context(), u.String())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close(context.Background())
		_, err := admin.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
		require.NoError(t, err)
	})
	return u.String(), conn
}

func execAll(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
}

// What the command adds to the function: the binary against the database, exit
// codes, and what is set for the whole server, for which it runs alone.
func TestDoctorCommand(t *testing.T) {
	dsn, conn := ownDatabase(t, "doctor_command")
	// A slow machine may need longer than a minute from one look to the next.
	maintained := func() { execAll(t, conn, `CALL queen.run_maintenance_v1()`) }
	doctor := func(code int, check string) *finding {
		t.Helper()
		if code == 0 {
			maintained()
		}
		got := call(t, "", "doctor", "--dsn", dsn, "-o", "json")
		require.Equal(t, code, got.code, "%s%s", got.out, got.err)
		var d diagnosis
		require.NoError(t, json.Unmarshal([]byte(got.out), &d))
		require.Equal(t, code == 0, d.Healthy)
		require.NotContains(t, got.out, "null")
		require.Equal(t, len(d.Findings), d.Errors+d.Warnings+d.Notes)
		for _, f := range d.Findings {
			if f.Check == check {
				return &f
			}
		}
		return nil
	}
	migrated := func() { require.Equal(t, 0, call(t, "", "migrate", "up", "--dsn", dsn).code) }
	require.Equal(t, "regent migrate up", doctor(5, "functions").Statement)
	for _, args := range [][]string{{"queue", "list"}, {"key", "list"}} {
		got := call(t, "", append(args, "--dsn", dsn)...)
		require.Equal(t, exitUser, got.code, args)
		require.Contains(t, got.err, "run regent migrate up", args)
	}
	migrated()
	require.Contains(t, doctor(5, "settler").Finding, "never run")
	execAll(t, conn, doctor(5, "settler").Statement)
	require.Nil(t, doctor(0, ""))
	maintained()
	require.Equal(t, "nothing is wrong\n", call(t, "", "doctor", "--dsn", dsn, "-o", "table").out)

	for name, sql := range map[string]string{
		"another build": `UPDATE queen.schema_functions SET hash = 'x'`,
		"by hand":       `CREATE OR REPLACE FUNCTION queen._draw_nonce() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT 4::bigint $$`,
	} {
		execAll(t, conn, sql)
		f := doctor(5, "functions")
		require.Contains(t, f.Finding, name)
		require.Equal(t, "regent migrate up", f.Statement)
		migrated()
		require.Nil(t, doctor(0, ""), name)
	}

	execAll(t, conn, `ALTER SYSTEM SET autovacuum = off`, `SELECT pg_reload_conf()`)
	var f *finding
	require.Eventually(t, func() bool {
		var show string
		return conn.QueryRow(t.Context(), `SHOW autovacuum`).Scan(&show) == nil && show == "off"
	}, time.Minute, 20*time.Millisecond)
	f = doctor(5, "autovacuum")
	maintained()
	got := call(t, "", "doctor", "--dsn", dsn, "-o", "table")
	require.Contains(t, got.out, "error    autovacuum: the server\n")
	require.Contains(t, got.out, "\n         > SELECT pg_reload_conf();\n")
	require.Contains(t, got.err, "1 error and 0 warnings")
	execAll(t, conn, strings.Split(f.Statement, "\n")...)
	require.Eventually(t, func() bool {
		_, err := conn.Exec(t.Context(), `CALL queen.run_maintenance_v1()`)
		return err == nil && call(t, "", "doctor", "--dsn", dsn).code == 0
	}, time.Minute, 20*time.Millisecond)

	execAll(t, conn, `SELECT queen.configure_queue_v1('big')`, `INSERT INTO queen.queue_size_history (queue_id, hour_at, retained_bytes, segment_count)
		SELECT q.id, now() - n * interval '1 hour', 100000000 - n * 1000000, 1 FROM queen.queues q, generate_series(1, 20) n`)
	maintained()
	require.Equal(t, 0, call(t, "", "doctor", "--dsn", dsn).code, "100 GiB are far away")
	require.Contains(t, call(t, "", "doctor", "--dsn", dsn, "--size", "200MB", "-o", "ndjson").out, "191 MB in 4 days")
}

func TestDoctorComparesVersions(t *testing.T) {
	t.Parallel()
	for want, st := range map[string]migrate.Status{
		"":                                  {Release: 1, FunctionsCurrent: true, State: "current"},
		"warning functions release 9":       {Release: 9, State: "ahead"},
		"error functions schema queen up":   {Release: 1, Pending: []int64{7}, State: "behind"},
		"error functions release 1 UPDATE;": {Release: 1, Extension: true, State: "behind"},
	} {
		found := schemaFindings(st)
		if want == "" {
			require.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		words := strings.Fields(found[0].Statement)
		last := ""
		if len(words) > 0 {
			last = " " + words[len(words)-1]
		}
		require.Equal(t, want, found[0].Severity+" "+found[0].Check+" "+found[0].Object+last)
	}
}

func TestDoctorComparesClocks(t *testing.T) {
	t.Parallel()
	c, err := openOperator(t.Context(), &cobra.Command{}, shared.get(t).dsn(t))
	require.NoError(t, err)
	defer c.Close()
	for skew, says := range map[time.Duration]string{5 * time.Second: "s behind that of", -5 * time.Second: "s ahead of that of", 0: ""} {
		found, err := c.clockFinding(t.Context(), func() time.Time { return time.Now().Add(skew) })
		require.NoError(t, err)
		if skew == 0 {
			require.Empty(t, found)
			continue
		}
		require.Len(t, found, 1)
		require.Contains(t, found[0].Finding, says)
	}
}

// A role without the right is told so, with exit code 3.
func TestOperatorCommandsOfPlainRole(t *testing.T) {
	t.Parallel()
	dsn, conn := ownDatabase(t, "plain_role")
	require.Equal(t, 0, call(t, "", "migrate", "up", "--dsn", dsn).code)
	execAll(t, conn, `CREATE ROLE plain_role LOGIN PASSWORD 'plain'`, `GRANT USAGE ON SCHEMA queen TO plain_role`)
	t.Cleanup(func() {
		_, err := conn.Exec(context.Background(), `DROP OWNED BY plain_role; DROP ROLE plain_role`, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	})
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	query := u.Query()
	query.Set("role", "plain_role")
	u.RawQuery = query.Encode()
	for _, command := range []string{"doctor", "verify", "queue list", "key list", "pop q"} {
		got := call(t, "", append(strings.Fields(command), "--dsn", u.String())...)
		require.Equal(t, 3, got.code, "%s: %s", command, got.err)
		require.Contains(t, got.err, "queen_admin")
	}
	require.Equal(t, 3, call(t, "", "migrate", "status", "--dsn", u.String()).code)
	execAll(t, conn, `GRANT EXECUTE ON FUNCTION queen.doctor_v1, queen.list_verify_ranges_v1, queen.verify_partitions_v1 TO plain_role`, `CALL queen.run_maintenance_v1()`)
	got := call(t, "", "doctor", "--dsn", u.String(), "-o", "json")
	require.Contains(t, []int{0, exitCheck}, got.code, got.err) // other tests may make roles that lack rights here
	require.Contains(t, got.out, "may not read which version")
	got = call(t, "", "verify", "--dsn", u.String(), "-o", "json")
	require.Equal(t, 0, got.code, got.err)
	require.Contains(t, got.out, `"skipped": "rows that belong to no partition were not looked for`)
}

func TestVerifyCommand(t *testing.T) {
	t.Parallel()
	dsn, conn := ownDatabase(t, "verify_command")
	verify := func(code int) (v verdict, text string) {
		t.Helper()
		got := call(t, "", "verify", "--dsn", dsn, "-o", "json")
		require.Equal(t, code, got.code, "%s%s", got.out, got.err)
		require.NoError(t, json.Unmarshal([]byte(got.out), &v))
		return v, got.err
	}
	require.Contains(t, call(t, "", "verify", "--dsn", dsn).err, "run regent migrate up")
	require.Equal(t, 0, call(t, "", "migrate", "up", "--dsn", dsn).code)
	v, _ := verify(0)
	require.Equal(t, verdict{Sound: true, Complete: true, Breaches: []breach{}}, v)
	execAll(t, conn, `SELECT queen.push_v1('q', to_json(n), 'p' || n % 3) FROM generate_series(1, 30) n`)
	v, _ = verify(0)
	require.Equal(t, verdict{Sound: true, Complete: true, Partitions: 3, Offsets: 30, Breaches: []breach{}}, v)
	require.Equal(t, "all is well: 3 partitions with 30 offsets read\n", call(t, "", "verify", "--dsn", dsn, "-o", "table").out)

	const ofP1 = `(SELECT id FROM queen.log_partitions WHERE name = 'p1')`
	execAll(t, conn, `UPDATE queen.log_txns SET hashes = '{7}' WHERE base_offset IN (0, 5, 9) AND partition_id = `+ofP1,
		`UPDATE queen.log_partitions SET removed_frames = 1 WHERE name = 'p2'`,
		`INSERT INTO queen.log_txns SELECT gen_random_uuid(), 0, 0, now(), '{1}', 'a', 'a', 'a'`)
	v, text := verify(5)
	require.Contains(t, text, "5 breaches")
	table := call(t, "", "verify", "--dsn", dsn, "-o", "table").out
	require.Contains(t, table, "hash rows of a partition that does not exist")
	require.Contains(t, table, "5 breaches: 3 partitions with 30 offsets read")

	// In pieces of any size the same is found, each breach once.
	for window := int64(1); window < 12; window += 3 {
		c, err := openOperator(t.Context(), &cobra.Command{}, dsn)
		require.NoError(t, err)
		pieces := &verifier{client: c, window: window, progress: &bytes.Buffer{}}
		require.NoError(t, pieces.run(t.Context()))
		c.Close()
		require.ElementsMatch(t, v.Breaches, pieces.verdict.Breaches, "window %d", window)
	}
	execAll(t, conn, `UPDATE queen.log_txns SET hashes = '{7}'`, `INSERT INTO queen.log_dlq (partition_id, consumer_group, "offset", message_id, transaction_id)
		SELECT id, 'g', 99, gen_random_uuid(), n::text FROM queen.log_partitions, generate_series(1, 400) n`)
	v, _ = verify(5)
	require.False(t, v.Complete, "a database with so many breaches is read no further")
}

// Pushes, pops and retention go on while everything is read again and again.
func TestVerifyWhileOthersWrite(t *testing.T) {
	t.Parallel()
	dsn, conn := ownDatabase(t, "verify_live")
	require.Equal(t, 0, call(t, "", "migrate", "up", "--dsn", dsn).code)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		writer, err := pgx.Connect(ctx, dsn)
		for n := 0; err == nil && ctx.Err() == nil; n++ {
			_, err = writer.Exec(ctx, `SELECT queen.push_many_v1('live', ARRAY(SELECT to_json(i) FROM generate_series(1, 7) i), ARRAY(SELECT 'p' || (i + $1) % 3 FROM generate_series(1, 7) i))`, n)
			if err == nil && n%3 == 0 {
				_, err = writer.Exec(ctx, `SELECT queen.pop_v1('live', 5, 'g', p_auto_ack => $1, p_subscription_mode => 'all')`, n%2 == 0)
			}
			if err == nil && n%5 == 0 {
				_, err = writer.Exec(ctx, `SELECT queen._move_log_start(p.id, p.log_start + 3) FROM queen.log_partitions p WHERE p.name = 'p1' FOR NO KEY UPDATE`)
			}
		}
		if writer != nil {
			_ = writer.Close(context.Background())
		}
		done <- err
	}()
	c, err := openOperator(t.Context(), &cobra.Command{}, dsn)
	require.NoError(t, err)
	defer c.Close()
	require.Eventually(t, func() bool {
		var there bool
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM queen.log_segments)`).Scan(&there))
		return there
	}, 20*time.Second, time.Millisecond, "the writer writes")
	var last verdict
	for range 15 {
		v := &verifier{client: c, window: 10, progress: &bytes.Buffer{}}
		require.NoError(t, v.run(t.Context()))
		require.Empty(t, v.verdict.Breaches)
		last = v.verdict
	}
	stop()
	if err := <-done; ctx.Err() == nil {
		require.NoError(t, err)
	}
	require.Positive(t, last.Offsets, "something was read")
	var n int64
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM queen.log_segments`).Scan(&n))
	require.Positive(t, n)
}

func TestTop(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := "top-" + name
			require.Equal(t, 0, call(t, "{\"n\":1}\n{\"n\":2}\n", with(face, "push", queue)...).code)
			require.Equal(t, 0, call(t, "", with(face, "pop", queue, "--group", "crew", "--from", "all", "--auto-ack")...).code)
			var got result
			var f frame
			// Over HTTP what is pending is counted by a loop.
			require.Eventually(t, func() bool {
				got = call(t, "", with(face, "top", "--once", "-o", "json")...)
				if got.code != 0 || json.Unmarshal([]byte(got.out), &f) != nil {
					return false
				}
				for _, q := range f.Queues {
					if q.Queue == queue {
						return q == topQueue{Queue: queue, Partitions: 1, Messages: 2, Pending: 1, Bytes: q.Bytes}
					}
				}
				return false
			}, time.Minute, 200*time.Millisecond, got.err)
			require.Contains(t, got.out, `"queue": "`+queue+`"`)
			require.Contains(t, got.out, `"group": "crew"`)
			piped := call(t, "", with(face, "top", "--once")...).out
			require.Equal(t, 1, strings.Count(piped, "\n"), "one document on one line: %s", piped)
			require.NoError(t, json.Unmarshal([]byte(piped), &f))
			require.Regexp(t, `(?m)^`+queue+` +1 +2 +1 +0 +- +[0-9]+B$`, call(t, "", with(face, "top", "--once", "-o", "table")...).out)
		})
	}
}

// It looks again and again, and an interrupt ends it well.
func TestTopUntilInterrupted(t *testing.T) {
	t.Parallel()
	cmd := program(t, "top", "--interval", "100ms", "--url", shared.get(t).url)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var frames []frame
	for len(frames) < 2 && lines.Scan() {
		var f frame
		require.NoError(t, json.Unmarshal(lines.Bytes(), &f))
		frames = append(frames, f)
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for lines.Scan() {
		require.True(t, json.Valid(lines.Bytes()), "whole documents only")
	}
	require.NoError(t, cmd.Wait())
	require.Len(t, frames, 2)
	require.True(t, frames[1].At.After(frames[0].At))
	got := call(t, "", "top", "--once", "--url", "http://127.0.0.1:1", "--retry-for", "0s")
	require.Equal(t, 2, got.code)
	require.Equal(t, 1, call(t, "", "top", "--interval", "1ms").code)
}

func TestTopFrame(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	before := &frame{At: at, Queues: []topQueue{{Queue: "a", Messages: 10, Pending: 4}, {Queue: "b", Messages: 10}},
		Groups: []topGroup{{Group: "x", Queue: "a", Behind: 3}, {Group: "z", Queue: "b"}}}
	now := &frame{At: at.Add(2 * time.Second), Queues: []topQueue{{Queue: "a", Messages: 20, Pending: 4}, {Queue: "b", Messages: 4, Pending: 4}, {Queue: "c", Pending: 9}},
		Groups: []topGroup{{Group: "x", Queue: "a", Behind: 1}, {Group: "y", Queue: "a", Behind: 2}, {Group: "z", Queue: "b"}}}
	now.rates(before)
	now.sort()
	require.Equal(t, "c a b", now.Queues[0].Queue+" "+now.Queues[1].Queue+" "+now.Queues[2].Queue)
	require.Equal(t, "y", now.Groups[0].Group)
	require.Nil(t, now.Queues[0].In, "a new queue has no rate")
	require.InDelta(t, 5, *now.Queues[1].In, 0.01)
	require.InDelta(t, 6, *now.Groups[1].Done, 0.01, "10 came, and it is 2 less behind")
	require.Nil(t, now.Groups[0].Done, "a new group has no rate")
	require.Zero(t, *now.Groups[2].Done, "messages that retention took are no progress backwards")
	require.Zero(t, *now.Queues[2].In, "S-24: never negative")
	for n := range 50 {
		now.Queues = append(now.Queues, topQueue{Queue: strings.Repeat("q", n)})
		now.Groups = append(now.Groups, topGroup{Group: strings.Repeat("g", n)})
	}
	var screen bytes.Buffer
	require.NoError(t, now.draw(&screen))
	require.Equal(t, 39, strings.Count(screen.String(), "\n"), "the screen of 40 lines is full")
	require.Contains(t, screen.String(), "GROUP")
	screen.Reset()
	require.NoError(t, drawLines(&screen, []string{strings.Repeat("w", 30), "2", "3"}, 10, 2))
	require.Equal(t, "\x1b[Hwwwwwwwww…\x1b[K\n2\x1b[K\x1b[J", screen.String())
}

// A pool of which no second one fits the database is warned of at the start; one
// of the default size is not (F199).
func TestLargePoolIsWarnedOf_F199(t *testing.T) {
	t.Parallel()
	cfg := api.DefaultConfig()
	cfg.DatabaseURL = shared.get(t).dsn(t)
	for size, want := range map[int]string{0: "", 10_000: "DB_POOL_SIZE=10000"} {
		cfg.PoolSize = size
		pool, err := api.OpenPool(t.Context(), cfg)
		require.NoError(t, err)
		var text bytes.Buffer
		warnOfPool(t.Context(), pool, slog.New(slog.NewTextHandler(&text, nil)))
		pool.Close()
		require.Contains(t, text.String(), want)
		require.Equal(t, want == "", text.Len() == 0)
	}
}
