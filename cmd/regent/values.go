package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// parseDuration reads Go's duration syntax and whole days (7d). A number
// without a unit is refused, since nobody can tell seconds from milliseconds.
func parseDuration(s string) (time.Duration, error) {
	s = strings.TrimSpace(s)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseInt(days, 10, 64)
		if err != nil || n > math.MaxInt64/int64(24*time.Hour) || n < 0 {
			return 0, fmt.Errorf("%q is not a duration like 30s, 15m or 7d", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration like 30s, 15m or 7d", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("duration %q is negative", s)
	}
	return d, nil
}

// durationFlag is a flag that takes what parseDuration takes.
type durationFlag time.Duration

func (f *durationFlag) Set(s string) error {
	d, err := parseDuration(s)
	*f = durationFlag(d)
	return err
}

// String writes without zero parts: 1m, not 1m0s. Help texts show no default
// for a flag that reads "0".
func (f *durationFlag) String() string {
	if *f == 0 {
		return "0"
	}
	s := time.Duration(*f).String()
	s = strings.Replace(s, "m0s", "m", 1)
	return strings.Replace(s, "h0m", "h", 1)
}

func (f *durationFlag) Type() string { return "duration" }

// sizeUnits are in bytes; longer names come first, since they end in shorter ones.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"b", 1},
}

// parseSize reads bytes: 64KiB, 1.5MB, 100.
func parseSize(s string) (int64, error) {
	number, unit := strings.ToLower(strings.TrimSpace(s)), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || n < 0 || n*float64(unit) >= math.MaxInt64 || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is not a size like 64KiB or 10MB", s)
	}
	bytes := n * float64(unit)
	if bytes != math.Trunc(bytes) {
		return 0, fmt.Errorf("%q is not a whole number of bytes", s)
	}
	return int64(bytes), nil
}

// sizeFlag is a flag that takes what parseSize takes.
type sizeFlag int64

func (f *sizeFlag) Set(s string) error {
	n, err := parseSize(s)
	*f = sizeFlag(n)
	return err
}

func (f *sizeFlag) String() string { return formatSize(int64(*f)) }
func (f *sizeFlag) Type() string   { return "size" }

// formatSize writes bytes with a binary unit: 512B, 64KiB, 1.5GiB.
func formatSize(n int64) string {
	unit, value := "B", float64(n)
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		unit, value = next, value/1024
	}
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0") + unit
}

var errTime = errors.New(`want RFC 3339, "now" or "15m ago"`)

// parseTime reads RFC 3339, "now", or a duration followed by "ago".
func parseTime(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "now" {
		return now, nil
	}
	if past, ok := strings.CutSuffix(s, " ago"); ok {
		d, err := parseDuration(past)
		if err != nil {
			return time.Time{}, fmt.Errorf("time %q: %w", s, errTime)
		}
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("time %q: %w", s, errTime)
	}
	return t, nil
}

// grouped writes n with a comma between thousands.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted is a number with its noun.
func counted(n int64, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return grouped(n) + " " + noun
}
