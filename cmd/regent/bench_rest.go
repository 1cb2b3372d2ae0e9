package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"regent.local/regent/api"
	"regent.local/regent/testdata/bench"
)

const (
	// restWait is how long a consumer of an end-to-end cell waits in one call.
	restWait = 500 * time.Millisecond
	// restStop bounds the stop of the server of a cell.
	restStop = 5 * time.Second
)

// restTarget is Regent as its HTTP API.
type restTarget struct {
	url   string
	queue string
	o     bench.Options
	stop  func() // ends a server that the cell started
}

// newRESTTarget starts a server on the database, as serve does.
func newRESTTarget(ctx context.Context, dsn string, o bench.Options) (bench.Target, error) {
	if _, err := newSQLTarget(ctx, dsn, o); err != nil {
		return nil, err
	}
	cfg := api.DefaultConfig()
	cfg.DatabaseURL, cfg.Port, cfg.StopTimeout = dsn, 0, restStop
	pool, err := api.OpenPool(ctx, cfg)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- serveAPI(ctx, cfg, pool, slog.New(slog.DiscardHandler), func(address string) error {
			ready <- address
			return nil
		})
	}()
	stop := func() {
		cancel()
		<-ended
		pool.Close()
	}
	select {
	case address := <-ready:
		return &restTarget{url: address, queue: benchQueue, o: o, stop: stop}, nil
	case err := <-ended:
		ended <- err
		stop()
		return nil, err
	}
}

// newURLTarget makes a queue on a server that runs already.
func newURLTarget(ctx context.Context, url string, o bench.Options) (*restTarget, error) {
	c, err := newHTTPClient(url, os.Getenv("REGENT_TOKEN"), retrier{})
	if err != nil {
		return nil, err
	}
	queue := fmt.Sprintf("%s-%x", benchQueue, time.Now().UnixNano())
	if err := configureBench(ctx, c, queue, o); err != nil {
		c.Close()
		return nil, err
	}
	return &restTarget{url: url, queue: queue, o: o, stop: func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
		defer cancel()
		_, _ = c.DeleteQueue(ctx, queue)
		c.Close()
	}}, nil
}

func configureBench(ctx context.Context, c *httpClient, queue string, o bench.Options) error {
	var options map[string]json.RawMessage
	if err := json.Unmarshal(benchQueueOptions(o), &options); err != nil {
		return err
	}
	_, err := c.Configure(ctx, configureRequest{Queue: queue, Options: options})
	return err
}

func (t *restTarget) Close() { t.stop() }

func (t *restTarget) Producer(_ context.Context, i int) (bench.Producer, error) {
	w, err := t.worker()
	if err != nil {
		return nil, err
	}
	return &restProducer{restWorker: w, request: w.request(http.MethodPost, "api/v1/push"), lanes: benchLanes(i, t.o)}, nil
}

func (t *restTarget) Consumer(_ context.Context, i int) (bench.Consumer, error) {
	w, err := t.worker()
	if err != nil {
		return nil, err
	}
	return &restConsumer{restWorker: w, group: benchGroup(i, t.o), ack: w.request(http.MethodPost, "api/v1/ack/batch")}, nil
}

// client is for what is not measured itself. Its calls end with their context.
func (t *restTarget) client() (*httpClient, error) {
	return newHTTPClient(t.url, os.Getenv("REGENT_TOKEN"), retrier{})
}

// worker has a connection of its own.
func (t *restTarget) worker() (*restWorker, error) {
	c, err := newLoadClient(t.url, os.Getenv("REGENT_TOKEN"))
	if err != nil {
		return nil, err
	}
	return &restWorker{loadClient: c, target: t}, nil
}

type restWorker struct {
	*loadClient
	target *restTarget
	body   []byte // of the last request, whose memory the next one takes
}

type restProducer struct {
	*restWorker
	request *fasthttp.Request
	lanes   []string
	at      int // first lane of the next call
}

// Push looks for the verdicts in the text of the answer: decoding it would
// measure this client.
func (p *restProducer) Push(ctx context.Context, payloads []string) error {
	p.body = p.pushBody(p.body[:0], payloads)
	p.request.SetBodyRaw(p.body)
	answer, err := p.send(ctx, p.request, callTimeout)
	if err != nil {
		return fmt.Errorf("push: %w", err)
	}
	return verdictCount(len(payloads), bytes.Count(answer, []byte(`"queued"`)))
}

func (p *restProducer) pushBody(out []byte, payloads []string) []byte {
	lanes := nextLanes(p.lanes, &p.at, len(payloads))
	out = append(out, `{"items":[`...)
	for i, payload := range payloads {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMember(out, `{"queue":`, p.target.queue)
		out = appendMember(out, `,"partition":`, lanes[i%len(lanes)])
		if p.target.o.ClientIDs {
			out = appendMember(out, `,"transactionId":`, uuid.Must(uuid.NewV7()).String())
		}
		out = append(append(append(out, `,"payload":`...), payload...), '}')
	}
	return append(out, `]}`...)
}

// appendMember adds a name, with what comes before it, and a text.
func appendMember(out []byte, name, text string) []byte {
	out, _ = jsontext.AppendQuote(append(out, name...), text) // it fails for invalid UTF-8 only
	return out
}

type restConsumer struct {
	*restWorker
	group    string
	pop, ack *fasthttp.Request
	most     int // messages that pop asks for
}

// popAnswer is what an acknowledgment needs of a pop.
type popAnswer struct {
	Messages []struct {
		TransactionID string         `json:"transactionId"`
		PartitionID   string         `json:"partitionId"`
		LeaseID       string         `json:"leaseId"`
		Data          jsontext.Value `json:"data"`
	} `json:"messages"`
}

// Take waits for messages, since that is how a consumer would call.
func (c *restConsumer) Take(ctx context.Context, n int, seen func([]string)) (int, error) {
	if n != c.most {
		path := fmt.Sprintf("api/v1/pop/queue/%s?batch=%d&consumerGroup=%s&subscriptionMode=all&wait=true&timeout=%d",
			url.PathEscape(c.target.queue), n, url.QueryEscape(c.group), restWait.Milliseconds())
		if c.target.o.TakeBatch > 0 {
			path += fmt.Sprintf("&partitions=%d", n)
		}
		c.pop, c.most = c.request(http.MethodGet, path), n
	}
	answer, err := c.send(ctx, c.pop, restWait+pollMargin)
	if err != nil || len(answer) == 0 {
		return 0, err
	}
	var got popAnswer
	if err := jsonv2.Unmarshal(answer, &got, jsontext.AllowDuplicateNames(true)); err != nil {
		return 0, fmt.Errorf("read what was popped: %w", err)
	}
	payloads := make([]string, len(got.Messages))
	for i := range got.Messages {
		payloads[i] = string(got.Messages[i].Data)
	}
	seen(payloads)
	return len(payloads), c.finish(ctx, &got)
}

// finish acknowledges what was taken.
func (c *restConsumer) finish(ctx context.Context, got *popAnswer) error {
	out := append(appendMember(c.body[:0], `{"consumerGroup":`, c.group), `,"acknowledgments":[`...)
	for i := range got.Messages {
		m := &got.Messages[i]
		if i > 0 {
			out = append(out, ',')
		}
		out = appendMember(out, `{"transactionId":`, m.TransactionID)
		out = appendMember(out, `,"partitionId":`, m.PartitionID)
		out = appendMember(out, `,"leaseId":`, m.LeaseID)
		out = append(out, `,"status":"completed"}`...)
	}
	c.body = append(out, `]}`...)
	c.ack.SetBodyRaw(c.body)
	answer, err := c.send(ctx, c.ack, callTimeout)
	if err != nil {
		return fmt.Errorf("ack: %w", err)
	}
	if done := bytes.Count(answer, []byte(`"success":true`)); done != len(got.Messages) {
		return fmt.Errorf("ack of %d of %d messages refused: %s", len(got.Messages)-done, len(got.Messages), oneLine(string(answer), 500))
	}
	return nil
}
