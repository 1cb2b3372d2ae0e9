package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "1m30s": 90 * time.Second, "7d": 168 * time.Hour, "0s": 0, " 5ms ": 5 * time.Millisecond,
	} {
		got, err := parseDuration(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "30", "-1s", "-1d", "1.5d", "99999999999d", "d", "soon"} {
		_, err := parseDuration(text)
		require.Error(t, err, text)
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "100": 100, "64KiB": 64 << 10, "1.5mib": 3 << 19, "10MB": 10_000_000, "7 B": 7, "0B": 0, "2TiB": 2 << 40,
	} {
		got, err := parseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "KiB", "-1", "NaN", "1e30", "10 elephants", "0.5B", "0.1KiB"} {
		_, err := parseSize(text)
		require.Error(t, err, text)
	}
}

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"now": now, "15m ago": now.Add(-15 * time.Minute), "2d ago": now.Add(-48 * time.Hour),
		"2026-01-02T03:04:05.5+02:00": time.Date(2026, 1, 2, 1, 4, 5, 5e8, time.UTC),
	} {
		got, err := parseTime(text, now)
		require.NoError(t, err, text)
		require.True(t, want.Equal(got), "%s: %s", text, got)
	}
	for _, text := range []string{"", "ago", "15 ago", "2026-01-02", "tomorrow"} {
		_, err := parseTime(text, now)
		require.ErrorIs(t, err, errTime, text)
	}
}

func TestNumbersForPeople(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", -100: "-100"} {
		require.Equal(t, want, grouped(n))
	}
	for want, got := range map[string]string{
		"0 lines": counted(0, "line"), "1 line": counted(1, "line"), "1,000 lines": counted(1000, "line"), "2 breaches": counted(2, "breach"), "1 breach": counted(1, "breach"),
	} {
		require.Equal(t, want, got)
	}
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1536: "1.5KiB", 64 << 20: "64MiB", 3 << 50: "3072TiB"} {
		require.Equal(t, want, formatSize(n))
	}
	for d, want := range map[time.Duration]string{time.Minute: "1m", 90 * time.Second: "1m30s", 2 * time.Hour: "2h", 0: "0"} {
		f := durationFlag(d)
		require.Equal(t, want, f.String())
	}
}

func TestOptionsFromFlagsAndSets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"leaseTime=30": "30", "retentionEnabled=true": "true", "task=12": `"12"`, "task=null": "null",
		"retentionSinkHold=a=b": `"a=b"`, "retryLimit=null": "null", "namespace=some text": `"some text"`, "namespace=": `""`,
		"cleanupPolicy=compact": `"compact"`, "cleanupPolicy=compact,delete": `"compact,delete"`, "retentionBytes=5000000000": "5000000000", "groupIdleSeconds=600": "600",
	} {
		_, value, err := parseSet(text)
		require.NoError(t, err, text)
		require.JSONEq(t, want, string(value), text)
	}
	for kind, cases := range map[optionKind]map[string]string{
		optSeconds: {"90s": "90", "1d": "86400", "null": "null"}, optMillis: {"1.5s": "1500"},
		optBool: {"true": "true", "0": "false"}, optInt: {"-3": "-3"}, optText: {"a\"b": `"a\"b"`},
	} {
		for text, want := range cases {
			value, err := optionFlag{kind: kind}.value(text)
			require.NoError(t, err, text)
			require.JSONEq(t, want, string(value), text)
		}
	}
}

func TestShellWord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"/a/b.c": "/a/b.c", "/a b": "'/a b'", "it's": `'it'\''s'`, "$x": "'$x'", "": "''"} {
		require.Equal(t, want, shellWord(text))
	}
}
