package db

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db/dbtest"
)

// fillKeys pushes segments of frames of 100 bytes, half of which are obsolete: each key twice, side by side, or every second
// frame under one of fifty keys.
const fillKeys = `
	DO $$
	DECLARE
		v_payloads json[] := ARRAY(SELECT ('{"n":"' || repeat('x', 90) || '"}')::json FROM generate_series(1, %[2]d));
	BEGIN
		PERFORM queen.configure_queue_v1('q', '{"cleanupPolicy": "compact"}');
		FOR i IN 0 .. %[1]d - 1 LOOP
			PERFORM queen.push_many_v1('q', v_payloads, '{p}', NULL, ARRAY(SELECT %[3]s FROM generate_series(0, %[2]d - 1) g));
		END LOOP;
		PERFORM queen.push_v1('q', '1', 'p');
	END $$`

// BenchmarkCompaction tells how many frames a second one compactor judges, its map of keys included (perf.md 4).
func BenchmarkCompaction(b *testing.B) {
	for _, shape := range []struct {
		name           string
		segments, size int
		key            string
	}{
		{"pairs of 1000", 300, 1000, "'k' || (i * 1000 + g) / 2"},
		{"hot keys of 1000", 300, 1000, "CASE WHEN g % 2 = 0 THEN 'k' || i * 1000 + g ELSE 'h' || g % 100 END"},
		{"hot keys of 100", 1000, 100, "CASE WHEN g % 2 = 0 THEN 'k' || i * 100 + g ELSE 'h' || g % 100 END"},
	} {
		b.Run(shape.name, func(b *testing.B) {
			ctx := context.Background()
			var read, kept int64
			var took, longest time.Duration
			for range b.N {
				d := dbtest.New(b)
				_, err := d.Pool.Exec(ctx, fmt.Sprintf(fillKeys, shape.segments, shape.size, shape.key))
				require.NoError(b, err)
				lane := scalar[uuid.UUID](b, d, "SELECT id FROM queen.log_partitions")
				for done := false; !done; {
					start := time.Now()
					row, err := New(d.Pool).CompactStep(ctx, lane, 20_000)
					require.NoError(b, err)
					took, longest = took+time.Since(start), max(longest, time.Since(start))
					read, kept, done = read+row.FramesRead, kept+row.FramesKept, row.Done
				}
			}
			b.ReportMetric(float64(read)/took.Seconds(), "frames/s")
			b.ReportMetric(float64(kept)/float64(read), "kept")
			b.ReportMetric(longest.Seconds()*1000, "ms/longest")
		})
	}
}
