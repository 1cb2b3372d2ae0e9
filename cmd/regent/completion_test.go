package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompletion(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		queue, group := "complete-"+name, "complete-g-"+name
		require.Equal(t, 0, call(t, "1\n", with(face, "push", queue)...).code)
		require.Equal(t, 0, call(t, "", with(face, "pop", queue, "--group", group, "--from", "all")...).code)
		for want, lines := range map[string][][]string{
			queue: {{"queue", "show"}, {"queue", "configure"}, {"queue", "delete"}, {"queue", "retention-preview"}, {"push"}, {"pop"}, {"dlq", "list"}, {"dlq", "redrive"},
				{"dlq", "delete"}, {"group", "seek", group}, {"group", "delete", group}},
			group: {{"group", "show"}, {"group", "seek"}, {"group", "delete"}, {"pop", queue, "--group"}, {"ack", "--group"}, {"dlq", "delete", queue, "--group"}},
		} {
			for _, line := range lines {
				args := append(append([]string{"__complete", line[0]}, face...), append(line[1:], "")...)
				got := call(t, "", args...)
				require.Contains(t, strings.Split(got.out, "\n"), want, args)
				require.Contains(t, got.out, "\n:4\n", "no files")
			}
		}
		require.Contains(t, call(t, "", with(face, "__complete", "push", queue, "")...).out, ":", "the file")
	}
	require.Contains(t, call(t, "", "__complete", "tail", "--data-dir", filepath.Dir(filepath.Join(s.dir, dsnFile)), "").out, "complete-http\n")
	require.Equal(t, ":4\n", call(t, "", "__complete", "queue", "show", "--url", "http://127.0.0.1:1", "").out, "nobody there, nothing said")
	require.Contains(t, call(t, "", "__complete", "ack", "--status", "").out, "completed\nfailed\nretry\ndlq\n")
	require.Contains(t, call(t, "", "__complete", "queue", "list", "-o", "").out, "ndjson\n")
	require.Contains(t, call(t, "", "__complete", "key", "create", "k", "--role", "").out, "write-only\n")
}
