package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"regent.local/regent/db"
)

const (
	// verifyOffsets is how many offsets one statement reads; a segment has up to 1000.
	verifyOffsets = 100_000
	// verifyPartitions is how many partitions one statement reads at most.
	verifyPartitions = 200
	// maxBreaches ends a run: a database with so many is read no further.
	maxBreaches   = 1000
	progressEvery = 5 * time.Second
)

// breach is one broken invariant.
type breach struct {
	Check       string     `json:"check"`
	Queue       string     `json:"queue"`
	Partition   string     `json:"partition"`
	PartitionID *uuid.UUID `json:"partitionId"`
	Offset      *int64     `json:"offset"`
	Finding     string     `json:"finding"`
}

// verdict is what verify prints.
type verdict struct {
	Sound      bool     `json:"sound"`
	Partitions int64    `json:"partitions"`
	Offsets    int64    `json:"offsets"` // of the range from log start to head, over all partitions
	Complete   bool     `json:"complete"`
	Skipped    string   `json:"skipped,omitempty"` // what this role may not look at
	Breaches   []breach `json:"breaches"`
}

func newVerifyCmd() *cobra.Command {
	var dsn string
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check everything that is stored against its invariants",
		Long: `Verify reads all messages of a live or restored database and checks that they are
whole: segments without a hole, stamps and ids in order, the hash of every id,
sizes and sums against a recount, cursors, and rows that belong to nothing. It
changes nothing and locks nothing; pushes and deletions may go on, since each
statement reads a snapshot of its own. Memory stays small whatever is stored.

In psql: SELECT * FROM queen.verify_v1();

Exit code 5 means that something is wrong.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := databaseOf(cmd, dsn)
			if err != nil {
				return err
			}
			c, err := openOperator(cmd.Context(), cmd, url)
			if err != nil {
				return err
			}
			defer c.Close()
			v := &verifier{client: c, window: verifyOffsets, progress: cmd.ErrOrStderr(), told: time.Now(), verdict: verdict{Breaches: []breach{}}}
			if err := v.run(cmd.Context()); err != nil {
				return explainCall(err)
			}
			return v.verdict.report(cmd, format)
		},
	}
	dsnFlag(cmd, &dsn)
	format.addFlag(cmd)
	return cmd
}

func (v verdict) report(cmd *cobra.Command, format outputFormat) error {
	items := make([]any, len(v.Breaches))
	for i, b := range v.Breaches {
		items[i] = b
	}
	if err := format.printList(cmd, v, items, v.table); err != nil {
		return err
	}
	if v.Sound {
		return nil
	}
	return withCode(exitCheck, errors.New(v.count()))
}

func (v verdict) count() string {
	return counted(int64(len(v.Breaches)), "breach")
}

func (v verdict) table() table {
	word := "all is well"
	if !v.Sound {
		word = v.count()
	}
	last := fmt.Sprintf("%s: %s with %s read", word, counted(v.Partitions, "partition"), counted(v.Offsets, "offset"))
	if !v.Complete {
		last += ", the rest was not"
	}
	if v.Skipped != "" {
		last += "; " + v.Skipped
	}
	if v.Sound {
		return sentence(last)
	}
	t := table{header: []string{"CHECK", "QUEUE", "PARTITION", "OFFSET", "FINDING"}}
	for _, b := range v.Breaches {
		offset, partition := "-", b.Partition
		if b.Offset != nil {
			offset = fmt.Sprint(*b.Offset)
		}
		if partition == "" && b.PartitionID != nil {
			partition = b.PartitionID.String()
		}
		t.rows = append(t.rows, []string{b.Check, cmp.Or(b.Queue, "-"), partition, offset, oneLine(b.Finding, 200)})
	}
	t.rows = append(t.rows, []string{last})
	return t
}

// verifier reads a database in short statements.
type verifier struct {
	client   *sqlClient
	window   int64 // offsets that one statement reads
	progress io.Writer
	told     time.Time
	verdict  verdict
	small    []uuid.UUID // partitions that go into one statement
	span     int64       // the offsets of those
}

// errEnough ends a run with too many breaches.
var errEnough = errors.New("too many breaches")

func (v *verifier) run(ctx context.Context) error {
	err := v.all(ctx)
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	v.verdict.Complete = err == nil
	v.verdict.Sound = len(v.verdict.Breaches) == 0
	return nil
}

// all goes through the partitions in the order of their ids. One that is made
// meanwhile may be left out.
func (v *verifier) all(ctx context.Context) error {
	var after *uuid.UUID
	for {
		var ranges []db.VerifyRangeRow
		err := v.client.run(ctx, repeatAny, func() (err error) {
			ranges, err = v.client.queries.ListVerifyRanges(ctx, after, verifyPartitions)
			return err
		})
		if err != nil {
			return fmt.Errorf("list partitions: %w", err)
		}
		if len(ranges) == 0 {
			break
		}
		for _, r := range ranges {
			if err := v.partition(ctx, r); err != nil {
				return err
			}
		}
		after = &ranges[len(ranges)-1].PartitionID
		if err := v.flush(ctx); err != nil {
			return err
		}
	}
	return v.orphans(ctx)
}

// partition collects small partitions, and reads a large one in pieces.
func (v *verifier) partition(ctx context.Context, r db.VerifyRangeRow) error {
	span := max(r.HeadOffset-r.LogStart+1, 0)
	v.verdict.Partitions++
	v.verdict.Offsets += span
	if span <= v.window {
		v.small = append(v.small, r.PartitionID)
		v.span += span
		if v.span < v.window {
			return nil
		}
		return v.flush(ctx)
	}
	from := int64(0)
	for to := r.LogStart + v.window; to <= r.HeadOffset; to += v.window {
		if err := v.read(ctx, []uuid.UUID{r.PartitionID}, from, to); err != nil {
			return err
		}
		from = to
	}
	return v.read(ctx, []uuid.UUID{r.PartitionID}, from, math.MaxInt64)
}

func (v *verifier) flush(ctx context.Context) error {
	if len(v.small) == 0 {
		return nil
	}
	ids := v.small
	v.small, v.span = nil, 0
	return v.read(ctx, ids, 0, math.MaxInt64)
}

func (v *verifier) read(ctx context.Context, ids []uuid.UUID, from, to int64) error {
	err := v.collect(ctx, func() ([]db.VerifyRow, error) {
		return v.client.queries.VerifyPartitions(ctx, db.VerifyPartitionsParams{PartitionIds: ids, FromOffset: from, ToOffset: to})
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("verify partitions: %w", err)
	}
	if time.Since(v.told) > progressEvery {
		v.told = time.Now()
		fmt.Fprintf(v.progress, "%s, %s, %s\n", counted(v.verdict.Partitions, "partition"), counted(v.verdict.Offsets, "offset"), v.verdict.count())
	}
	return err
}

func (v *verifier) orphans(ctx context.Context) error {
	err := v.collect(ctx, func() ([]db.VerifyRow, error) { return v.client.queries.VerifyOrphans(ctx) })
	if refused(err) {
		v.verdict.Skipped = "rows that belong to no partition were not looked for: only the owner and queen_server may"
		return nil
	}
	return err
}

func (v *verifier) collect(ctx context.Context, call func() ([]db.VerifyRow, error)) error {
	var rows []db.VerifyRow
	err := v.client.run(ctx, repeatAny, func() (err error) {
		rows, err = call()
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range rows {
		v.verdict.Breaches = append(v.verdict.Breaches, breach{Check: r.CheckName, Queue: r.Queue, Partition: r.Partition,
			PartitionID: r.PartitionID, Offset: r.Offset, Finding: r.Finding})
	}
	if len(v.verdict.Breaches) >= maxBreaches {
		return errEnough
	}
	return nil
}
