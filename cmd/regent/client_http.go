package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	regent "regent.local/regent/api/sdk/go"
	"regent.local/regent/api/sdk/go/rest"
)

const (
	callTimeout = 60 * time.Second
	// pollMargin is how much later than asked a long poll may be answered.
	pollMargin = 15 * time.Second
	jsonType   = "application/json"
)

// httpClient talks to the HTTP API through the generated client, of which it takes
// the bare answers: what a server says is printed as it is, and payloads keep
// their bytes. It alone decides what is repeated.
type httpClient struct {
	*regent.Client
	base  *url.URL
	http  *http.Client
	again retrier
}

func newHTTPClient(base, token string, again retrier) (*httpClient, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("--url is not an address like %s", defaultURL)
	}
	plain := &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second,
	}}
	options := []regent.Option{regent.WithHTTPClient(plain)}
	if token != "" {
		options = append(options, regent.WithToken(token))
	}
	sdk, err := regent.New(base, options...)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return &httpClient{Client: sdk, base: u, http: plain, again: again}, nil
}

// statusError is an answer that is not a success.
type statusError struct {
	status     int
	code       string // QN400 and its like
	text       string
	result     string // of a replay that was refused
	retryAfter time.Duration
}

// Error is the text of a refusal as the functions word it, which is the same by
// --dsn; what is not theirs says that it is the server's.
func (e *statusError) Error() string {
	if e.status < 500 && strings.HasPrefix(e.code, "QN4") {
		return e.text
	}
	return fmt.Sprintf("server answered %d: %s", e.status, e.text)
}

func (e *statusError) ExitCode() int {
	switch {
	case e.status == http.StatusUnauthorized, e.status == http.StatusForbidden:
		return exitAuth
	case e.status == http.StatusTooManyRequests, e.status >= 500:
		return exitServer
	}
	return exitUser
}

// again: 503 and 429 promise that nothing was committed.
func (e *statusError) again() (later, unsent bool) {
	refused := e.status == http.StatusServiceUnavailable || e.status == http.StatusTooManyRequests
	return refused, refused
}

func (e *statusError) after() time.Duration { return e.retryAfter }

// networkError is a call without an answer.
type networkError struct {
	err     error
	address string // that could not be connected to; empty: it could
}

func (e *networkError) Error() string        { return e.err.Error() }
func (e *networkError) Unwrap() error        { return e.err }
func (e *networkError) ExitCode() int        { return exitServer }
func (e *networkError) after() time.Duration { return 0 }

func (e *networkError) again() (later, unsent bool) {
	var op *net.OpError
	return true, errors.As(e.err, &op) && op.Op == "dial"
}

// send makes one request with the generated client.
type send func(ctx context.Context) (*http.Response, error)

// call returns the body of a 2xx answer, empty for 204.
func (c *httpClient) call(ctx context.Context, may repeat, send send) ([]byte, error) {
	return c.callFor(ctx, callTimeout, may, send)
}

// callFor is call for answers that may take longer than others.
func (c *httpClient) callFor(ctx context.Context, timeout time.Duration, may repeat, send send) (body []byte, err error) {
	err = c.again.do(ctx, may, func() error {
		body, err = c.once(ctx, timeout, send)
		return err
	})
	return body, err
}

func (c *httpClient) once(ctx context.Context, timeout time.Duration, send send) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	resp, err := send(ctx)
	if err != nil {
		return nil, c.unreached(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, &networkError{err: fmt.Errorf("read answer: %w", err)}
	}
	if resp.StatusCode >= 300 {
		return nil, newStatusError(resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
	return body, nil
}

// given is a name, if there is one.
func given(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// addressable refuses names that no path of a URL can hold: a segment that is
// empty or made of dots would lead to another route.
func addressable(names ...string) error {
	for _, name := range names {
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("the name %q has no address over HTTP; use --dsn", name)
		}
	}
	return nil
}

// unreached notes the address when there was no way to it.
func (c *httpClient) unreached(err error) error {
	failed := &networkError{err: err}
	if _, unsent := failed.again(); unsent {
		failed.address = c.base.Redacted()
	}
	return failed
}

func newStatusError(status int, retryAfter string, body []byte) *statusError {
	e := &statusError{status: status, text: http.StatusText(status)}
	var said struct {
		Error  string `json:"error"`
		Code   string `json:"code"`
		Result string `json:"result"`
	}
	if json.Unmarshal(body, &said) == nil && said.Error != "" {
		e.text, e.code, e.result = said.Error, said.Code, said.Result
	} else if text := oneLine(strings.TrimSpace(string(body)), 200); text != "" {
		e.text = text
	}
	if s, err := strconv.Atoi(retryAfter); err == nil {
		e.retryAfter = min(time.Duration(max(s, 0))*time.Second, maxPause)
	}
	return e
}

// decode reads an answer of the server, whose fault a bad one is.
func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return withCode(exitServer, fmt.Errorf("read answer: %w", err))
	}
	return nil
}

// push does not leave the body to the generated client, which would encode it
// with encoding/json: that compacts payloads and escapes characters in them.
func (c *httpClient) push(ctx context.Context, may repeat, items []pushItem) ([]byte, error) {
	text := pushBody(items)
	return c.call(ctx, may, func(ctx context.Context) (*http.Response, error) {
		return c.PushWithBody(lingering(ctx, answerLinger), jsonType, bytes.NewReader(text))
	})
}

func (c *httpClient) Push(ctx context.Context, items []pushItem) ([]pushVerdict, error) {
	body, err := c.push(ctx, pushRepeat(items), items)
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	var verdicts []pushVerdict
	if err := decode(body, &verdicts); err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	return verdicts, verdictCount(len(items), len(verdicts))
}

// pushRepeat allows a lost answer to be repeated only when ids tell the server
// what it has already.
func pushRepeat(items []pushItem) repeat {
	for _, it := range items {
		if it.TransactionID == "" {
			return repeatUnsent
		}
	}
	return repeatAny
}

// pushBody splices payloads in as they are.
func pushBody(items []pushItem) []byte {
	var b bytes.Buffer
	b.WriteString(`{"items":[`)
	for i, it := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"queue":`)
		b.Write(jsonText(it.Queue))
		b.WriteString(`,"partition":`)
		b.Write(jsonText(it.Partition))
		if it.TransactionID != "" {
			b.WriteString(`,"transactionId":`)
			b.Write(jsonText(it.TransactionID))
		}
		if it.Key != "" {
			b.WriteString(`,"key":`)
			b.Write(jsonText(it.Key))
		}
		b.WriteString(`,"payload":`)
		b.Write(it.Payload)
		b.WriteByte('}')
	}
	b.WriteString(`]}`)
	return b.Bytes()
}

func jsonText(s string) []byte {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return text
}

func (c *httpClient) Pop(ctx context.Context, req popRequest) ([]message, error) {
	if err := addressable(append(given(req.Partition), req.Queue)...); err != nil {
		return nil, err
	}
	params := popParams(req)
	body, err := c.callFor(ctx, max(callTimeout, req.Wait+pollMargin), repeatUnsent, func(ctx context.Context) (*http.Response, error) {
		if req.Partition == "" {
			return c.PopQueue(ctx, req.Queue, params)
		}
		return c.PopPartition(ctx, req.Queue, req.Partition, (*rest.PopPartitionParams)(params))
	})
	if err != nil {
		return nil, fmt.Errorf("pop from %q: %w", req.Queue, err)
	}
	if len(body) == 0 {
		return nil, nil
	}
	var answer struct {
		Messages []message `json:"messages"`
	}
	if err := decode(body, &answer); err != nil {
		return nil, fmt.Errorf("pop from %q: %w", req.Queue, err)
	}
	for i := range answer.Messages {
		answer.Messages[i].Queue = req.Queue
	}
	return answer.Messages, nil
}

func popParams(req popRequest) *rest.PopQueueParams {
	wait := req.Wait > 0
	p := &rest.PopQueueParams{Batch: &req.Batch, Wait: &wait, ConsumerGroup: optional(req.Group),
		SubscriptionMode: optional(req.Mode), SubscriptionFrom: optional(req.From)}
	if wait {
		ms := int(req.Wait.Milliseconds())
		p.Timeout = &ms
	}
	if req.Partitions != 1 && req.Partition == "" {
		p.Partitions = &req.Partitions
	}
	if req.Lease > 0 {
		s := seconds(req.Lease)
		p.LeaseSeconds = &s
	}
	if req.AutoAck {
		p.AutoAck = &req.AutoAck
	}
	return p
}

// seconds rounds up, so that a short time never becomes "none".
func seconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}

func (c *httpClient) Ack(ctx context.Context, group string, items []ackItem) ([]ackVerdict, error) {
	request := rest.AckBatchRequest{ConsumerGroup: optional(group), Acknowledgments: make([]rest.AckItem, len(items))}
	for i, it := range items {
		request.Acknowledgments[i] = rest.AckItem{TransactionID: &it.TransactionID, PartitionID: &it.PartitionID,
			Status: &it.Status, LeaseID: optional(it.LeaseID), Error: it.Error}
	}
	body, err := c.call(ctx, ackRepeat(items), func(ctx context.Context) (*http.Response, error) { return c.AckBatch(ctx, request) })
	if err != nil {
		return nil, fmt.Errorf("ack: %w", err)
	}
	var verdicts []ackVerdict
	if err := decode(body, &verdicts); err != nil {
		return nil, fmt.Errorf("ack: %w", err)
	}
	return verdicts, verdictCount(len(items), len(verdicts))
}

// ackRepeat: a completed message acked twice is a noop, a failed one could be
// charged twice.
func ackRepeat(items []ackItem) repeat {
	for _, it := range items {
		if it.Status != "completed" {
			return repeatUnsent
		}
	}
	return repeatAny
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (c *httpClient) Queues(ctx context.Context) (json.RawMessage, error) {
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) { return c.ListQueues(ctx, &rest.ListQueuesParams{}) })
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	return body, nil
}

func (c *httpClient) Queue(ctx context.Context, name string) (json.RawMessage, error) {
	return c.ofQueue(ctx, "show", name, func(ctx context.Context) (*http.Response, error) { return c.GetQueue(ctx, name) })
}

func (c *httpClient) RetentionPreview(ctx context.Context, name string) (json.RawMessage, error) {
	return c.ofQueue(ctx, "preview", name, func(ctx context.Context) (*http.Response, error) { return c.GetRetentionPreview(ctx, name) })
}

// ofQueue asks about a queue, of which a 404 says that there is none.
func (c *httpClient) ofQueue(ctx context.Context, verb, name string, send send) (json.RawMessage, error) {
	if err := addressable(name); err != nil {
		return nil, err
	}
	body, err := c.call(ctx, repeatAny, send)
	var status *statusError
	switch {
	case errors.As(err, &status) && status.status == http.StatusNotFound:
		return nil, noQueue(name)
	case err != nil:
		return nil, fmt.Errorf("%s %q: %w", verb, name, err)
	}
	return body, nil
}

// Configure does not leave the body to the generated client, whose types cannot
// say null: for an option that means its default.
func (c *httpClient) Configure(ctx context.Context, req configureRequest) (json.RawMessage, error) {
	payload, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	body, err := c.call(ctx, repeatAny, func(ctx context.Context) (*http.Response, error) {
		return c.ConfigureQueueWithBody(ctx, jsonType, bytes.NewReader(payload))
	})
	if err != nil {
		return nil, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	return body, nil
}

func (c *httpClient) DeleteQueue(ctx context.Context, name string) (json.RawMessage, error) {
	if err := addressable(name); err != nil {
		return nil, err
	}
	body, err := c.call(ctx, repeatUnsent, func(ctx context.Context) (*http.Response, error) { return c.Client.DeleteQueue(ctx, name) })
	if err != nil {
		return nil, fmt.Errorf("delete %q: %w", name, err)
	}
	return body, nil
}

func (c *httpClient) Close() { c.http.CloseIdleConnections() }
