package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"regent.local/regent/api"
)

// manifestQueue is one queue of a manifest, and where it stands there.
type manifestQueue struct {
	line int
	req  configureRequest
}

// manifestReader collects the queues of a manifest, and all that is wrong in it.
type manifestReader struct {
	name   string // of the file, for errors
	queues []manifestQueue
	seen   map[string]int // line by queue
	faults []error
}

// readManifest reads YAML documents, or JSON: each is a queue or a list of queues.
func readManifest(name string, text []byte) ([]manifestQueue, error) {
	if json.Valid(text) { // where a tab is white space, which YAML refuses
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" "))
	}
	r := &manifestReader{name: name, seen: map[string]int{}}
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var doc yaml.Node
		err := dec.Decode(&doc)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.document(doc.Content[0])
	}
	if len(r.faults) == 0 && len(r.queues) == 0 {
		return nil, fmt.Errorf("%s names no queue", name)
	}
	return r.queues, errors.Join(r.faults...)
}

// fault notes what is wrong at a line.
func (r *manifestReader) fault(line int, format string, args ...any) {
	r.faults = append(r.faults, fmt.Errorf("%s:%d: %w", r.name, line, fmt.Errorf(format, args...)))
}

func (r *manifestReader) document(n *yaml.Node) {
	switch {
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			r.queue(item)
		}
	case n.Tag != "!!null":
		r.queue(n)
	}
}

// queue reads the body of configure, of which mode can only be replace.
func (r *manifestReader) queue(n *yaml.Node) {
	fields, ok := r.fields(n, "a queue")
	if !ok {
		return
	}
	q := manifestQueue{line: n.Line, req: configureRequest{Mode: "replace", Options: map[string]json.RawMessage{}}}
	if options, ok := fields["options"]; ok {
		r.options(&options, q.req.Options)
	}
	named := false
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		switch name {
		case "queue":
			named = r.text(&value, name, &q.req.Queue) && r.queueName(&value, name, q.req.Queue)
		case "mode":
			var mode string
			if r.text(&value, name, &mode) && mode != "replace" {
				r.fault(value.Line, "mode: a manifest is the whole configuration of its queues: want replace, not %q", mode)
			}
		case "namespace", "task":
			if q.req.Options[name] != nil {
				r.fault(value.Line, "%s: it stands in options, too", name)
			}
			r.option(name, name, &value, q.req.Options)
		case "options":
		default:
			r.fault(value.Line, "%s: there is no such field; there are queue, namespace, task, options and mode", name)
		}
	}
	if _, ok := fields["queue"]; !ok {
		r.fault(n.Line, "queue: the name is missing")
	}
	if first, twice := r.seen[q.req.Queue]; named && twice {
		r.fault(n.Line, "queue: %q stands at line %d already", q.req.Queue, first)
	} else if named {
		r.seen[q.req.Queue] = n.Line
	}
	r.queues = append(r.queues, q)
}

// fields are those of a mapping; the library resolves aliases and merge keys, and
// refuses a key that is there twice.
func (r *manifestReader) fields(n *yaml.Node, what string) (map[string]yaml.Node, bool) {
	var fields map[string]yaml.Node
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "want the fields of %s, not %s", what, kindOf(n))
		return nil, false
	}
	if err := n.Decode(&fields); err != nil {
		var twice *yaml.TypeError // its texts begin with the line
		if !errors.As(err, &twice) {
			r.fault(n.Line, "%w", err)
			return nil, false
		}
		for _, text := range twice.Errors {
			line := n.Line
			if number, rest, found := strings.Cut(strings.TrimPrefix(text, "line "), ": "); found {
				if at, err := strconv.Atoi(number); err == nil {
					line, text = at, rest
				}
			}
			r.fault(line, "%s", text)
		}
		return nil, false
	}
	return fields, true
}

func (r *manifestReader) text(n *yaml.Node, field string, into *string) bool {
	if n.ShortTag() != "!!str" || n.Decode(into) != nil {
		r.fault(n.Line, "%s: want text, not %s", field, kindOf(n))
		return false
	}
	return true
}

// queueName checks the name of a queue as the functions do, for the database itself cannot
// take every text.
func (r *manifestReader) queueName(n *yaml.Node, field, name string) bool {
	switch {
	case name == "":
		r.fault(n.Line, "%s: the name is missing", field)
	case utf8.RuneCountInString(name) > 255:
		r.fault(n.Line, "%s: it is longer than 255 characters", field)
	case strings.ContainsFunc(name, isControl):
		r.fault(n.Line, "%s: it holds a control character", field)
	default:
		return true
	}
	return false
}

func (r *manifestReader) options(n *yaml.Node, into map[string]json.RawMessage) {
	if n.Tag == "!!null" {
		return
	}
	fields, _ := r.fields(n, "options")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		if err := checkOption(name); err != nil {
			r.fault(value.Line, "options.%s: %w", name, err)
			continue
		}
		r.option(name, "options."+name, &value, into)
	}
}

// option takes a value of the type that the option has; null is its default.
func (r *manifestReader) option(name, field string, n *yaml.Node, into map[string]json.RawMessage) {
	var err error
	var number int64
	var flag bool
	var text string
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	tag := n.ShortTag()
	switch want := optionType(name).Kind(); {
	case tag == "!!null":
		into[name] = json.RawMessage("null")
	case want == reflect.Bool && tag == "!!bool":
		err = n.Decode(&flag)
		into[name] = json.RawMessage(strconv.FormatBool(flag))
	case want == reflect.String && tag == "!!str":
		err = n.Decode(&text)
		into[name] = jsonText(text)
		if strings.ContainsFunc(text, isControl) {
			r.fault(n.Line, "%s: it holds a control character", field)
		}
	case (want == reflect.Int32 || want == reflect.Int64) && tag == "!!int":
		err = n.Decode(&number)
		into[name] = json.RawMessage(strconv.FormatInt(number, 10))
	default:
		words := map[reflect.Kind]string{reflect.Bool: "true or false", reflect.String: "text"}
		wanted := words[want]
		if wanted == "" {
			wanted = "a whole number"
		}
		r.fault(n.Line, "%s: want %s, not %s", field, wanted, kindOf(n))
	}
	if err != nil {
		r.fault(n.Line, "%s: %s is out of range", field, oneLine(n.Value, 60))
	}
}

// optionType is the type of an option's value in the API.
func optionType(name string) reflect.Type {
	fields := reflect.TypeFor[api.ConfigureOptions]()
	for i := range fields.NumField() {
		if known, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ","); known == name {
			return fields.Field(i).Type.Elem()
		}
	}
	return reflect.TypeFor[string]()
}

// kindOf says what somebody wrote.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return kindOf(n.Alias)
	}
	shown := oneLine(n.Value, 60)
	switch n.ShortTag() {
	case "!!str":
		return "the text " + strconv.Quote(shown)
	case "!!int", "!!float":
		return "the number " + shown
	case "!!null":
		return "nothing"
	}
	return shown
}
