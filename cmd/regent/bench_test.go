package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"regent.local/regent/testdata/bench"
)

// TestBenchCells runs every cell for a moment: each must move messages, and a
// take must give back what a push stored.
func TestBenchCells(t *testing.T) {
	dsn := shared.get(t).dsn(t)
	for _, args := range []string{
		"--op push --batch 1",
		"--op push --batch 3 --partitions-per-producer 10 --ids client --dedup off",
		"--op push-grouped --batch 3 --partitions-per-producer 10",
		"--op push-grouped --batch 10 --partitions-per-producer 3 --ids client",
		"--op push --target plain",
		"--op take --preload 2000",
		"--op take --preload 2000 --ack id --ids client",
		"--op take --preload 2000 --target plain",
		"--op e2e --batch 5 --groups 3 --ack id",
		"--op e2e --batch 5 --old-snapshot 0.5",
		"--op pop-sparse --partitions-per-producer 50",
		"--op e2e --batch 5 --target plain",
		"--op rest-push --batch 3 --ids client",
		"--op rest-e2e",
		"--op rest-e2e --rate 0 --take-batch 5 --producers 3",
		"--op sweep --size 200",
		"--op cycle --size 50",
		"--op compact --size 6000",
		"--op refresh --size 100",
		"--op push-sweep --size 200",
		"--op scrape --size 3",
	} {
		t.Run(args, func(t *testing.T) {
			line := append([]string{"bench", "-o", "json", "--dsn", dsn, "--seconds", "0.2"}, strings.Fields(args)...)
			if !strings.Contains(args, "rest-e2e") && !strings.Contains(args, "pop-sparse") && !strings.Contains(args, "--size") {
				line = append(line, "--producers", "2")
			}
			got := call(t, "", line...)
			require.Zero(t, got.code, got.err)
			var r bench.Result
			require.NoError(t, json.Unmarshal([]byte(got.out), &r), got.out)
			require.Positive(t, r.Messages)
			require.Positive(t, r.P50ms)
			if r.Bare != nil {
				require.Positive(t, r.Bare.Messages)
				require.Positive(t, r.Bare.P50ms)
			}
			if !strings.Contains(args, "push-sweep") && !strings.Contains(args, "push-compact") {
				require.NotNil(t, r.WALBytes)
			}
		})
	}
}

// TestBenchTakesCountOnce takes what was pushed, each message once: a batch is
// finished by the next take, also by one that finds nothing, and the last by the end.
func TestBenchTakesCountOnce(t *testing.T) {
	dsn, conn := ownDatabase(t, "bench_takes")
	ctx := t.Context()
	open := func() (where string) {
		require.NoError(t, conn.QueryRow(ctx, "SELECT format('%s %s', max(committed), count(batch_end)) FROM queen.log_consumers").Scan(&where))
		return where
	}
	for _, byID := range []bool{false, true} {
		o := bench.DefaultOptions()
		o.Op, o.Groups, o.AckByID = "e2e", 1, byID
		target, err := newSQLTarget(ctx, dsn, o)
		require.NoError(t, err)
		producer, err := target.Producer(ctx, 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, producer.(io.Closer).Close()) }()
		consumer, err := target.Consumer(ctx, 0)
		require.NoError(t, err)
		var got []string
		take := func() int {
			n, err := consumer.Take(ctx, 2, func(payloads []string) { got = append(got, payloads...) })
			require.NoError(t, err)
			return n
		}
		require.NoError(t, producer.Push(ctx, []string{"1", "2", "3"}))
		require.Equal(t, 2, take())
		require.Equal(t, 1, take())
		require.Equal(t, []string{"1", "2", "3"}, got)
		require.Regexp(t, " 1$", open())
		require.Zero(t, take())
		require.Regexp(t, " 0$", open(), "an empty take has to finish the batch before it")
		require.NoError(t, producer.Push(ctx, []string{"4"}))
		require.Equal(t, 1, take())
		require.NoError(t, consumer.(io.Closer).Close())
		require.Equal(t, map[bool]string{false: "3 0", true: "7 0"}[byID], open())
	}
}

func TestBenchRefusals(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--op fly":                           "--op must be one of",
		"--target mars":                      "--target must be",
		"--op rest-push --target plain":      "--target plain has no rest-push",
		"--op push --url http://127.0.0.1:1": "--url goes with",
		"--batch 0":                          "--batch must be between",
		"--seconds 0":                        "--seconds must be above 0",
		"--old-snapshot 1":                   "--old-snapshot must be",
		"--op pop-sparse --target plain":     "--target plain has no pop-sparse",
		"--op pop-sparse --producers 2":      "--op pop-sparse has one producer",
		"--groups 0":                         "--groups must be between",
		"--take-batch 5":                     "--take-batch goes with --op rest-e2e",
		"--payload 10":                       "--payload must be between",
		"--dedup maybe":                      "want on or off",
	} {
		got := call(t, "", append([]string{"bench"}, strings.Fields(args)...)...)
		require.Equal(t, exitUser, got.code, args)
		require.Contains(t, got.err, want)
	}
}

// TestBenchServerMemory measures a server in a process of its own, which has to
// hold the parked pops and end with the cell.
func TestBenchServerMemory(t *testing.T) {
	dsn := shared.get(t).dsn(t)
	t.Setenv(asProgram, "1")
	for _, args := range []string{"--op rest-rss --parked 20", "--op rest-cpu --counters off"} {
		got := call(t, "", append([]string{"bench", "-o", "json", "--dsn", dsn, "--seconds", "0.2", "--producers", "2"}, strings.Fields(args)...)...)
		require.Zero(t, got.code, got.err)
		var r bench.Result
		require.NoError(t, json.Unmarshal([]byte(got.out), &r), got.out)
		require.Positive(t, r.Messages)
		require.NotNil(t, r.ServerBytes)
		require.Greater(t, *r.ServerBytes, 5e6)
		require.NotNil(t, r.ServerCPUus)
	}
}
