package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"regent.local/regent/db"
)

// The other screen of a terminal, without a cursor, and back.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// frame is what top shows at one moment.
type frame struct {
	At     time.Time  `json:"at"`
	Queues []topQueue `json:"queues"` // most pending first
	Groups []topGroup `json:"groups"` // furthest behind first
}

type topQueue struct {
	Queue      string `json:"queue"`
	Partitions int64  `json:"partitions"`
	Messages   int64  `json:"messages"`
	Pending    int64  `json:"pending"` // processing included
	Processing int64  `json:"processing"`
	Bytes      int64  `json:"retainedBytes"`
	// How fast messages have grown since the frame before; never negative, null in
	// the first frame.
	In *float64 `json:"ingestedPerSecond"`
}

type topGroup struct {
	Group      string `json:"group"`
	Queue      string `json:"queue"`
	State      string `json:"state"`
	Behind     int64  `json:"behind"`
	LagSeconds int64  `json:"lagSeconds"`
	Partitions int64  `json:"partitionsBehind"`
	// How fast it got through the queue since the frame before: what came less
	// what it is further behind; never negative, null in the first frame.
	Done *float64 `json:"processedPerSecond"`
}

type topFlags struct {
	target   targetFlags
	format   outputFormat
	interval durationFlag
	once     bool
}

func newTopCmd() *cobra.Command {
	f := topFlags{interval: durationFlag(2 * time.Second)}
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch queues and consumer groups",
		Long: `Top shows the queues with the most pending messages and the groups that are
furthest behind, and shows them again and again until it is interrupted. IN/S is
how fast the messages kept have grown since the last look, DONE/S how fast a group
got through them. Over HTTP the pending and processing messages of a queue are
those of the server's last count (STATS_INTERVAL_MS); all else is of the moment.

Where the output is no terminal, every look is one JSON document on one line.`,
		Example: `  regent top --interval 5s
  regent top --once -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if time.Duration(f.interval) < 100*time.Millisecond {
				return errors.New("--interval must be at least 100ms")
			}
			c, err := f.target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			if f.once {
				return f.one(cmd, c)
			}
			return f.watch(cmd, c)
		},
	}
	f.target.addFlags(cmd, queryRetryFor)
	f.format.addLineFlag(cmd)
	cmd.Flags().Var(&f.interval, "interval", "time between two looks")
	cmd.Flags().BoolVar(&f.once, "once", false, "look once and end")
	return cmd
}

func (f *topFlags) one(cmd *cobra.Command, c client) error {
	now, err := look(cmd.Context(), c, nil)
	if err != nil {
		return err
	}
	format := f.format.resolve(cmd.OutOrStdout(), "ndjson")
	return format.print(cmd, now, func() table { return now.table(len(now.Queues), len(now.Groups)) })
}

// watch shows frames until the command is interrupted, which is no error. On a
// terminal it waits for a server that is away.
func (f *topFlags) watch(cmd *cobra.Command, c client) error {
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	format := f.format.resolve(out, "ndjson")
	live := format == "table" && isTerminal(out)
	if live {
		defer func() { _, _ = io.WriteString(out, leaveScreen) }()
		if err := writeAll(out, []byte(enterScreen)); err != nil {
			return err
		}
	}
	var last *frame
	for {
		now, err := look(ctx, c, last)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (!live || exitCode(err) != exitServer):
			return err
		case err != nil:
			err = drawError(out, errorLine(err, cmd.Annotations[chosenBy]))
		default:
			last = now
			err = now.show(out, format, live)
		}
		if err != nil {
			return err
		}
		if sleep(ctx, time.Duration(f.interval)) != nil {
			return nil
		}
	}
}

// look asks for both lists. Rates need the frame before.
func look(ctx context.Context, c client, last *frame) (*frame, error) {
	now := &frame{At: time.Now().UTC(), Queues: []topQueue{}, Groups: []topGroup{}}
	var err error
	if now.Queues, err = standing(ctx, c); err != nil {
		return nil, err
	}
	text, err := c.Groups(ctx)
	if err != nil {
		return nil, err
	}
	var groups []groupInfo
	if err := decode(text, &groups); err != nil {
		return nil, err
	}
	for _, g := range groups {
		now.Groups = append(now.Groups, topGroup{Group: g.Name, Queue: g.QueueName, State: g.State, Behind: g.TotalLag,
			LagSeconds: g.MaxTimeLag, Partitions: g.PartitionsWithLag})
	}
	now.rates(last)
	now.sort()
	return now, nil
}

// standing are the queues with their numbers: live by SQL, by HTTP with what the
// server counted last.
func standing(ctx context.Context, c client) ([]topQueue, error) {
	rows := []topQueue{}
	if own, ok := c.(*sqlClient); ok {
		var queues []db.QueueStatusRow
		err := own.run(ctx, repeatAny, func() (err error) {
			queues, err = own.queries.ListQueueStatus(ctx)
			return err
		})
		for _, q := range queues {
			rows = append(rows, topQueue{Queue: q.Queue, Partitions: q.Partitions, Messages: q.Messages, Pending: q.Pending,
				Processing: q.Processing, Bytes: q.RetainedBytes})
		}
		return rows, err
	}
	text, err := c.Queues(ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Queues []queueInfo `json:"queues"`
	}
	if err := decode(text, &list); err != nil {
		return nil, err
	}
	for _, q := range list.Queues {
		row := topQueue{Queue: q.Name, Messages: value(q.Messages.Total), Pending: value(q.Messages.Pending),
			Processing: value(q.Messages.Processing), Bytes: q.RetainedBytes}
		_ = json.Unmarshal(q.Partitions, &row.Partitions)
		rows = append(rows, row)
	}
	return rows, nil
}

func (f *frame) rates(last *frame) {
	if last == nil {
		return
	}
	seconds := max(f.At.Sub(last.At).Seconds(), 0.001)
	grown := map[string]int64{} // by queue, where it is known
	for _, q := range last.Queues {
		grown[q.Queue] = -q.Messages
	}
	for i, q := range f.Queues {
		if old, known := grown[q.Queue]; known {
			grown[q.Queue] = q.Messages + old
			f.Queues[i].In = rate(q.Messages+old, seconds)
		}
	}
	before := map[[2]string]int64{}
	for _, g := range last.Groups {
		before[[2]string{g.Queue, g.Group}] = g.Behind
	}
	for i, g := range f.Groups {
		old, known := before[[2]string{g.Queue, g.Group}]
		if in, also := grown[g.Queue]; known && also {
			f.Groups[i].Done = rate(in-g.Behind+old, seconds)
		}
	}
}

func rate(n int64, seconds float64) *float64 {
	r := max(float64(n)/seconds, 0)
	return &r
}

func (f *frame) sort() {
	slices.SortFunc(f.Queues, func(a, b topQueue) int {
		return cmp.Or(cmp.Compare(b.Pending, a.Pending), cmp.Compare(a.Queue, b.Queue))
	})
	slices.SortFunc(f.Groups, func(a, b topGroup) int {
		return cmp.Or(cmp.Compare(b.Behind, a.Behind), cmp.Compare(a.Queue, b.Queue), cmp.Compare(a.Group, b.Group))
	})
}

// show writes the frame: over the last one on a terminal, else behind it.
func (f *frame) show(out io.Writer, format outputFormat, live bool) error {
	switch {
	case live:
		return f.draw(out)
	case format == "table":
		if err := f.table(len(f.Queues), len(f.Groups)).write(out); err != nil {
			return err
		}
		return writeAll(out, []byte("\n"))
	case format == "ndjson":
		return writeJSON(out, f, "")
	case format == "yaml":
		if err := writeAll(out, []byte("---\n")); err != nil {
			return err
		}
		return writeYAML(out, f)
	}
	return writeJSON(out, f, "  ")
}

// draw fits the frame into the screen: at least half of it is for queues, and
// what they leave is for groups.
func (f *frame) draw(out io.Writer) error {
	width, height := 120, 40
	if file, ok := out.(*os.File); ok {
		if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 0 && h > 0 {
			width, height = w, h
		}
	}
	room := max(height-5, 2) // the title, two headers and a line before each
	queues := min(len(f.Queues), max(room/2, room-len(f.Groups)))
	var text bytes.Buffer
	if err := f.table(queues, min(len(f.Groups), room-queues)).write(&text); err != nil {
		return err
	}
	return drawLines(out, strings.Split(strings.TrimRight(text.String(), "\n"), "\n"), width, height)
}

func drawLines(out io.Writer, lines []string, width, height int) error {
	var screen bytes.Buffer
	screen.WriteString("\x1b[H")
	for i, line := range lines[:min(len(lines), height)] {
		if i > 0 {
			screen.WriteByte('\n')
		}
		screen.WriteString(oneLine(line, width) + "\x1b[K")
	}
	screen.WriteString("\x1b[J")
	return writeAll(out, screen.Bytes())
}

func drawError(out io.Writer, text string) error {
	return writeAll(out, []byte("\x1b[H"+oneLine("no answer: "+text, 100)+"\x1b[K"))
}

func (f *frame) table(queues, groups int) table {
	var pending, behind int64
	for _, q := range f.Queues {
		pending += q.Pending
	}
	for _, g := range f.Groups {
		behind = max(behind, g.LagSeconds)
	}
	t := sentence(fmt.Sprintf("%s  %s, %s pending, %s, the slowest %s s behind", f.At.Format("15:04:05Z"),
		counted(int64(len(f.Queues)), "queue"), grouped(pending), counted(int64(len(f.Groups)), "group"), grouped(behind)), "")
	t.rows = append(t.rows, []string{"QUEUE", "PARTITIONS", "MESSAGES", "PENDING", "PROCESSING", "IN/S", "SIZE"})
	for _, q := range f.Queues[:queues] {
		t.rows = append(t.rows, []string{oneLine(q.Queue, 40), grouped(q.Partitions), grouped(q.Messages), grouped(q.Pending),
			grouped(q.Processing), perSecond(q.In), formatSize(q.Bytes)})
	}
	t.rows = append(t.rows, []string{""}, []string{"GROUP", "QUEUE", "STATE", "BEHIND", "SECONDS", "PARTITIONS", "DONE/S"})
	for _, g := range f.Groups[:groups] {
		t.rows = append(t.rows, []string{oneLine(g.Group, 40), oneLine(g.Queue, 40), g.State, grouped(g.Behind), grouped(g.LagSeconds), grouped(g.Partitions), perSecond(g.Done)})
	}
	return t
}

func perSecond(rate *float64) string {
	if rate == nil {
		return "-"
	}
	return strconv.FormatFloat(*rate, 'f', 1, 64)
}
