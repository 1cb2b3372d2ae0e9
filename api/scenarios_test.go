package api

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// A scenario arranges, acts and expects. It runs once through HTTP and once
// through the functions that people call in psql, each on a database of its
// own; then both must have answered the same.
//
// A string $name stands for a value: the first expectation that meets it binds
// it, later ones and arguments use it. A string that ends in * expects a
// beginning. A map expects its keys, a list all its elements; a scalar in place
// of a map expects its short form, the key "_". With each, every step runs for
// every value of the list, which $each stands for.
type scenario struct {
	Rules []string
	Each  []string
	Steps []scenarioStep
}

// scenarioStep is one act. Only restricts it to one face, "http" or "sql";
// loose says that the two faces need not answer alike, and why stands in the
// note. SQL runs a statement past both faces, Query answers one text.
type scenarioStep struct {
	Note   string
	Only   string
	Loose  bool
	Expect any

	SQL       string
	Query     string
	Configure *scenarioArgs
	Push      *scenarioArgs
	Pop       *scenarioArgs
	Ack       *scenarioArgs
	Extend    *scenarioArgs
	Depth     *scenarioArgs
	Detail    *scenarioArgs
	List      *scenarioArgs
	Delete    *scenarioArgs
	Dead      *scenarioArgs // lists dead letters, oldest first
	Replay    *scenarioArgs // the dead letter named by letter
	Retry     *scenarioArgs // the newest dead letter of the message named by letter, which is its transactionId
	Forget    *scenarioArgs // deletes the dead letters of that message
	Bury      *scenarioArgs // deletes those of a queue
	Browse    *scenarioArgs // messages of a queue, newest first; mode is the status asked for
	Look      *scenarioArgs // the message named by letter in detail
	Trace     *scenarioArgs // notes options, JSON text, about that message under the name queue
	Traces    *scenarioArgs // what is noted under the name queue
	Fetch     *scenarioArgs
	Changed   *scenarioArgs

	Tx *scenarioArgs `yaml:"transaction"` // pushes items and acknowledges acks, all or nothing

	Discover  *scenarioArgs // pops by labels
	Groups    *scenarioArgs
	Lagging   *scenarioArgs // by seconds
	Group     *scenarioArgs
	Subscribe *scenarioArgs // moves the subscription to from
	Seek      *scenarioArgs // to the end, or to from
	Leave     *scenarioArgs // deletes the group, on a queue where one is named
}

// scenarioArgs are the arguments of every act.
type scenarioArgs struct {
	Queue        string
	Group        *string
	Partition    *string
	Options      string // JSON text
	Mode         *string
	Items        []scenarioItem
	Batch        int
	Partitions   *int
	AutoAck      bool `yaml:"autoAck"`
	Conflation   bool
	Subscription string
	From         string
	LeaseSeconds int `yaml:"leaseSeconds"`
	Lease        string
	Seconds      int
	Acks         []scenarioAck
	Letter       string
	Reads        []scenarioRead
	Namespace    string
	Task         string
	ToEnd        bool `yaml:"toEnd"`
	Keep         bool // the registration of a group that leaves
}

// scenarioItem is a message; its payload is JSON text.
type scenarioItem struct {
	Partition, ID *string
	Payload       string
}

// scenarioRead is an entry of a fetch or of a list of changed partitions.
type scenarioRead struct {
	Queue, Partition string
	Offset           int64
	MaxBytes         int32 `yaml:"maxBytes"`
	Since, After     *string
	Limit            int32
}

// scenarioAck is an acknowledgment. Without a partition it is that of the
// last message delivered with the id, else of the last one delivered at all.
type scenarioAck struct {
	ID, Status string
	Error      *string
	Lease      string
	Partition  string
}

// face is one way to reach the engine. Answers are trees of maps, lists and
// scalars; a refusal is a map with code and error.
type face interface {
	configure(a scenarioArgs) any
	push(a scenarioArgs) any
	pop(a scenarioArgs) any
	ack(a scenarioArgs) any
	transact(a scenarioArgs) any
	extend(a scenarioArgs) any
	depth(a scenarioArgs) any
	detail(a scenarioArgs) any
	list() any
	remove(a scenarioArgs) any
	letterFace
	groupFace
	fetch(a scenarioArgs) any
	changed(a scenarioArgs) any
}

func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/scenarios/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var s scenario
			decoder := yaml.NewDecoder(strings.NewReader(string(text)))
			decoder.KnownFields(true)
			require.NoError(t, decoder.Decode(&s))
			require.NotEmpty(t, s.Rules, "a scenario names its rules")
			overHTTP := runScenario(t, s, "http")
			overSQL := runScenario(t, s, "sql")
			for i := range s.Steps {
				if s.Steps[i].Only == "" && !s.Steps[i].Loose {
					require.Equal(t, overHTTP[i], overSQL[i], "step %d answers unlike over HTTP and in SQL: %s", i+1, s.Steps[i].Note)
				}
			}
		})
	}
}

// scenarioRun is one run through one face.
type scenarioRun struct {
	t    *testing.T
	ts   *testServer
	face face
	vars map[string]string
	// from is the partition of a delivered id; "" is that of the last one.
	from map[string]string
}

// runScenario answers what every step answered, with what must differ between
// two runs taken out.
func runScenario(t *testing.T, s scenario, name string) []any {
	ts := newTestServer(t)
	r := &scenarioRun{t: t, ts: ts, vars: map[string]string{}, from: map[string]string{}}
	r.face = httpFace{ts}
	if name == "sql" {
		r.face = sqlFace{ts}
	}
	values := s.Each
	if len(values) == 0 {
		values = []string{""}
	}
	answers := make([]any, 0, len(s.Steps))
	for i, step := range s.Steps {
		var all []any
		for _, each := range values {
			if step.Only != "" && step.Only != name {
				continue
			}
			r.vars["each"] = each
			got := r.act(step)
			what := fmt.Sprintf("%s, step %d %s %q", name, i+1, step.Note, each)
			if step.Expect != nil {
				r.match(step.Expect, got, what)
			}
			all = append(all, settled(got))
		}
		answers = append(answers, all)
	}
	return answers
}

// act does the one act of a step.
func (r *scenarioRun) act(step scenarioStep) any {
	switch {
	case step.SQL != "":
		r.ts.sql(r.fill(step.SQL))
		return nil
	case step.Query != "":
		var text string
		require.NoError(r.t, r.ts.db.Pool.QueryRow(context.Background(), step.Query).Scan(&text), step.Query)
		return text
	case step.Configure != nil:
		return r.face.configure(r.args(step.Configure))
	case step.Push != nil:
		return r.face.push(r.args(step.Push))
	case step.Pop != nil:
		got := r.face.pop(r.args(step.Pop))
		r.remember(got)
		return got
	case step.Ack != nil:
		return r.face.ack(r.args(step.Ack))
	case step.Tx != nil:
		return r.face.transact(r.args(step.Tx))
	case step.Extend != nil:
		return r.face.extend(r.args(step.Extend))
	case step.Depth != nil:
		return r.face.depth(r.args(step.Depth))
	case step.Detail != nil:
		return r.face.detail(r.args(step.Detail))
	case step.List != nil:
		return r.face.list()
	case step.Delete != nil:
		return r.face.remove(r.args(step.Delete))
	case step.Dead != nil:
		return r.face.dead(r.args(step.Dead))
	case step.Replay != nil:
		return r.face.replay(r.args(step.Replay))
	case step.Retry != nil:
		return r.face.retry(r.args(step.Retry), r.from[""])
	case step.Forget != nil:
		return r.face.forget(r.args(step.Forget), r.from[""])
	case step.Bury != nil:
		return r.face.bury(r.args(step.Bury))
	case step.Browse != nil:
		return r.face.browse(r.args(step.Browse))
	case step.Look != nil:
		return r.face.look(r.args(step.Look), r.from[""])
	case step.Trace != nil:
		return r.face.trace(r.args(step.Trace), r.from[""])
	case step.Traces != nil:
		return r.face.traces(r.args(step.Traces))
	case step.Fetch != nil:
		return r.face.fetch(r.args(step.Fetch))
	case step.Changed != nil:
		return r.face.changed(r.args(step.Changed))
	}
	if got, done := r.actOnGroup(step); done {
		return got
	}
	require.FailNow(r.t, "a step without an act", "%+v", step)
	return nil
}

// remember keeps where delivered messages came from, for acks.
func (r *scenarioRun) remember(got any) {
	messages, _ := got.([]any)
	for _, m := range messages {
		message := m.(map[string]any)
		from := message["partitionId"].(string)
		r.from[message["transactionId"].(string)], r.from[""] = from, from
	}
}

// fill puts variables into an argument; an unknown one stays as it is.
func (r *scenarioRun) fill(text string) string {
	names := make([]string, 0, len(r.vars))
	for name := range r.vars {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // $lease before $l
	for _, name := range names {
		text = strings.ReplaceAll(text, "$"+name, r.vars[name])
	}
	return text
}

func (r *scenarioRun) fillIn(text *string) *string {
	if text == nil {
		return nil
	}
	filled := r.fill(*text)
	return &filled
}

// args are the arguments of an act with variables filled in.
func (r *scenarioRun) args(given *scenarioArgs) scenarioArgs {
	a := *given
	a.Queue, a.Lease, a.Letter = r.fill(a.Queue), r.fill(a.Lease), r.fill(a.Letter)
	a.Group, a.Partition = r.fillIn(a.Group), r.fillIn(a.Partition)
	a.From = r.fill(a.From)
	a.Items, a.Acks, a.Reads = slices.Clone(a.Items), slices.Clone(a.Acks), slices.Clone(a.Reads)
	for i := range a.Reads {
		a.Reads[i].Since, a.Reads[i].After = r.fillIn(a.Reads[i].Since), r.fillIn(a.Reads[i].After)
	}
	for i := range a.Items {
		item := &a.Items[i]
		item.Partition, item.ID = r.fillIn(item.Partition), r.fillIn(item.ID)
		if item.Payload == "" {
			item.Payload = fmt.Sprintf(`{"n":%d}`, i)
		}
	}
	for i := range a.Acks {
		ack := &a.Acks[i]
		ack.ID, ack.Lease, ack.Partition = r.fill(ack.ID), r.fill(ack.Lease), r.fill(ack.Partition)
		if ack.Lease == "" {
			ack.Lease = a.Lease
		}
		if ack.Status == "" {
			ack.Status = "completed"
		}
		if ack.Partition == "" {
			ack.Partition = r.from[ack.ID]
		}
		if ack.Partition == "" {
			ack.Partition = r.from[""]
		}
	}
	return a
}

// match holds an answer against an expectation.
func (r *scenarioRun) match(want, got any, path string) {
	r.t.Helper()
	switch want := want.(type) {
	case map[string]any:
		require.IsType(r.t, want, got, path)
		for key, value := range want {
			require.Contains(r.t, got, key, path)
			r.match(value, got.(map[string]any)[key], path+"."+key)
		}
	case []any:
		require.IsType(r.t, want, got, path)
		require.Len(r.t, got, len(want), path)
		for i := range want {
			r.match(want[i], got.([]any)[i], fmt.Sprintf("%s[%d]", path, i))
		}
	case string:
		r.matchText(want, short(got), path)
	case int:
		require.EqualValues(r.t, want, short(got), path)
	default:
		require.Equal(r.t, want, short(got), path)
	}
}

// short is the short form of a map, and anything else itself.
func short(got any) any {
	if m, ok := got.(map[string]any); ok && m["_"] != nil {
		return m["_"]
	}
	return got
}

func (r *scenarioRun) matchText(want string, got any, path string) {
	r.t.Helper()
	name, isVar := strings.CutPrefix(want, "$")
	beginning, open := strings.CutSuffix(want, "*")
	bound, known := r.vars[name]
	switch {
	case isVar && known:
		require.Equal(r.t, bound, got, "%s, $%s", path, name)
	case isVar:
		require.NotEmpty(r.t, got, path)
		r.vars[name] = fmt.Sprint(got)
	case open:
		require.True(r.t, strings.HasPrefix(fmt.Sprint(got), beginning), "%s: %q does not begin with %q", path, got, beginning)
	default:
		require.Equal(r.t, want, got, path)
	}
}

// drawn are the keys whose values two runs need not have in common. Bytes as stored
// are among them: a small array takes 3 more when a push of the same second made it.
var drawn = []string{"id", "partitionId", "queueId", "lease", "createdAt", "oldestMessage", "newestMessage", "ts", "next", "lastWriteAt", "retainedBytes",
	"subscriptionTimestamp", "subscriptionCreatedAt", "partition_id", "oldest_unconsumed_at", "workerId", "worker_id", "time_lag_seconds", "timeLagSeconds", "maxTimeLag"}

// settled replaces every value that was drawn, so that answers can be compared.
func settled(answer any) any {
	switch value := answer.(type) {
	case []any:
		out := make([]any, 0, len(value))
		for _, v := range value {
			out = append(out, settled(v))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		id := value["id"]
		for key, v := range value {
			switch {
			case slices.Contains(drawn, key) && v != nil && v != "":
				out[key] = "drawn"
			case id != nil && v == id: // a minted transaction id
				out[key] = "drawn"
			default:
				out[key] = settled(v)
			}
		}
		return out
	case string:
		if strings.HasPrefix(value, "dlq:") { // the id of a dead letter is drawn
			return "dlq:drawn"
		}
	}
	return answer
}
