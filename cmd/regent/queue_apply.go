package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"regent.local/regent/api"
)

// noQueueID is the id of a queue that a dry run would create.
const noQueueID = "00000000-0000-0000-0000-000000000000"

// applied is what became, or would become, of one queue of a manifest.
type applied struct {
	Queue   string         `json:"queue"`
	Result  string         `json:"result"` // created, changed or unchanged
	DryRun  bool           `json:"dryRun"`
	Changes []optionChange `json:"changes"`
	// What the next sweep would delete under the manifest's options; in a dry run only.
	Retention *api.RetentionPreview `json:"retention,omitempty"`
	more      int64                 // messages that it would delete beyond those it deletes anyway
	from      manifestQueue
}

type optionChange struct {
	Option string          `json:"option"`
	From   json.RawMessage `json:"from"` // null: its default
	To     json.RawMessage `json:"to"`
}

type applyFlags struct {
	target      targetFlags
	format      outputFormat
	file        string
	dryRun, yes bool
}

func newQueueApplyCmd() *cobra.Command {
	var f applyFlags
	cmd := &cobra.Command{
		Use:   "apply -f FILE",
		Short: "Make queues be configured as a manifest says",
		Long: `Apply reads YAML or JSON and makes each queue in it be what it says there: queues
that do not exist are created, and options that are not named go back to their
default, as with "regent queue configure --mode replace". Queues that the manifest
does not name are left alone. The options have the names and units of the API:

    queue: orders
    namespace: shop
    options:
      leaseTime: 30            # seconds
      retentionEnabled: true
      retentionSeconds: 604800
    ---
    queue: prices
    options: {cleanupPolicy: compact}

More queues are more documents, or a list.

Before anything is changed the whole manifest is read, and the server is asked
about each queue: a fault in one of them changes none. Each queue is then changed
at once; when that fails for one of them, those before it stay changed, which the
message says, and the same command goes on from there.

--dry-run shows what would change, and what the next sweep would then delete.
When that is more than it would delete anyway, --yes is needed to do it.

Exit code 4 means that every queue is as the manifest says already.`,
		Example: `  regent queue apply -f queues.yaml --dry-run
  generate-queues | regent queue apply -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runApply(cmd, &f) },
	}
	f.target.addFlags(cmd, queryRetryFor)
	f.format.addFlag(cmd)
	cmd.Flags().VarP((*onceFlag)(&f.file), "file", "f", "the manifest; - is standard input")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change and change nothing")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "change queues although the next sweep will then delete messages")
	if err := cmd.MarkFlagRequired("file"); err != nil {
		panic(err)
	}
	return cmd
}

// onceFlag is text that is given once: of two, the first would be dropped.
type onceFlag string

func (v *onceFlag) String() string { return string(*v) }
func (v *onceFlag) Type() string   { return "string" }

func (v *onceFlag) Set(text string) error {
	if *v != "" {
		return errors.New("it is given twice, and takes one file")
	}
	*v = onceFlag(text)
	return nil
}

func runApply(cmd *cobra.Command, f *applyFlags) error {
	name, text, err := readFile(cmd, f.file)
	if err != nil {
		return err
	}
	queues, err := readManifest(name, text)
	if err != nil {
		return err
	}
	c, err := f.target.open(cmd.Context(), cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	plan := make([]applied, len(queues))
	for i, q := range queues {
		if plan[i], err = planQueue(cmd, c, q, f.dryRun); err != nil {
			return fmt.Errorf("%s:%d: %w; nothing was changed", name, q.line, err)
		}
	}
	return f.carryOut(cmd, c, name, plan)
}

// readFile returns a file, or standard input for -, and its name for messages.
func readFile(cmd *cobra.Command, file string) (name string, text []byte, err error) {
	if file == "-" {
		text, err = io.ReadAll(cmd.InOrStdin())
		return "standard input", text, err
	}
	if text, err = os.ReadFile(file); err != nil {
		return "", nil, fmt.Errorf("read manifest: %w", err)
	}
	return file, text, nil
}

// configured is the part of configure's answer that a plan compares.
type configured struct {
	QueueID   string                     `json:"queueId"`
	Namespace string                     `json:"namespace"`
	Task      string                     `json:"task"`
	Options   map[string]json.RawMessage `json:"options"`
	Retention *api.RetentionPreview      `json:"retention"`
}

// tryQueue asks what a configure would do. Without options it is what there is.
func tryQueue(cmd *cobra.Command, c client, req configureRequest) (configured, error) {
	req.DryRun = true
	text, err := c.Configure(cmd.Context(), req)
	if err != nil {
		return configured{}, err
	}
	var answer configured
	if err := decode(text, &answer); err != nil {
		return configured{}, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	if answer.Options == nil || answer.Retention == nil {
		return configured{}, withCode(exitServer, fmt.Errorf("configure %q: the server does not know dry runs", req.Queue))
	}
	answer.Options["namespace"], answer.Options["task"] = jsonText(answer.Namespace), jsonText(answer.Task)
	return answer, nil
}

// planQueue compares what is with what would be. What is comes second, so that
// what grows old between the two counts as there before.
func planQueue(cmd *cobra.Command, c client, q manifestQueue, dryRun bool) (applied, error) {
	after, err := tryQueue(cmd, c, q.req)
	if err != nil {
		return applied{}, err
	}
	before, err := tryQueue(cmd, c, configureRequest{Queue: q.req.Queue, Mode: "merge", Options: map[string]json.RawMessage{}})
	if err != nil {
		return applied{}, err
	}
	a := applied{Queue: q.req.Queue, Result: "unchanged", DryRun: dryRun, Changes: changes(before.Options, after.Options), from: q,
		more: after.Retention.Totals.Messages - before.Retention.Totals.Messages}
	if dryRun {
		a.Retention = after.Retention
	}
	switch {
	case before.QueueID == noQueueID:
		a.Result = "created"
	case len(a.Changes) > 0:
		a.Result = "changed"
	}
	return a, nil
}

// refuseLoss is why a plan is not carried out without --yes, if the next sweep would
// delete more by it.
func (a applied) refuseLoss() error {
	if a.more <= 0 {
		return nil
	}
	return fmt.Errorf("the next sweep would then delete %s more of queue %q: --dry-run shows which, --yes does it; nothing was changed",
		counted(a.more, "message"), a.Queue)
}

func changes(before, after map[string]json.RawMessage) []optionChange {
	names := map[string]bool{}
	for name := range before {
		names[name] = true
	}
	for name := range after {
		names[name] = true
	}
	found := []optionChange{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !bytes.Equal(before[name], after[name]) {
			found = append(found, optionChange{name, orNull(before[name]), orNull(after[name])})
		}
	}
	return found
}

func orNull(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("null")
	}
	return value
}

// carryOut does what was planned, or shows it.
func (f *applyFlags) carryOut(cmd *cobra.Command, c client, name string, plan []applied) error {
	var work []int // of the plan
	for i, a := range plan {
		if a.Result == "unchanged" {
			continue
		}
		work = append(work, i)
		if err := a.refuseLoss(); err != nil && !f.dryRun && !f.yes {
			return err
		}
	}
	if !f.dryRun {
		for n, i := range work {
			if _, err := c.Configure(cmd.Context(), plan[i].from.req); err != nil {
				return fmt.Errorf("%s:%d: %w%s", name, plan[i].from.line, err, halfDone(plan, work, n))
			}
		}
	}
	if err := f.show(cmd, plan); err != nil {
		return err
	}
	if len(work) == 0 {
		return nothingTo("nothing to do: %s as %s says", map[bool]string{true: "the queue is", false: "all queues are"}[len(plan) == 1], name)
	}
	return nil
}

// halfDone says how far an apply came that failed at the n-th queue to be changed.
func halfDone(plan []applied, work []int, n int) string {
	names := func(part []int) string {
		quoted := make([]string, len(part))
		for k, i := range part {
			quoted[k] = fmt.Sprintf("%q", plan[i].Queue)
		}
		if len(quoted) == 0 {
			return "none"
		}
		return strings.Join(quoted, ", ")
	}
	return fmt.Sprintf("; changed before that: %s; not tried: %s; the same command goes on from there", names(work[:n]), names(work[n+1:]))
}

func (f *applyFlags) show(cmd *cobra.Command, plan []applied) error {
	items := make([]any, len(plan))
	for i, a := range plan {
		items[i] = a
	}
	return f.format.printList(cmd, plan, items, func() table { return appliedTable(plan) })
}

func appliedTable(plan []applied) table {
	t := table{header: []string{"QUEUE", "RESULT", "OPTION", "FROM", "TO"}}
	var sweep [][]string
	for _, a := range plan {
		result := a.Result
		if a.DryRun && result != "unchanged" {
			result = "would be " + result
		}
		first := []string{a.Queue, result}
		for _, c := range a.Changes {
			t.rows = append(t.rows, append(first, c.Option, string(c.From), string(c.To)))
			first = []string{"", ""}
		}
		if len(a.Changes) == 0 {
			t.rows = append(t.rows, append(first, "", "", ""))
		}
		if a.Retention != nil && a.Retention.Totals.Messages > 0 {
			sweep = append(sweep, previewTable(*a.Retention).rows[0])
		}
	}
	if len(sweep) > 0 {
		t.rows = append(append(t.rows, []string{""}), sweep...)
	}
	return t
}
