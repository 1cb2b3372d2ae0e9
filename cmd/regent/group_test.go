package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGroupCommands(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue, group := "groups-"+name, "crew "+name
			run := func(code int, args ...string) string {
				t.Helper()
				got := call(t, "", with(face, args...)...)
				require.Equal(t, code, got.code, "%s%s", got.out, got.err)
				return got.out + got.err
			}
			pop := func(code int) string {
				t.Helper()
				return run(code, "pop", queue, "--group", group, "--from", "all", "--batch", "10", "--auto-ack", "-o", "ndjson")
			}
			run(4, "group", "show", group)
			got := call(t, "{\"n\":1}\n{\"n\":2}\n", with(face, "push", queue, "--partition", "p")...)
			require.Equal(t, 0, got.code, got.err)
			pop(0)
			require.Contains(t, run(0, "group", "list"), group)
			var detail groupDetail
			require.NoError(t, json.Unmarshal([]byte(run(0, "group", "show", group, "-o", "json")), &detail))
			require.Equal(t, int64(2), detail[queue].Partitions[0].TotalConsumed)
			require.Contains(t, run(0, "group", "show", group, "-o", "table"), "CONSUMED")

			pop(4)
			require.Contains(t, run(1, "group", "seek", group, queue, "--to", "1h ago"), "--yes does it")
			require.Contains(t, run(0, "group", "seek", group, queue, "--to", "1h ago", "--dry-run", "-o", "table"), queue)
			pop(4)
			require.Contains(t, run(0, "group", "seek", group, queue, "--to", "1h ago", "--yes"), "partitionsUpdated")
			pop(0)
			require.Equal(t, "moved group "+group+" on queue "+queue+": 1 partition\n", run(0, "group", "seek", group, queue, "--to", "1h ago", "--yes", "-o", "table"))
			require.Equal(t, "moved group "+group+" on queue "+queue+": 1 partition\n", run(0, "group", "seek", group, queue, "--to", "1h ago", "--partition", "p", "--yes", "-o", "table"))
			require.Contains(t, run(0, "group", "seek", "no"+group, queue, "--to", "1h ago", "--dry-run"), "is not on queue "+queue+" yet; --yes gives it cursors there")
			require.Contains(t, run(4, "group", "show", "no"+group), "has no cursor", "a dry run makes none")
			require.Contains(t, run(1, "group", "seek", "no"+group, queue, "--to", "1h ago"), "is not on queue "+queue+" yet")
			require.Contains(t, run(4, "group", "delete", "no"+group), "there is no group")
			require.Contains(t, run(4, "group", "delete", "no"+group, "--yes"), "there is no group")
			require.Contains(t, run(4, "group", "delete", group, "no"+queue, "--yes"), "on queue no"+queue)
			require.Contains(t, run(0, "group", "seek", group, queue, "--to", "1h ago", "--partition", "p", "--yes"), "partitionName")
			run(0, "group", "seek", group, queue, "--to", "end", "--yes")
			pop(4)
			require.Contains(t, run(1, "group", "seek", group, queue, "--yes"), "--to")
			for _, missing := range [][]string{{group, "nowhere-" + name}, {group, queue, "--partition", "nowhere"}, {group, "nowhere-" + name, "--partition", "p"}, {"no" + group, queue, "--partition", "nowhere"}} {
				seek := append([]string{"group", "seek", "--to", "end"}, missing...)
				refused := run(1, append(seek, "--yes")...)
				require.Regexp(t, "Queue not found or has no partitions|Partition not found", refused)
				require.Equal(t, refused, run(1, append(seek, "--dry-run")...))
				require.Equal(t, refused, run(1, seek...))
			}

			require.Contains(t, run(1, "group", "delete", group), "on 1 queue; --yes does it")
			pop(4)
			require.Contains(t, run(0, "group", "delete", group, queue, "--keep-subscription", "--yes"), "deletedPartitions")
			pop(0)
			run(0, "group", "delete", group, "--yes")
			run(4, "group", "delete", group, "--yes")
			pop(0)

			require.NotContains(t, run(0, "group", "show", group, "-o", "table"), "not started")
			got = call(t, "{\"n\":3}\n{\"n\":4}\n", with(face, "push", queue, "--partition", "fresh")...)
			require.Equal(t, 0, got.code, got.err)
			require.Regexp(t, `(?m)^`+group+` +`+queue+` +\w+ +2 +\d+ +1 +1 `, run(0, "group", "list", "-o", "table"), "two behind on one partition, and one cursor")
			require.Regexp(t, `(?m)^`+queue+` +p +0 +0 +2 +no\n`+queue+` +fresh +2 +\d+ +not started +no$`, run(0, "group", "show", group, "-o", "table"), "as the list says")
		})
	}
}
