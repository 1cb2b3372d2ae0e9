package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
)

const (
	pushRetryFor = time.Minute
	saveEvery    = 250 * time.Millisecond
	// defaultDedup is the dedup window of a queue that a push creates.
	defaultDedup = time.Hour
)

type pushFlags struct {
	target                         targetFlags
	format                         outputFormat
	partition, partitionKey, idKey string
	key                            string
	batch, concurrency             int
	batchBytes                     sizeFlag
	restart, skipBad, yes          bool
}

func newPushCmd() *cobra.Command {
	var f pushFlags
	cmd := &cobra.Command{
		Use:   "push QUEUE [FILE]",
		Short: "Push a file or standard input, one JSON value a line",
		Long: `Push sends NDJSON: each line of FILE is one JSON value and becomes one message.
Without FILE, or with -, it reads standard input.

Lines of one partition keep their order. While a file is pushed, the last
acknowledged line is kept beside it in FILE` + progressSuffix + `; after an
interruption the same command goes on behind that line, and lines that were sent
but not acknowledged are sent again with the same transactionId, so that they
are stored once. Standard input has no such file.

A transactionId is taken from --id-key, else made of the SHA-256 of the whole file
and the line number, for which the file is read once more before it is pushed.
Pushing the same content twice within the queue's dedup window stores it once,
whatever the name and the time of the file; a file that was changed is another one,
and all its lines are new. Standard input is new each time. JSON paths are those of
RFC 9535; a.b is short for $.a.b.

With --dsn an encrypted queue refuses what is pushed: only a server has the key.`,
		Example: `  regent push orders events.ndjson --partition-key customer.id --id-key event_id
  tail -F app.log | regent push logs`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			file := "-"
			if len(args) == 2 {
				file = args[1]
			}
			return runPush(cmd, &f, args[0], file)
		},
	}
	f.target.addFlags(cmd, pushRetryFor)
	f.format.addFlag(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.partition, "partition", "", "partition of every line (default "+defaultPartName+")")
	fl.StringVar(&f.partitionKey, "partition-key", "", "JSON path of each line's partition (default: --partition)")
	fl.StringVar(&f.idKey, "id-key", "", "JSON path of each line's transactionId (default: made of content and line number)")
	fl.StringVar(&f.key, "key", "", "JSON path of each line's key, for queues that keep the latest message of each (default: no keys)")
	fl.IntVar(&f.batch, "batch", 500, "lines a call, at most")
	f.batchBytes = defaultBatchBytes
	fl.Var(&f.batchBytes, "batch-bytes", "payload bytes a call, at most, unless one line is larger")
	fl.IntVar(&f.concurrency, "concurrency", 4, "calls at a time; one partition never has two")
	fl.BoolVar(&f.restart, "restart", false, "ignore the progress file and begin with the first line")
	fl.BoolVar(&f.skipBad, "skip-bad", false, "report bad lines and go on instead of stopping")
	fl.BoolVar(&f.yes, "yes", false, "go on although messages may be stored twice")
	cmd.MarkFlagsMutuallyExclusive("partition", "partition-key")
	return cmd
}

// pushRun is one run of the command.
type pushRun struct {
	cmd    *cobra.Command
	flags  *pushFlags
	client client
	queue  string
	name   string // of the input, for messages
	// file is nil for standard input; path is that of the progress file.
	file  *os.File
	path  string
	state progress // as last saved
	begin line     // the last line that an earlier run has acknowledged
	askID bool     // the queue's id is not asked for yet
	push  pusher
}

func runPush(cmd *cobra.Command, f *pushFlags, queue, file string) error {
	if f.batch < 1 || f.concurrency < 1 {
		return errors.New("--batch and --concurrency must be at least 1")
	}
	if f.batchBytes < 1 || f.batchBytes > maxBatchBytes {
		return fmt.Errorf("--batch-bytes must be between 1 and %s", formatSize(maxBatchBytes))
	}
	r := &pushRun{cmd: cmd, flags: f, queue: queue, name: file}
	if err := r.makePusher(); err != nil {
		return err
	}
	c, err := f.target.open(cmd.Context(), cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	r.client, r.push.client = c, c
	source, err := r.openInput(file)
	if err != nil {
		return err
	}
	if r.file != nil {
		defer r.file.Close()
	}
	return r.execute(source)
}

func (r *pushRun) makePusher() error {
	f := r.flags
	partitionKey, err := parsePath("partition-key", f.partitionKey)
	if err != nil {
		return err
	}
	idKey, err := parsePath("id-key", f.idKey)
	if err != nil {
		return err
	}
	key, err := parsePath("key", f.key)
	if err != nil {
		return err
	}
	if err := checkPartition(f.partition); err != nil {
		return fmt.Errorf("--partition: %w", err)
	}
	r.state = progress{Queue: r.queue, Partition: f.partition, PartitionKey: f.partitionKey, IDKey: f.idKey, Key: f.key}
	r.push = pusher{
		batch: f.batch, batchBytes: int64(f.batchBytes), concurrency: f.concurrency, skipBad: f.skipBad,
		maker: itemMaker{queue: r.queue, partition: cmp.Or(f.partition, defaultPartName), partitionKey: partitionKey, idKey: idKey, key: key},
		onBad: func(err error) { r.say("%s: %v; skipped", r.name, err) },
	}
	return nil
}

func (r *pushRun) say(format string, args ...any) {
	fmt.Fprintf(r.cmd.ErrOrStderr(), "regent: "+format+"\n", args...)
}

// openInput returns the input from the line on at which the push begins.
func (r *pushRun) openInput(file string) (io.Reader, error) {
	if file == "-" {
		r.name = "standard input"
		r.push.maker.idPrefix = rand.Text()
		r.say("standard input keeps no progress: after an interruption a push begins with the first line again")
		return interruptible(r.cmd.Context(), r.cmd.InOrStdin()), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("open input: %w", err)
	}
	if err := r.openFile(f, file); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func (r *pushRun) openFile(f *os.File, file string) error {
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open input: %w", err)
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("open input: %q is not a regular file; pipe it into standard input", file)
	}
	if r.state.Input, err = identify(r.cmd.Context(), f); interrupted(r.cmd.Context(), err) {
		return fmt.Errorf("push of %s stopped before its first line: interrupted", r.name)
	} else if err != nil {
		return err
	}
	r.file, r.path = f, file+progressSuffix
	r.push.maker.idPrefix = r.state.Input.idPrefix()
	return r.resume()
}

// resume moves to the line behind the last acknowledged one.
func (r *pushRun) resume() error {
	if r.flags.restart {
		return nil
	}
	old, err := loadProgress(r.path)
	if err != nil || old == nil {
		return err
	}
	if why := old.mismatch(r.state); why != "" {
		return fmt.Errorf("progress file %q %s; %s", r.path, why, old.restarting(r.state))
	}
	if err := r.checkQueue(old); err != nil {
		return err
	}
	if _, err := r.file.Seek(old.Offset, io.SeekStart); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	r.state = *old
	r.say("resuming %s behind line %s (%s of %s), acknowledged %s ago", r.name, grouped(old.Line),
		formatSize(old.Offset), formatSize(old.Input.Size), time.Since(old.Time).Round(time.Second))
	return nil
}

// checkQueue compares the queue with the one that the progress is about.
func (r *pushRun) checkQueue(old *progress) error {
	id, window, err := r.lookUp(r.cmd.Context())
	switch {
	case errors.Is(err, errNoQueue) && old.Line > 0,
		err == nil && old.QueueID != "" && old.QueueID != id:
		return fmt.Errorf("progress file %q is about a queue %q that is gone; --restart pushes the input from its first line", r.path, r.queue)
	case errors.Is(err, errNoQueue):
		return nil
	case err != nil && exitCode(err) != exitAuth:
		return err
	}
	gone := time.Since(old.Time)
	switch {
	case err != nil:
		r.say("may not read the queue: its dedup window is unknown")
	case window == 0:
		return r.acceptRepeats("queue %q has deduplication off: lines that were sent but not acknowledged will be stored twice", r.queue)
	case gone > window:
		return r.acceptRepeats("%s have passed since the last acknowledgement, more than the dedup window of %s: lines that were sent but not acknowledged may be stored twice",
			gone.Round(time.Second), window)
	}
	return nil
}

func (r *pushRun) acceptRepeats(format string, args ...any) error {
	warning := fmt.Sprintf(format, args...)
	if r.flags.yes {
		r.say("%s", warning)
		return nil
	}
	if confirm(r.cmd, warning+". Go on?") {
		return nil
	}
	return fmt.Errorf("%s; --yes goes on", warning)
}

// lookUp returns the queue's id and dedup window.
func (r *pushRun) lookUp(ctx context.Context) (id string, window time.Duration, err error) {
	text, err := r.client.Queue(ctx, r.queue)
	if err != nil {
		return "", 0, err
	}
	var q struct {
		ID      string `json:"id"`
		Options struct {
			Dedup *int64 `json:"dedupWindowSeconds"`
		} `json:"options"`
	}
	if err := decode(text, &q); err != nil {
		return "", 0, fmt.Errorf("show %q: %w", r.queue, err)
	}
	if q.Options.Dedup == nil {
		return q.ID, defaultDedup, nil
	}
	return q.ID, time.Duration(*q.Options.Dedup) * time.Second, nil
}

// execute pushes, keeps progress and reports.
func (r *pushRun) execute(source io.Reader) error {
	r.begin = line{no: r.state.Line, end: r.state.Offset}
	r.askID = r.state.QueueID == ""
	r.push.track = newTracker(r.begin)
	started := time.Now()
	display := newDisplay(r.cmd.ErrOrStderr(), r.name, r.state.Input.Size, r.state.Offset, &r.push.counts)
	stopSaving := r.startSaving()
	err := r.push.run(r.cmd.Context(), newLineReader(source, r.begin))
	saveErr := stopSaving()
	display.stop()
	if printErr := r.report(time.Since(started)); err == nil {
		err = printErr
	}
	return r.conclude(err, saveErr)
}

// conclude keeps or removes the progress file and words the outcome.
func (r *pushRun) conclude(err, saveErr error) error {
	mark, _ := r.push.track.state()
	var bad *badLine
	switch {
	case err == nil && r.file != nil:
		if err := os.Remove(r.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove progress: %w", err)
		}
		fallthrough
	case err == nil:
		if mark.no == 0 {
			return nothingTo("%s is empty", r.name)
		}
		return nil
	case errors.As(err, &bad):
		return fmt.Errorf("%s: %w; nothing behind it was sent", r.name, err)
	case interrupted(r.cmd.Context(), err):
		err = errors.New("interrupted")
	}
	if r.file == nil {
		return fmt.Errorf("push of %s stopped: %w", r.name, err)
	}
	if saveErr != nil {
		return fmt.Errorf("push of %s stopped behind line %d: %w; progress is not kept: %w", r.name, mark.no, err, saveErr)
	}
	return fmt.Errorf("push of %s stopped behind line %d: %w; the same command goes on from there", r.name, mark.no, err)
}

// startSaving writes the progress file while the push runs. The returned
// function writes it a last time.
func (r *pushRun) startSaving() (stop func() error) {
	if r.file == nil {
		return func() error { return nil }
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(saveEvery)
		defer tick.Stop()
		for warned := false; ; {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			if err := r.save(r.cmd.Context()); err != nil && !warned {
				warned = true
				r.say("%v; an interruption would begin with line %d again", err, r.state.Line+1)
			}
		}
	}()
	return func() error {
		close(quit)
		<-done
		return r.save(context.WithoutCancel(r.cmd.Context()))
	}
}

// save writes the progress file when there is news.
func (r *pushRun) save(ctx context.Context) error {
	mark, at := r.push.track.state()
	if mark.no == r.state.Line {
		return nil
	}
	next := r.state
	next.Line, next.Offset, next.Time = mark.no, mark.end, at.UTC()
	if r.askID {
		r.askID = false
		next.QueueID = r.queueID(ctx)
	}
	if err := next.save(r.path); err != nil {
		return err
	}
	r.state = next
	return nil
}

// queueID is empty when the caller may not read the queue; the progress file
// works without it.
func (r *pushRun) queueID(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	id, _, err := r.lookUp(ctx)
	if err != nil {
		return ""
	}
	return id
}

// pushReport is what scripts read.
type pushReport struct {
	Queue      string  `json:"queue"`
	Input      string  `json:"input"`
	FirstLine  int64   `json:"firstLine"`
	Lines      int64   `json:"lines"`
	Queued     int64   `json:"queued"`
	Duplicates int64   `json:"duplicates"`
	Buffered   int64   `json:"buffered"`
	Failed     int64   `json:"failed"`
	Skipped    int64   `json:"skipped"`
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"linesPerSecond"`
}

func (r *pushRun) report(took time.Duration) error {
	c := &r.push.counts
	lines := c.lines.Load()
	rep := pushReport{
		Queue: r.queue, Input: r.name, FirstLine: r.begin.no + 1, Lines: lines,
		Queued: c.queued.Load(), Duplicates: c.duplicates.Load(), Buffered: c.buffered.Load(),
		Failed: c.failed.Load(), Skipped: c.skipped.Load(),
		Seconds: round2(took.Seconds()), PerSecond: round2(float64(lines) / max(took.Seconds(), 1e-9)),
	}
	return r.flags.format.print(r.cmd, rep, func() table { return sentence(rep.String()) })
}
