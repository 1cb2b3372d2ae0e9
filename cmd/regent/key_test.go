package main

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeyCommands(t *testing.T) {
	t.Parallel()
	dsn := shared.get(t).dsn(t)
	key := func(args ...string) result {
		return call(t, "", append(append([]string{"key"}, args...), "--dsn", dsn)...)
	}
	made := key("create", "shop", "--role", "write-only")
	require.Equal(t, 0, made.code, made.err)
	var k apiKey
	require.NoError(t, json.Unmarshal([]byte(made.out), &k))
	require.Regexp(t, `^rgk_[A-Za-z0-9_-]{43}$`, k.Key)
	require.Equal(t, "write-only", k.Role)
	require.Equal(t, "00000000-0000-0000-0000-000000000001", k.Tenant.String())

	again := key("create", "shop", "--role", "admin")
	require.Equal(t, exitUser, again.code)
	require.Contains(t, again.err, "a key of this name is in use already")
	require.Equal(t, exitUser, key("create", "x", "--role", "root").code)
	require.Equal(t, exitUser, key("create", "x").code)
	require.Equal(t, exitUser, key("create", "x", "--role", "admin", "--tenant", "shop").code)

	other := key("create", "shop", "--role", "admin", "--tenant", "b0000000-0000-4000-8000-000000000001", "-o", "table")
	require.Equal(t, 0, other.code, other.err)
	require.Contains(t, other.out, "rgk_")

	listed := key("list")
	require.Contains(t, listed.out, k.ID.String())
	require.NotContains(t, listed.out, "rgk_", "shown once")
	require.NotContains(t, listed.out, "b0000000", "of one tenant")

	require.Contains(t, key("revoke", "shop").err, `this would revoke key "shop"; --yes does it`)
	require.Contains(t, key("revoke", "shop", "--dry-run", "--yes").out, k.ID.String())
	require.Contains(t, key("list").out, `"revokedAt": null`)
	gone := key("revoke", k.ID.String(), "--yes")
	require.Equal(t, 0, gone.code, gone.err)
	require.NotContains(t, gone.out, `"revokedAt": null`)
	require.Equal(t, exitUser, key("revoke", "shop", "--yes").code)
	require.Equal(t, exitUser, key("revoke", "shop").code)
	require.Equal(t, exitUser, key("revoke", "shop", "--dry-run").code)
}

// A server with keys, and one that will not listen beyond the machine without.
func TestServersAskForKeys(t *testing.T) {
	t.Parallel()
	dsn := shared.get(t).dsn(t)
	for _, bind := range []string{"0.0.0.0", "", "::"} {
		cmd := program(t, "serve", "--port", "0", "--bind", bind, "--dsn", dsn)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Equal(t, exitUser, cmd.ProcessState.ExitCode())
		require.Contains(t, string(out), "lets everybody in")
		require.Contains(t, string(out), "--insecure")
	}
	cmd := program(t, "dev", "--port", "0", "--bind", "0.0.0.0", "--data-dir", t.TempDir())
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "lets everybody in")

	cmd = program(t, "serve", "--port", "0", "--dsn", dsn)
	cmd.Env = append(cmd.Env, "REGENT_API_KEYS=true", "QUEEN_BIND_ADDR=0.0.0.0")
	s := launchCmd(t, cmd)
	t.Cleanup(func() { s.signal(t, os.Interrupt) })
	url := s.url
	var k apiKey
	made := call(t, "", "key", "create", "server-test", "--role", "read-write", "--dsn", dsn)
	require.NoError(t, json.Unmarshal([]byte(made.out), &k))
	require.Equal(t, 0, call(t, "1\n", "push", "of-a-key", "--url", url, "--token", k.Key).code)
	denied := call(t, "1\n", "push", "of-a-key", "--url", url)
	require.Equal(t, exitAuth, denied.code)
	require.Contains(t, denied.err, "Authentication required")
	require.Equal(t, exitAuth, call(t, "", "queue", "delete", "of-a-key", "--yes", "--url", url, "--token", k.Key).code, "not an admin's key")
}
