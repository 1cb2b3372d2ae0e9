package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"regent.local/regent/api"
)

const queryRetryFor = 2 * time.Second

func newQueueCmd() *cobra.Command {
	return nounCmd("queue", "List, show, configure, apply and delete queues",
		newQueueListCmd(), newQueueShowCmd(), newQueueConfigureCmd(), newQueueApplyCmd(), newQueueDeleteCmd(), newQueuePreviewCmd())
}

// queueCounts are the numbers of a queue or a partition. Null means unknown.
type queueCounts struct {
	Total, Pending, Processing, Completed, DeadLetter *int64
}

// queueInfo is the part of the API's documents that tables show.
type queueInfo struct {
	ID            string                     `json:"id"`
	Name          string                     `json:"name"`
	Namespace     string                     `json:"namespace"`
	Task          string                     `json:"task"`
	CreatedAt     string                     `json:"createdAt"`
	Partitions    json.RawMessage            `json:"partitions"` // a number in the list, an array in the detail
	RetainedBytes int64                      `json:"retainedBytes"`
	Segments      struct{ Segments int64 }   `json:"segments"`
	Messages      queueCounts                `json:"messages"`
	Totals        queueCounts                `json:"totals"`
	Options       map[string]json.RawMessage `json:"options"`
}

type partitionInfo struct {
	ID            string      `json:"id"`
	Name          string      `json:"name"`
	Stats         queueCounts `json:"stats"`
	NewestMessage *string     `json:"newestMessage"`
}

func number(n *int64) string {
	if n == nil {
		return "-"
	}
	return grouped(*n)
}

// countedOrNot is a number that may be unknown, with its noun.
func countedOrNot(n *int64, noun string) string {
	if n == nil {
		return "- " + noun + "s"
	}
	return counted(*n, noun)
}

func newQueueListCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List queues, newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			text, err := c.Queues(cmd.Context())
			if err != nil {
				return err
			}
			var list struct {
				Queues []json.RawMessage `json:"queues"`
			}
			if err := decode(text, &list); err != nil {
				return fmt.Errorf("list queues: %w", err)
			}
			items := make([]any, len(list.Queues))
			for i, q := range list.Queues {
				items[i] = q
			}
			return format.printList(cmd, text, items, func() table { return queueTable(list.Queues) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

func queueTable(queues []json.RawMessage) table {
	t := table{header: []string{"QUEUE", "PARTITIONS", "MESSAGES", "PENDING", "PROCESSING", "SIZE", "CREATED"}}
	for _, text := range queues {
		var q queueInfo
		if json.Unmarshal(text, &q) != nil {
			continue
		}
		t.rows = append(t.rows, []string{q.Name, string(q.Partitions), number(q.Messages.Total), number(q.Messages.Pending),
			number(q.Messages.Processing), formatSize(q.RetainedBytes), q.CreatedAt})
	}
	return t
}

func newQueueShowCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a queue's options, partitions and numbers",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			text, err := c.Queue(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			q, parts, err := readQueue(text)
			if err != nil {
				return err
			}
			return format.print(cmd, text, func() table { return detailTable(q, parts) })
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	return cmd
}

func readQueue(text json.RawMessage) (q queueInfo, parts []partitionInfo, err error) {
	if err := decode(text, &q); err != nil {
		return q, nil, fmt.Errorf("show queue: %w", err)
	}
	if len(q.Partitions) > 0 {
		err = decode(q.Partitions, &parts)
	}
	return q, parts, err
}

func detailTable(q queueInfo, parts []partitionInfo) table {
	t := sentence(
		"queue "+q.Name+"  id "+q.ID+"  created "+q.CreatedAt,
		fmt.Sprintf("%s, %s (%s pending, %s processing, %s), %s in %s",
			counted(int64(len(parts)), "partition"), countedOrNot(q.Totals.Total, "message"), number(q.Totals.Pending), number(q.Totals.Processing),
			countedOrNot(q.Totals.DeadLetter, "dead letter"), formatSize(q.RetainedBytes), counted(q.Segments.Segments, "segment")),
		"")
	for _, name := range slices.Sorted(keysOf(q.Options)) {
		t.rows = append(t.rows, []string{"  " + name, string(q.Options[name])})
	}
	if len(parts) == 0 {
		return t
	}
	t.rows = append(t.rows, []string{""}, []string{"PARTITION", "MESSAGES", "PENDING", "PROCESSING", "DEAD LETTERS", "NEWEST"})
	for _, p := range parts {
		newest := "-"
		if p.NewestMessage != nil {
			newest = *p.NewestMessage
		}
		t.rows = append(t.rows, []string{p.Name, number(p.Stats.Total), number(p.Stats.Pending),
			number(p.Stats.Processing), number(p.Stats.DeadLetter), newest})
	}
	return t
}

func keysOf[V any](m map[string]V) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// optionKind is how a typed flag becomes an option's JSON value.
type optionKind int

const (
	optSeconds optionKind = iota
	optMillis
	optInt
	optBool
	optText
	optSize
)

type optionFlag struct {
	flag, option, usage string
	kind                optionKind
	initial             string // as a person writes it; empty: none
}

// optionFlags are the options that have a flag of their own; --set reaches all.
func optionFlags() []optionFlag {
	return []optionFlag{
		{"namespace", "namespace", "namespace for discovery", optText, ""},
		{"task", "task", "task for discovery", optText, ""},
		{"lease-time", "leaseTime", "how long a popped message stays leased", optSeconds, "5m"},
		{"retry-limit", "retryLimit", "redeliveries of a failed message before it is dead-lettered", optInt, "3"},
		{"dead-letter-queue", "deadLetterQueue", "keep messages that failed too often", optBool, "true"},
		{"dlq-after-max-retries", "dlqAfterMaxRetries", "--dead-letter-queue by its other name: both must be false to turn it off", optBool, "true"},
		{"delayed-processing", "delayedProcessing", "age a message must have to be delivered", optSeconds, "0s"},
		{"window-buffer", "windowBuffer", "wait until nothing was pushed for so long, at most so long after the first unread", optSeconds, "0s"},
		{"min-pop-wait-time", "minPopWaitTime", "how long a waiting pop may hold an under-full batch", optMillis, "0s"},
		{"dedup-window", "dedupWindowSeconds", "how long a transactionId is remembered; 0s turns deduplication off", optSeconds, "1h"},
		{"retention-enabled", "retentionEnabled", "delete old messages", optBool, "false"},
		{"retention", "retentionSeconds", "age at which a message goes; 0s: at no age", optSeconds, "0s"},
		{"completed-retention", "completedRetentionSeconds", "age at which a message goes that every group has consumed; 0s: at no age", optSeconds, "0s"},
		{"max-wait-time", "maxWaitTimeSeconds", "age at which an unconsumed message goes; 0s: at no age", optSeconds, "0s"},
		{"dead-letter-retention", "deadLetterRetentionSeconds", "age at which a dead letter goes; 0s keeps them", optSeconds, "0s"},
		{"retention-bytes", "retentionBytes", "bytes that a partition may keep, as sent; 0B: any number", optSize, "0B"},
		{"retention-messages", "retentionMessages", "messages that a partition may keep; 0: any number", optInt, "0"},
		{"cleanup-policy", "cleanupPolicy", "delete, compact, or compact,delete: what makes room", optText, "delete"},
		{"delete-retention", "deleteRetentionSeconds", "how long compaction keeps a tombstone", optSeconds, "1d"},
		{"min-compaction-lag", "minCompactionLagSeconds", "age a message must have to be compacted", optSeconds, "0s"},
		{"group-idle", "groupIdleSeconds", "idleness after which a group no longer holds completed retention back; 0s never, else 5m at least", optSeconds, "0s"},
		{"encryption-enabled", "encryptionEnabled", "store payloads encrypted", optBool, "false"},
	}
}

// value returns the JSON of what the user wrote.
func (o optionFlag) value(text string) (json.RawMessage, error) {
	if text == "null" {
		return json.RawMessage("null"), nil
	}
	switch o.kind {
	case optSeconds, optMillis:
		d, err := parseDuration(text)
		if err != nil {
			return nil, err
		}
		unit := map[optionKind]time.Duration{optSeconds: time.Second, optMillis: time.Millisecond}[o.kind]
		if d%unit != 0 {
			return nil, fmt.Errorf("%q is not a whole number of %s", text, map[time.Duration]string{time.Second: "seconds", time.Millisecond: "milliseconds"}[unit])
		}
		return json.RawMessage(strconv.FormatInt(int64(d/unit), 10)), nil
	case optSize:
		n, err := parseSize(text)
		return json.RawMessage(strconv.FormatInt(n, 10)), err
	case optInt:
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return nil, fmt.Errorf("%q is not a whole number", text)
		}
		return json.RawMessage(text), nil
	case optBool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither true nor false", text)
		}
		return json.RawMessage(strconv.FormatBool(b)), nil
	}
	return jsonText(text), nil
}

// help says what an option is, and what it is when nobody sets it.
func (o optionFlag) help() string {
	if o.initial == "" {
		return o.usage + " (new queue: none)"
	}
	return o.usage + " (new queue: " + o.initial + ")"
}

func (o optionFlag) typeName() string {
	return map[optionKind]string{optSeconds: "duration", optMillis: "duration", optInt: "int", optBool: "bool", optText: "string", optSize: "size"}[o.kind]
}

// optionValue collects one option; it is a pflag.Value.
type optionValue struct {
	optionFlag
	into map[string]json.RawMessage
}

func (v optionValue) Set(text string) error {
	value, err := v.value(text)
	if err != nil {
		return err
	}
	v.into[v.option] = value
	return nil
}

func (v optionValue) String() string   { return "" }
func (v optionValue) Type() string     { return v.typeName() }
func (v optionValue) IsBoolFlag() bool { return v.kind == optBool }

// isTextOption tells the options that are never numbers, whatever their value looks like.
func isTextOption(name string) bool {
	return slices.Contains([]string{"namespace", "task", "retentionSinkHold", "cleanupPolicy"}, name)
}

// checkOption refuses a name that no option has: the server would ignore it.
func checkOption(name string) error {
	var names []string
	fields := reflect.TypeFor[api.ConfigureOptions]()
	for i := range fields.NumField() {
		known, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if known == name {
			return nil
		}
		names = append(names, known)
	}
	if near := nearWords(name, 3, names); len(near) > 0 {
		return fmt.Errorf("there is no such option; did you mean %s?", strings.Join(near, " or "))
	}
	return fmt.Errorf("there is no such option; there are %s", strings.Join(names, ", "))
}

// nearWords are those of the known words that somebody may have meant who typed word:
// at most distance letters away and half of it at least unchanged, or with the same beginning.
func nearWords(word string, distance int, known []string) []string {
	if slices.Contains(known, word) {
		return []string{word}
	}
	all := &cobra.Command{SuggestionsMinimumDistance: min(distance, max(len(word)/2, 1))}
	for _, name := range known {
		cmd := &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}}
		if strings.HasPrefix(word, name) {
			cmd.SuggestFor = []string{word}
		}
		all.AddCommand(cmd)
	}
	return slices.Compact(all.SuggestionsFor(word))
}

// parseSet reads name=value, value being JSON or else text.
func parseSet(text string) (name string, value json.RawMessage, err error) {
	name, literal, found := strings.Cut(text, "=")
	if !found || name == "" {
		return "", nil, fmt.Errorf("--set %q is not NAME=VALUE", text)
	}
	if err := checkOption(name); err != nil {
		return "", nil, fmt.Errorf("--set %s: %w", name, err)
	}
	if literal != "null" && isTextOption(name) {
		return name, jsonText(literal), nil
	}
	if json.Valid([]byte(literal)) {
		return name, bytes.TrimSpace([]byte(literal)), nil
	}
	return name, jsonText(literal), nil
}

func newQueueConfigureCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var sets []string
	var mode string
	var dryRun, yes bool
	options := map[string]json.RawMessage{}
	cmd := &cobra.Command{
		Use:   "configure NAME",
		Short: "Create a queue or change its options",
		Long: `Configure creates the queue when it does not exist. Options that are not named
keep their value (--mode merge) or go back to their default (--mode replace);
the value null means the default. When the next sweep would then delete more than
before, --yes is needed; --dry-run shows what.`,
		Example: `  regent queue configure orders --lease-time 30s --set retentionEnabled=true
  regent queue configure orders --mode replace --retention 7d --retention-enabled`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if mode != "merge" && mode != "replace" {
				return fmt.Errorf("--mode %q is neither merge nor replace", mode)
			}
			for _, s := range sets {
				name, value, err := parseSet(s)
				if err != nil {
					return err
				}
				options[name] = value
			}
			return configureQueue(cmd, &target, format, configureRequest{Queue: args[0], Mode: mode, Options: options, DryRun: dryRun}, yes)
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().StringArrayVar(&sets, "set", nil, "option NAME=VALUE by its name in the API; may be repeated")
	cmd.Flags().StringVar(&mode, "mode", "merge", "merge or replace")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "change nothing; show what the queue would be, and what retention would then delete")
	cmd.Flags().BoolVar(&yes, "yes", false, "also when the next sweep will then delete messages")
	for _, o := range optionFlags() {
		flag := cmd.Flags().VarPF(optionValue{o, options}, o.flag, "", o.help())
		if o.kind == optBool {
			flag.NoOptDefVal = "true"
		}
	}
	return cmd
}

func configureQueue(cmd *cobra.Command, target *targetFlags, format outputFormat, req configureRequest, yes bool) error {
	c, err := target.open(cmd.Context(), cmd)
	if err != nil {
		return err
	}
	defer c.Close()
	if !req.DryRun && !yes {
		plan, err := planQueue(cmd, c, manifestQueue{req: req}, false)
		if err == nil {
			err = plan.refuseLoss()
		}
		if err != nil {
			return err
		}
	}
	text, err := c.Configure(cmd.Context(), req)
	if err != nil {
		return err
	}
	var q queueInfo
	if err := decode(text, &q); err != nil {
		return fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	return format.print(cmd, text, func() table {
		t := sentence("queue " + req.Queue + " is configured")
		if req.DryRun {
			t = dryRunTable(req.Queue, text)
		}
		for _, name := range slices.Sorted(keysOf(q.Options)) {
			t.rows = append(t.rows, []string{"  " + name, string(q.Options[name])})
		}
		return t
	})
}

// deletion is what a delete takes away.
type deletion struct {
	Queue       string `json:"queue"`
	Deleted     bool   `json:"deleted"`
	DryRun      bool   `json:"dryRun"`
	Partitions  int    `json:"partitions"`
	Messages    int64  `json:"messages"`
	DeadLetters int64  `json:"deadLetters"`
	Bytes       int64  `json:"bytes"`
}

func (d deletion) String() string {
	verb := "deleted"
	if !d.Deleted {
		verb = "would delete"
	}
	return fmt.Sprintf("%s queue %s: %s, %s, %s, %s", verb, d.Queue, counted(int64(d.Partitions), "partition"),
		counted(d.Messages, "message"), counted(d.DeadLetters, "dead letter"), formatSize(d.Bytes))
}

func newQueueDeleteCmd() *cobra.Command {
	var target targetFlags
	var format outputFormat
	var dryRun, yes bool
	cmd := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a queue with everything in it",
		Long: `Delete removes the queue, its partitions, messages, cursors and dead letters. It
cannot be undone. --dry-run shows what would go; --yes is needed to do it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := target.open(cmd.Context(), cmd)
			if err != nil {
				return err
			}
			defer c.Close()
			return deleteQueue(cmd, c, format, args[0], dryRun, yes)
		},
	}
	target.addFlags(cmd, queryRetryFor)
	format.addFlag(cmd)
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would go and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "really delete")
	return cmd
}

func deleteQueue(cmd *cobra.Command, c client, format outputFormat, name string, dryRun, yes bool) error {
	text, err := c.Queue(cmd.Context(), name)
	if err != nil {
		return err
	}
	q, parts, err := readQueue(text)
	if err != nil {
		return err
	}
	d := deletion{Queue: name, DryRun: dryRun, Partitions: len(parts), Messages: value(q.Totals.Total),
		DeadLetters: value(q.Totals.DeadLetter), Bytes: q.RetainedBytes}
	if !dryRun && !yes {
		return fmt.Errorf("%s; --yes does it", d)
	}
	if !dryRun {
		if _, err := c.DeleteQueue(cmd.Context(), name); err != nil {
			return err
		}
		d.Deleted = true
	}
	return format.print(cmd, d, func() table { return sentence(d.String()) })
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
