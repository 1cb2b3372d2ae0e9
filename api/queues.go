package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jackc/pgx/v5/pgconn"

	"regent.local/regent/db"
)

// maxName is the length of a queue, partition or group name, in characters.
const maxName = 255

type configureInput struct {
	RawBody []byte `contentType:"application/json"`
}

type listQueuesInput struct {
	Stats string `query:"stats" doc:"cached: all numbers as they were last stored. Otherwise partitions and messages.total are of this moment." example:"cached"`
}

type queueInput struct {
	Queue string `path:"queue" doc:"Name of the queue, percent-encoded." example:"orders"`
}

type depthInput struct {
	Queue string `path:"queue" doc:"Name of the queue, percent-encoded." example:"orders"`
	Group string `query:"group" doc:"Consumer group whose backlog is asked for. Absent or empty: the slowest group of each partition." example:"billing"`
}

// documentReply carries a document of the database as it is.
type documentReply struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

// registerQueues adds the routes that configure, list and delete queues.
func (s *Server) registerQueues(api huma.API) {
	huma.Register(api, s.queuesOp(huma.Operation{
		OperationID: "configure-queue", Method: http.MethodPost, Path: "/api/v1/configure",
		Summary:      "Create a queue or edit its options",
		Description:  "An edit keeps what the body does not mention and sets back to its default what is null. With mode replace, what is not mentioned is set back as well. Options may also stand at the top level when there is no options object. Unknown options are ignored; a value of the wrong type or out of bounds is refused, with the option in invalid, and nothing is changed.",
		RequestBody:  jsonBody[ConfigureRequest](api, "The queue and the options to set.", configureExample()),
		MaxBodyBytes: s.cfg.MaxBodyBytes, BodyReadTimeout: s.cfg.BodyTimeout, SkipValidateBody: true,
		Responses: map[string]*huma.Response{"200": jsonReply[ConfigureResponse](api, "The whole configuration as it now stands.", nil)},
	}, http.StatusBadRequest, http.StatusRequestEntityTooLarge), s.configureQueue)
	huma.Register(api, s.queuesOp(huma.Operation{
		OperationID: "list-queues", Method: http.MethodGet, Path: "/api/v1/resources/queues",
		Summary:     "List all queues with their counts, newest first",
		Description: "Three clocks: partitions and messages.total are of this moment; pending and processing as last counted (STATS_INTERVAL_MS); retainedBytes and segments as last measured (RETAINED_BYTES_INTERVAL_MS), 0 for a queue that is newer.",
		Responses:   map[string]*huma.Response{"200": jsonReply[QueueList](api, "All queues.", queuesExample())},
	}), s.listQueues)
	huma.Register(api, s.queuesOp(huma.Operation{
		OperationID: "get-queue", Method: http.MethodGet, Path: "/api/v1/resources/queues/{queue}",
		Summary:     "One queue in detail: options, partitions, totals",
		Description: "All numbers are of this moment, counted over every partition: for a queue with many ask get-queue-depth or get-queue-status.",
		Responses:   map[string]*huma.Response{"200": jsonReply[QueueDetail](api, "The queue.", nil)},
	}, http.StatusBadRequest, http.StatusNotFound), s.getQueue)
	huma.Register(api, s.queuesOp(huma.Operation{
		OperationID: "get-queue-depth", Method: http.MethodGet, Path: "/api/v1/resources/queues/{queue}/depth",
		Summary:     "How much work waits in a queue",
		Description: "Always live. pending is all that is owed, processing the part under a live lease, ready the rest.",
		Responses:   map[string]*huma.Response{"200": jsonReply[QueueDepth](api, "The backlog.", depthExample())},
	}, http.StatusBadRequest, http.StatusNotFound), s.getQueueDepth)
	huma.Register(api, s.queuesOp(huma.Operation{
		OperationID: "delete-queue", Method: http.MethodDelete, Path: "/api/v1/resources/queues/{queue}",
		Summary:     "Delete a queue with its messages, cursors and dead letters",
		Description: "Also 200 when there is no such queue: look at deleted.",
		Responses:   map[string]*huma.Response{"200": jsonReply[DeleteQueueResponse](api, "What was done.", DeleteQueueResponse{Deleted: true, Queue: "orders", Existed: true})},
	}, http.StatusBadRequest), s.deleteQueue)
}

// queuesOp adds what the operations on queues share.
func (s *Server) queuesOp(op huma.Operation, errors ...int) huma.Operation {
	op.Tags = []string{"queues"}
	op.DefaultStatus = http.StatusOK
	op.Errors = append(errors, http.StatusInternalServerError, http.StatusServiceUnavailable)
	return op
}

func (s *Server) configureQueue(ctx context.Context, in *configureInput) (*documentReply, error) {
	args, refusal := readConfigure(in.RawBody)
	if refusal != nil {
		return nil, refusal
	}
	args.TenantID = s.tenant(ctx)
	left := false
	if s.spoolsPlain() && mayEncrypt(args) {
		end := s.seals.switching(sealHash(args.TenantID, args.Queue))
		defer func() { end(left) }()
	}
	return s.document(ctx, "configure", func(ctx context.Context, q querier) ([]byte, error) {
		before := left
		left = true
		document, err := q.ConfigureQueue(ctx, args)
		if pgconn.SafeToRetry(err) {
			left = before
		}
		return document, err
	})
}

// mayEncrypt reports whether a call that configures a queue may switch its
// encryption on.
func mayEncrypt(args db.ConfigureQueueParams) bool {
	var options struct {
		Encryption jsontext.Value `json:"encryptionEnabled"`
	}
	err := jsonv2.Unmarshal(args.Options, &options)
	kind := options.Encryption.Kind()
	return !args.DryRun && (err != nil || kind != 0 && kind != 'f' && kind != 'n')
}

func (s *Server) listQueues(ctx context.Context, in *listQueuesInput) (*documentReply, error) {
	tenant, cached := s.tenant(ctx), in.Stats == "cached"
	return s.shown(ctx, "list", func(ctx context.Context, q querier) ([]byte, error) {
		return q.ListQueues(ctx, tenant, cached)
	})
}

func (s *Server) getQueue(ctx context.Context, in *queueInput) (*documentReply, error) {
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	reply, err := s.shown(ctx, "get", func(ctx context.Context, q querier) ([]byte, error) {
		return q.GetQueue(ctx, in.Queue, s.tenant(ctx))
	})
	if err == nil && s.spoolsPlain() && showsEncrypted(reply.Body) {
		s.seals.learn(queueKey{s.tenant(ctx), in.Queue}, false) // who reads this relies on it
	}
	return reply, err
}

// showsEncrypted reports whether the detail of a queue says that it is encrypted.
func showsEncrypted(detail []byte) bool {
	var queue struct {
		Options struct {
			Encrypted bool `json:"encryptionEnabled"`
		} `json:"options"`
	}
	return jsonv2.Unmarshal(detail, &queue) == nil && queue.Options.Encrypted
}

func (s *Server) getQueueDepth(ctx context.Context, in *depthInput) (*documentReply, error) {
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	if refusal := checkName("group", in.Group); refusal != nil {
		return nil, refusal
	}
	args := db.QueueDepthParams{Queue: in.Queue, ConsumerGroup: &in.Group, TenantID: s.tenant(ctx)}
	return s.shown(ctx, "get", func(ctx context.Context, q querier) ([]byte, error) {
		return q.QueueDepth(ctx, args)
	})
}

func (s *Server) deleteQueue(ctx context.Context, in *queueInput) (*documentReply, error) {
	if refusal := checkName("queue", in.Queue); refusal != nil {
		return nil, refusal
	}
	reply, err := s.document(ctx, "delete", func(ctx context.Context, q querier) ([]byte, error) {
		return q.DeleteQueue(ctx, in.Queue, s.tenant(ctx))
	})
	if err == nil {
		gone := queueKey{s.tenant(ctx), in.Queue}
		s.room.deleted(gone.hash())
		s.teller.tellGone(gone)
	}
	return reply, err
}

// document runs a call that answers a document. what is the word that the
// answer to a failed call starts with.
func (s *Server) document(ctx context.Context, what string, fn func(context.Context, querier) ([]byte, error)) (*documentReply, error) {
	return s.reply(ctx, what, s.call, fn)
}

// shown is document for a call that only reads.
func (s *Server) shown(ctx context.Context, what string, fn func(context.Context, querier) ([]byte, error)) (*documentReply, error) {
	return s.reply(ctx, what, s.ask, fn)
}

func (s *Server) reply(ctx context.Context, what string, call func(context.Context, func(context.Context, querier) error) error,
	fn func(context.Context, querier) ([]byte, error)) (*documentReply, error) {
	reply := &documentReply{ContentType: "application/json"}
	err := call(ctx, func(ctx context.Context, q querier) (err error) {
		reply.Body, err = fn(ctx, q)
		return err
	})
	if err == nil {
		return reply, nil
	}
	return nil, s.failed(ctx, what, err)
}

// failed is fail for calls whose answer to a fault of ours begins with a word.
func (s *Server) failed(ctx context.Context, what string, err error) *Error {
	failure := s.fail(ctx, what, err)
	if failure.status == http.StatusInternalServerError {
		failure.Text = what + " failed: " + failure.Text
	}
	return failure
}

// readConfigure turns the body of a configure call into the arguments of the
// stored function, which judges options and mode. Names of keys are exact.
func readConfigure(body []byte) (args db.ConfigureQueueParams, refusal *Error) {
	var top map[string]jsontext.Value
	if err := jsonv2.Unmarshal(body, &top); err != nil || top == nil {
		return args, badRequest("bad body: " + reasonOf(err))
	}
	if top["queue"].Kind() != '"' {
		return args, badField("queue", "is required")
	}
	args.Queue = text(top["queue"])
	if refusal = checkName("queue", args.Queue); refusal != nil {
		return args, refusal
	}
	if args.Mode, refusal = readMode(top["mode"]); refusal != nil {
		return args, refusal
	}
	if raw := top["dryRun"]; raw.Kind() == 't' {
		args.DryRun = true
	} else if raw.Kind() != 0 && raw.Kind() != 'n' && raw.Kind() != 'f' {
		e := badRequest("dryRun must be true or false")
		e.Invalid = "dryRun"
		return args, e
	}
	bag := optionBag(top)
	for key, value := range bag {
		if strings.ContainsRune(key, 0) || value.Kind() == '"' && strings.ContainsRune(text(value), 0) {
			return args, badField(clip(strings.ToValidUTF8(strings.ReplaceAll(key, "\x00", "?"), "?"), 100), "holds a NUL character")
		}
	}
	options, err := jsonv2.Marshal(bag, jsonv2.Deterministic(true))
	if err != nil {
		return args, badRequest("bad body: " + reasonOf(err))
	}
	args.Options = options
	return args, nil
}

func readMode(raw jsontext.Value) (*string, *Error) {
	switch raw.Kind() {
	case 0, 'n':
		return nil, nil
	case '"':
		if mode := text(raw); !strings.ContainsRune(mode, 0) {
			return &mode, nil
		}
	}
	e := badRequest(fmt.Sprintf("mode must be \"merge\" or \"replace\", got %s", clip(string(raw), 64)))
	e.Invalid = "mode"
	return nil, e
}

// optionBag is the nested options object, else all of the body that is not
// about the call itself; namespace and task of the top level join a nested one.
func optionBag(top map[string]jsontext.Value) map[string]jsontext.Value {
	bag := map[string]jsontext.Value{}
	if top["options"].Kind() == '{' {
		// It was read as part of the body already and cannot fail.
		_ = jsonv2.Unmarshal(top["options"], &bag)
	} else {
		for key, value := range top {
			if key != "queue" && key != "options" && key != "mode" && key != "dryRun" {
				bag[key] = value
			}
		}
	}
	for _, label := range []string{"namespace", "task"} {
		if _, there := bag[label]; !there && top[label].Kind() == '"' && text(top[label]) != "" {
			bag[label] = top[label]
		}
	}
	for key, value := range bag {
		// No option is an object or an array: its kind is all that the function needs, however deep it is.
		// A number that jsonb cannot hold becomes one that it can and that no option takes.
		switch value.Kind() {
		case '{':
			bag[key] = jsontext.Value("{}")
		case '[':
			bag[key] = jsontext.Value("[]")
		case '0':
			if !fitsNumeric(string(value)) {
				bag[key] = jsontext.Value("1e300")
			}
		}
	}
	return bag
}

// fitsNumeric says whether PostgreSQL's numeric holds a number: 131072 digits
// before the point, 16383 behind it. It is cautious near these limits.
func fitsNumeric(number string) bool {
	digits, power, _ := strings.Cut(strings.ToLower(number), "e")
	exponent, err := strconv.Atoi(cmp.Or(power, "0"))
	return err == nil && len(digits) < 8000 && -8000 < exponent && exponent < 100_000
}

// text is the content of a JSON string that is known to be valid.
func text(raw jsontext.Value) string {
	decoded, _ := jsontext.AppendUnquote(nil, raw)
	return string(decoded)
}

func reasonOf(err error) string {
	if err == nil {
		return "it must be a JSON object"
	}
	return clip(strings.TrimPrefix(err.Error(), "jsontext: "), 200)
}

// checkName refuses what the database would refuse, with the field's name. The
// empty name is legal.
func checkName(field, value string) *Error {
	switch {
	case !utf8.ValidString(value):
		return badField(field, "is not valid UTF-8")
	case utf8.RuneCountInString(value) > maxName:
		return badField(field, fmt.Sprintf("is longer than %d characters", maxName))
	case strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r == unicode.MaxASCII }) >= 0:
		return badField(field, "holds a control character")
	}
	return nil
}
