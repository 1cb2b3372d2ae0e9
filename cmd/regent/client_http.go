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
	"syscall"
	"time"
)

const (
	callTimeout = 60 * time.Second
	// pollMargin is how much later than asked a long poll may be answered.
	pollMargin = 15 * time.Second
)

// httpClient talks to the HTTP API.
type httpClient struct {
	base  *url.URL
	token string
	http  *http.Client
	again retrier
}

func newHTTPClient(base, token string, again retrier) (*httpClient, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("--url %q is not an address like %s", base, defaultURL)
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     30 * time.Second,
	}
	return &httpClient{base: u, token: token, http: &http.Client{Transport: transport}, again: again}, nil
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
type networkError struct{ err error }

func (e *networkError) Error() string        { return e.err.Error() }
func (e *networkError) Unwrap() error        { return e.err }
func (e *networkError) ExitCode() int        { return exitServer }
func (e *networkError) after() time.Duration { return 0 }

func (e *networkError) again() (later, unsent bool) {
	var op *net.OpError
	return true, errors.As(e.err, &op) && op.Op == "dial"
}

// request is one call. Segments of the path are escaped one by one.
type request struct {
	method  string
	path    []string
	query   url.Values
	body    []byte
	timeout time.Duration
	may     repeat
}

// call returns the body of a 2xx answer, nil for 204.
func (c *httpClient) call(ctx context.Context, req request) (body []byte, err error) {
	err = c.again.do(ctx, req.may, func() error {
		body, err = c.once(ctx, req)
		return err
	})
	return body, err
}

func (c *httpClient) once(ctx context.Context, req request) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, max(req.timeout, callTimeout))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, req.method, c.address(req), bytes.NewReader(req.body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if req.body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreached(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, &networkError{err: fmt.Errorf("read answer: %w", err)}
	}
	if resp.StatusCode >= 300 {
		return nil, newStatusError(resp, body)
	}
	return body, nil
}

// unreached says what to do when there is no server at the address.
func (c *httpClient) unreached(err error) error {
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("no server at %s: start one with \"regent dev\" or \"regent serve\", or name another with --url or REGENT_URL (%w)", c.base.Redacted(), err)
	}
	return &networkError{err: err}
}

func (c *httpClient) address(req request) string {
	escaped := make([]string, len(req.path))
	for i, segment := range req.path {
		escaped[i] = url.PathEscape(segment)
	}
	address := strings.TrimSuffix(c.base.String(), "/") + "/" + strings.Join(escaped, "/")
	if len(req.query) > 0 {
		address += "?" + req.query.Encode()
	}
	return address
}

func newStatusError(resp *http.Response, body []byte) *statusError {
	e := &statusError{status: resp.StatusCode, text: http.StatusText(resp.StatusCode)}
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
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
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

func (c *httpClient) Push(ctx context.Context, items []pushItem) ([]pushVerdict, error) {
	body, err := c.call(ctx, request{method: http.MethodPost, path: []string{"api", "v1", "push"},
		body: pushBody(items), may: pushRepeat(items)})
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
	path := []string{"api", "v1", "pop", "queue", req.Queue}
	if req.Partition != "" {
		path = append(path, "partition", req.Partition)
	}
	body, err := c.call(ctx, request{method: http.MethodGet, path: path, query: popQuery(req), timeout: req.Wait + pollMargin})
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

func popQuery(req popRequest) url.Values {
	q := url.Values{"batch": {strconv.Itoa(req.Batch)}, "wait": {strconv.FormatBool(req.Wait > 0)}}
	set := func(name, value string, sent bool) {
		if sent {
			q.Set(name, value)
		}
	}
	set("timeout", strconv.FormatInt(req.Wait.Milliseconds(), 10), req.Wait > 0)
	set("partitions", strconv.Itoa(req.Partitions), req.Partitions != 1 && req.Partition == "")
	set("leaseSeconds", strconv.Itoa(seconds(req.Lease)), req.Lease > 0)
	set("consumerGroup", req.Group, req.Group != "")
	set("autoAck", "true", req.AutoAck)
	set("subscriptionMode", req.Mode, req.Mode != "")
	set("subscriptionFrom", req.From, req.From != "")
	return q
}

// seconds rounds up, so that a short time never becomes "none".
func seconds(d time.Duration) int {
	return int((d + time.Second - 1) / time.Second)
}

func (c *httpClient) Ack(ctx context.Context, group string, items []ackItem) ([]ackVerdict, error) {
	payload, err := json.Marshal(struct {
		Group *string   `json:"consumerGroup"`
		Items []ackItem `json:"acknowledgments"`
	}{optional(group), items})
	if err != nil {
		return nil, fmt.Errorf("ack: %w", err)
	}
	body, err := c.call(ctx, request{method: http.MethodPost, path: []string{"api", "v1", "ack", "batch"}, body: payload, may: ackRepeat(items)})
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
	body, err := c.call(ctx, request{method: http.MethodGet, path: []string{"api", "v1", "resources", "queues"}, may: repeatAny})
	if err != nil {
		return nil, fmt.Errorf("list queues: %w", err)
	}
	return body, nil
}

func (c *httpClient) Queue(ctx context.Context, name string) (json.RawMessage, error) {
	body, err := c.call(ctx, request{method: http.MethodGet, path: []string{"api", "v1", "resources", "queues", name}, may: repeatAny})
	var status *statusError
	switch {
	case errors.As(err, &status) && status.status == http.StatusNotFound:
		return nil, noQueue(name)
	case err != nil:
		return nil, fmt.Errorf("show %q: %w", name, err)
	}
	return body, nil
}

func (c *httpClient) Configure(ctx context.Context, req configureRequest) (json.RawMessage, error) {
	payload, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	body, err := c.call(ctx, request{method: http.MethodPost, path: []string{"api", "v1", "configure"}, body: payload, may: repeatAny})
	if err != nil {
		return nil, fmt.Errorf("configure %q: %w", req.Queue, err)
	}
	return body, nil
}

func (c *httpClient) RetentionPreview(ctx context.Context, name string) (json.RawMessage, error) {
	body, err := c.call(ctx, request{method: http.MethodGet, path: []string{"api", "v1", "resources", "queues", name, "retention-preview"}, may: repeatAny})
	var status *statusError
	switch {
	case errors.As(err, &status) && status.status == http.StatusNotFound:
		return nil, noQueue(name)
	case err != nil:
		return nil, fmt.Errorf("preview %q: %w", name, err)
	}
	return body, nil
}

func (c *httpClient) DeleteQueue(ctx context.Context, name string) (json.RawMessage, error) {
	body, err := c.call(ctx, request{method: http.MethodDelete, path: []string{"api", "v1", "resources", "queues", name}})
	if err != nil {
		return nil, fmt.Errorf("delete %q: %w", name, err)
	}
	return body, nil
}

func (c *httpClient) Close() { c.http.CloseIdleConnections() }
