package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"time"

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
	return &restProducer{restWorker: w, lanes: benchLanes(i, t.o)}, nil
}

func (t *restTarget) Consumer(_ context.Context, i int) (bench.Consumer, error) {
	w, err := t.worker()
	if err != nil {
		return nil, err
	}
	return &restConsumer{restWorker: w, group: benchGroup(i, t.o)}, nil
}

// worker has a client, and so a connection, of its own.
func (t *restTarget) worker() (*restWorker, error) {
	c, err := newHTTPClient(t.url, os.Getenv("REGENT_TOKEN"), retrier{})
	if err != nil {
		return nil, err
	}
	return &restWorker{client: c, target: t}, nil
}

type restWorker struct {
	client *httpClient
	target *restTarget
}

func (w *restWorker) Close() error {
	w.client.Close()
	return nil
}

type restProducer struct {
	*restWorker
	lanes []string
	at    int // first lane of the next call
}

// Push looks for the verdicts in the text of the answer: decoding it would
// measure this client.
func (p *restProducer) Push(ctx context.Context, payloads []string) error {
	items, lanes := make([]pushItem, len(payloads)), nextLanes(p.lanes, &p.at, len(payloads))
	for i, payload := range payloads {
		items[i] = pushItem{Queue: p.target.queue, Partition: lanes[i%len(lanes)], Payload: []byte(payload)}
	}
	if p.target.o.ClientIDs {
		for i, id := range clientIDs(len(payloads)) {
			items[i].TransactionID = id
		}
	}
	body, err := p.client.push(ctx, repeatUnsent, items)
	if err != nil {
		return err
	}
	return verdictCount(len(payloads), bytes.Count(body, []byte(`"queued"`)))
}

type restConsumer struct {
	*restWorker
	group string
}

// Take waits for messages, since that is how a consumer would call.
func (c *restConsumer) Take(ctx context.Context, n int, seen func([]string)) (int, error) {
	messages, err := c.client.Pop(ctx, popRequest{Queue: c.target.queue, Group: c.group, Mode: "all", Batch: n, Partitions: 1, Wait: restWait})
	if err != nil || len(messages) == 0 {
		return 0, err
	}
	payloads, acks := make([]string, len(messages)), make([]ackItem, len(messages))
	for i, m := range messages {
		payloads[i] = string(m.Data)
		acks[i] = ackItem{TransactionID: m.TransactionID, PartitionID: m.PartitionID, Status: "completed", LeaseID: m.LeaseID}
	}
	seen(payloads)
	verdicts, err := c.client.Ack(ctx, c.group, acks)
	if err != nil {
		return 0, err
	}
	for i, v := range verdicts {
		if !v.Success {
			return 0, fmt.Errorf("ack of %s refused: %s", acks[i].TransactionID, text(v.Error))
		}
	}
	return len(messages), nil
}
