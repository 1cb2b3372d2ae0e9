package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const (
	tailRetryFor = time.Minute
	tailPage     = 1000
	// relistEvery is how often a following tail looks for new partitions.
	relistEvery = 2 * time.Second
)

type tailFlags struct {
	target             targetFlags
	format             outputFormat
	partition, dataDir string
	from               string
	last               int
	follow             bool
}

func newTailCmd() *cobra.Command {
	var f tailFlags
	cmd := &cobra.Command{
		Use:   "tail QUEUE",
		Short: "Look at messages without taking them",
		Long: `Tail prints messages and leaves everything as it is: it takes no lease, moves no
cursor and writes nothing. Messages of one partition come in order. In a pipe each
is one line, its payload as it was pushed; only line breaks between the parts of a
payload become spaces.

It reads through SQL: from --dsn, else DATABASE_URL, else the context's database,
else the "regent dev" whose data folder is --data-dir. So it shows the envelopes of an encrypted queue.`,
		Example: `  regent tail orders -f
  regent tail orders --partition eu --from '15m ago'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runTail(cmd, &f, args[0]) },
	}
	fl := cmd.Flags()
	f.format.addLineFlag(cmd)
	f.target.retryFor = durationFlag(tailRetryFor)
	fl.StringVar(&f.target.dsn, "dsn", "", "PostgreSQL connection string (default: DATABASE_URL, else the context, else that of --data-dir)")
	fl.Var(&f.target.retryFor, "retry-for", "how long reading is tried again while the database is away")
	fl.StringVar(&f.dataDir, "data-dir", defaultDataDir, `data folder of a "regent dev"`)
	fl.StringVar(&f.partition, "partition", "", "look at this partition only (default: all)")
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on with what comes")
	fl.IntVarP(&f.last, "lines", "n", 10, "begin with this many of the last messages")
	fl.StringVar(&f.from, "from", "", `begin elsewhere: all, now, RFC 3339 or "15m ago" (default: --lines back)`)
	contextFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("dsn", "context", "data-dir")
	cmd.MarkFlagsMutuallyExclusive("lines", "from")
	return cmd
}

// resolveDSN finds the database to read.
func (f *tailFlags) resolveDSN(cmd *cobra.Command) (string, error) {
	if !cmd.Flags().Changed("data-dir") {
		named, err := namedDatabase(cmd)
		switch {
		case err != nil || named != "":
			return named, err
		case f.target.dsn != "" || os.Getenv("DATABASE_URL") != "":
			return databaseURL(cmd, f.target.dsn)
		}
		if dsn, err := currentDatabase(cmd); err != nil || dsn != "" {
			return dsn, err
		}
	}
	path := filepath.Join(f.dataDir, dsnFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("no database to read: give --dsn, or --data-dir of a running regent dev (there is no %s)", path)
	}
	if err != nil {
		return "", fmt.Errorf("read connection string: %w", err)
	}
	setChosenBy(cmd, path)
	return checkedDSN(path, strings.TrimSpace(string(text)))
}

// tailer reads the partitions of one queue.
type tailer struct {
	cmd    *cobra.Command
	flags  *tailFlags
	client *sqlClient
	queue  string
	format outputFormat
	names  []string         // of the partitions to read
	next   map[string]int64 // by partition: the offset to read from, once a message was read
	since  *time.Time       // where partitions without next begin; nil: at their first message
	listed time.Time
	kept   []message // for formats that are one document
}

func runTail(cmd *cobra.Command, f *tailFlags, queue string) error {
	if f.last < 0 || f.last > 10*tailPage {
		return fmt.Errorf("--lines must be between 0 and %d", 10*tailPage)
	}
	begin, err := f.begin(time.Now())
	if err != nil {
		return err
	}
	dsn, err := f.resolveDSN(cmd)
	if err != nil {
		return err
	}
	c, err := openSQL(cmd.Context(), dsn, newRetrier(time.Duration(f.target.retryFor), cmd))
	if err != nil {
		return err
	}
	defer c.Close()
	t := &tailer{cmd: cmd, flags: f, client: c, queue: queue, format: f.format.resolve(cmd.OutOrStdout(), "ndjson"), next: map[string]int64{}}
	if f.follow && t.format != "table" {
		t.format = "ndjson"
	}
	err = t.run(cmd.Context(), begin)
	if f.follow && cmd.Context().Err() != nil {
		return nil
	}
	return err
}

// beginning says where to start in every partition.
type beginning struct {
	last  int // so many of the last messages, unless since is set
	all   bool
	since *time.Time
}

func (f *tailFlags) begin(now time.Time) (beginning, error) {
	switch f.from {
	case "":
		return beginning{last: f.last}, nil
	case "all":
		return beginning{all: true}, nil
	case "now":
		return beginning{}, nil
	}
	since, err := parseTime(f.from, now)
	if err != nil {
		return beginning{}, fmt.Errorf(`--from %q: want all, now, RFC 3339 or "15m ago"`, f.from)
	}
	return beginning{since: &since}, nil
}

func (t *tailer) run(ctx context.Context, begin beginning) error {
	t.since = begin.since
	if err := t.list(ctx); err != nil {
		return err
	}
	if t.flags.partition != "" && len(t.names) == 0 && !t.flags.follow {
		return fmt.Errorf("queue %q has no partition %q", t.queue, t.flags.partition)
	}
	if err := t.first(ctx, begin); err != nil {
		return err
	}
	for t.flags.follow {
		if err := sleep(ctx, pollEvery); err != nil {
			return err
		}
		if err := t.poll(ctx); err != nil {
			return err
		}
	}
	if t.format == "json" || t.format == "yaml" {
		return printMessages(t.cmd, t.format, t.kept)
	}
	return nil
}

// list looks which partitions there are to read.
func (t *tailer) list(ctx context.Context) error {
	text, err := t.client.Queue(ctx, t.queue)
	if err != nil {
		return err
	}
	_, parts, err := readQueue(text)
	if err != nil {
		return err
	}
	t.listed, t.names = time.Now(), t.names[:0]
	for _, p := range parts {
		if t.flags.partition == "" || p.Name == t.flags.partition {
			t.names = append(t.names, p.Name)
		}
	}
	return nil
}

// first prints what is there already.
func (t *tailer) first(ctx context.Context, begin beginning) error {
	if begin.all || begin.since != nil {
		return t.drainAll(ctx)
	}
	var last []message
	for _, name := range t.names {
		got, err := t.client.Read(ctx, readRequest{queue: t.queue, partition: name, limit: max(begin.last, 1)})
		if err != nil {
			return err
		}
		t.advance(name, got)
		last = append(last, got...)
	}
	slices.SortStableFunc(last, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Partition, b.Partition))
	})
	return t.show(last[max(0, len(last)-begin.last):])
}

func (t *tailer) drainAll(ctx context.Context) error {
	for _, name := range t.names {
		if err := t.drain(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// drain prints a partition from where reading stopped to its end.
func (t *tailer) drain(ctx context.Context, name string) error {
	for {
		req := readRequest{queue: t.queue, partition: name, limit: tailPage}
		if from, known := t.next[name]; known || t.since == nil {
			req.from = &from
		} else {
			req.since = t.since
		}
		got, err := t.client.Read(ctx, req)
		if err != nil {
			return err
		}
		t.advance(name, got)
		if err := t.show(got); err != nil {
			return err
		}
		if len(got) < tailPage {
			return nil
		}
	}
}

func (t *tailer) advance(name string, got []message) {
	if len(got) > 0 {
		t.next[name] = *got[len(got)-1].Offset + 1
	}
}

// poll prints what has come since the last look.
func (t *tailer) poll(ctx context.Context) error {
	if time.Since(t.listed) > relistEvery {
		if err := t.list(ctx); err != nil {
			return err
		}
	}
	return t.drainAll(ctx)
}

func (t *tailer) show(messages []message) error {
	switch t.format {
	case "json", "yaml":
		t.kept = append(t.kept, messages...)
		return nil
	case "ndjson":
		return printMessages(t.cmd, t.format, messages)
	}
	var lines []string
	for _, m := range messages {
		lines = append(lines, fmt.Sprintf("%s  %s@%d  %s  %s", m.CreatedAt, m.Partition, *m.Offset, m.TransactionID, compact(m.Data)))
	}
	return sentence(lines...).write(t.cmd.OutOrStdout())
}

// compact is a payload without its line breaks and control characters.
func compact(data json.RawMessage) string { return oneLine(string(data), 1<<20) }
