package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The help of each option names the default that the functions have.
func TestOptionsOfANewQueue(t *testing.T) {
	t.Parallel()
	url := shared.get(t).url
	options := func(queue string, flags ...string) string {
		t.Helper()
		got := call(t, "", append([]string{"queue", "configure", queue, "--url", url, "--mode", "replace"}, flags...)...)
		require.Equal(t, 0, got.code, got.err)
		var doc struct{ Options json.RawMessage }
		require.NoError(t, json.Unmarshal([]byte(got.out), &doc))
		return string(doc.Options)
	}
	var all []string
	for _, o := range optionFlags() {
		all = append(all, "--"+o.flag+"="+o.initial)
	}
	require.Equal(t, options("born-bare"), options("born-told", all...))
}

// The preview and a configure that changes nothing, over both faces.
func TestQueueRetentionPreview(t *testing.T) {
	t.Parallel()
	for name, face := range faces(t, shared.get(t)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := "preview-" + name
			for range 3 {
				require.Equal(t, 0, call(t, "1\n", with(face, "push", queue)...).code)
			}
			got := call(t, "", with(face, "queue", "retention-preview", queue, "-o", "table")...)
			require.Equal(t, 0, got.code, got.err)
			require.Contains(t, got.out, "would delete nothing from queue "+queue)
			got = call(t, "", with(face, "queue", "configure", queue, "--retention-enabled", "--set", "retentionMessages=1", "--dry-run", "-o", "table")...)
			require.Equal(t, 0, got.code, got.err)
			require.Contains(t, got.out, "would delete 2 messages (2 unread, ")
			require.Contains(t, got.out, "nothing was changed; queue "+queue+" would be:")
			require.Contains(t, got.out, "retentionMessages            1")
			got = call(t, "", with(face, "queue", "show", queue, "-o", "json")...)
			require.NotContains(t, got.out, "retentionMessages")
			require.Contains(t, call(t, "", with(face, "queue", "show", queue, "-o", "table")...).out, "1 partition, 3 messages (3 pending, 0 processing, 0 dead letters), ")
			got = call(t, "", with(face, "queue", "configure", queue, "--retention-enabled", "--set", "retentionMessages=1")...)
			require.Equal(t, exitUser, got.code)
			require.Contains(t, got.err, "would then delete 2 messages more of queue")
			require.NotContains(t, call(t, "", with(face, "queue", "show", queue, "-o", "json")...).out, "retentionMessages", "nothing was changed")
			require.Equal(t, 0, call(t, "", with(face, "queue", "configure", queue, "--retention-enabled", "--set", "retentionMessages=3")...).code, "which deletes nothing")
			require.Equal(t, 0, call(t, "", with(face, "queue", "configure", queue, "--set", "retentionMessages=1", "--yes")...).code)
			got = call(t, "", with(face, "queue", "retention-preview", "none-"+name)...)
			require.Equal(t, 1, got.code)
		})
	}
}
