package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Keys of messages, and the options of queues that use them, each by its flag.
func TestPushWithKeys(t *testing.T) {
	t.Parallel()
	s := shared.get(t)
	for name, face := range faces(t, s) {
		queue := "keys-" + name
		got := call(t, "", with(face, "queue", "configure", queue, "--cleanup-policy", "compact,delete", "--delete-retention", "1h", "--min-compaction-lag", "30s",
			"--retention-bytes", "64KiB", "--retention-messages", "1000", "--group-idle", "10m", "--dead-letter-retention", "7d", "-o", "table")...)
		require.Equal(t, 0, got.code, got.err)
		shown := strings.Join(strings.Fields(got.out), " ")
		for option, value := range map[string]string{"cleanupPolicy": `"compact,delete"`, "deleteRetentionSeconds": "3600", "minCompactionLagSeconds": "30",
			"retentionBytes": "65536", "retentionMessages": "1000", "groupIdleSeconds": "600", "deadLetterRetentionSeconds": "604800"} {
			require.Contains(t, shown, " "+option+" "+value, name)
		}
		require.Equal(t, exitUser, call(t, "", with(face, "queue", "configure", queue, "--retention-bytes", "much")...).code)

		got = call(t, `{"id":"a<b"}`+"\n"+`{"id":7}`+"\n", with(face, "push", queue, "--key", "id")...)
		require.Equal(t, 0, got.code, got.err)
		got = call(t, "", "tail", queue, "--dsn", s.dsn(t))
		require.Contains(t, got.out, `"key":"a<b"`, name)
		require.Contains(t, got.out, `"key":"7"`, name)
		for line, want := range map[string]string{`{"n":1}`: "nothing at", `{"id":""}`: "the key is empty", fmt.Sprintf(`{"id":%q}`, strings.Repeat("x", 1025)): "longer than 1024 bytes", `{"id":[]}`: "not a string",
			`{"id":"a\u0001b"}`: "holds a control character"} {
			got = call(t, line+"\n", with(face, "push", queue, "--key", "id")...)
			require.Equal(t, exitUser, got.code)
			require.Contains(t, got.err, want)
		}
	}
}
