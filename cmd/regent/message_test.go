package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMessageCommands(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		queue := "message-" + name
		run := func(code int, args ...string) result {
			t.Helper()
			got := call(t, "", with(face, append([]string{"message"}, args...)...)...)
			require.Equal(t, code, got.code, "%v: %s%s", args, got.out, got.err)
			return got
		}
		killAll(t, face, queue, "p", 2)
		require.Equal(t, 0, call(t, `{"id": 1.50}`+"\n", with(face, "push", queue, "--partition", "q", "--id-key", "id")...).code)

		got := run(0, "list", queue, "-o", "ndjson")
		lines := strings.Split(strings.TrimSpace(got.out), "\n")
		require.Len(t, lines, 3)
		require.True(t, strings.HasSuffix(lines[0], `"data":{"id": 1.50}}`), "payloads keep their bytes: %s", lines[0])
		require.Len(t, strings.Split(strings.TrimSpace(run(0, "list", queue, "--limit", "1", "--offset", "1", "-o", "ndjson").out), "\n"), 1)
		require.Equal(t, "[]\n", run(0, "list", queue, "--to", "3h ago", "--from", "4h ago").out)
		require.Equal(t, "[]\n", run(0, "list", queue, "--partition", "none").out)
		require.Contains(t, run(0, "list", queue, "--status", "pending", "-o", "table").out, "pending")
		run(exitUser, "list", "--from", "yesterday")

		var pending, dead browsedMessage
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &pending))
		require.NoError(t, json.Unmarshal([]byte(lines[1]), &dead))
		require.Equal(t, []string{queue, "q", "1.50", "pending"}, []string{pending.Queue, pending.Partition, *pending.TransactionID, pending.Status})
		require.Equal(t, "dead_letter", dead.Status)
		shown := run(0, "show", pending.PartitionID, "1.50").out
		require.Contains(t, shown, `"status": "pending"`)
		require.Contains(t, shown, `"consumerGroups": [`)
		require.Contains(t, run(0, "show", dead.PartitionID, *dead.TransactionID).out, `"errorMessage": "`)

		// What is not there says so, whatever the address looks like.
		for _, id := range []string{pending.PartitionID, "00000000-0000-4000-8000-000000000009", "x", ".."} {
			require.Contains(t, run(exitUser, "show", id, "none").err, `has no message "none"`)
			run(exitNothing, "retry", id, "none")
			run(exitNothing, "delete", id, "none", "--yes")
			run(exitNothing, "delete", id, "none", "--dry-run")
		}
		run(exitNothing, "delete", pending.PartitionID, "1.50", "--yes")
		require.Contains(t, run(exitUser, "delete", dead.PartitionID, *dead.TransactionID).err, "would delete 1 dead letter of message")
		require.Contains(t, run(0, "delete", dead.PartitionID, *dead.TransactionID, "--dry-run", "--yes").out, `"matching": 1`)
		require.Len(t, letters(t, face, queue), 2)
		require.Contains(t, run(0, "delete", dead.PartitionID, *dead.TransactionID, "--yes").out, `"deleted": 1`)

		left := letters(t, face, queue)
		require.Len(t, left, 1)
		require.Contains(t, run(0, "retry", left[0].PartitionID, left[0].TransactionID).out, `"result": "moved"`)
		run(exitNothing, "retry", left[0].PartitionID, left[0].TransactionID)
		require.Empty(t, letters(t, face, queue))
	}
}
