// Package regent is the Go client of Regent. Package rest beside it is generated
// from the OpenAPI document and has every route; this package adds what one
// writes around it: typed messages, a consume loop that renews its leases,
// batching, retries, and a stop that gives back what was not worked on.
package regent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"regent.local/regent/api/sdk/go/rest"
)

// Client calls one Regent server. It is safe for concurrent use. The embedded
// client has every route of the API; its calls are made once.
type Client struct {
	*rest.ClientWithResponses
	tries int
}

type settings struct {
	options []rest.ClientOption
	tries   int
}

// Option changes a Client.
type Option func(*settings)

// WithToken sends a bearer token, a JWT or an API key, with every call.
func WithToken(token string) Option {
	return func(s *settings) {
		s.options = append(s.options, rest.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	}
}

// WithHTTPClient uses another HTTP client than http.DefaultClient. Its timeout
// must be longer than the wait of a Consumer.
func WithHTTPClient(c *http.Client) Option {
	return func(s *settings) { s.options = append(s.options, rest.WithHTTPClient(c)) }
}

// WithTries bounds how often Push, Consume and a Batcher make a call that fails
// for a reason that may pass. The default is 8, which takes about 25 seconds.
func WithTries(n int) Option {
	return func(s *settings) { s.tries = max(n, 1) }
}

// New returns a client of the server at url, such as http://localhost:6632. It
// makes no call.
func New(url string, options ...Option) (*Client, error) {
	s := settings{tries: 8}
	for _, option := range options {
		option(&s)
	}
	c, err := rest.NewClientWithResponses(url, s.options...)
	if err != nil {
		return nil, err
	}
	return &Client{ClientWithResponses: c, tries: s.tries}, nil
}

// Error is an answer of the server that is not a success.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code is a stable word such as QN404.
	Code string
	// Text says what is wrong, and names the field.
	Text string
	// Retryable says that the same call may work later and nothing was done.
	Retryable bool
	after     time.Duration
}

func (e *Error) Error() string { return fmt.Sprintf("%s (%d %s)", e.Text, e.Status, e.Code) }

// Check is nil for an answer that is a success, and an *Error for every other. It
// is for the calls of the embedded client: r.HTTPResponse and r.Body.
func Check(r *http.Response, body []byte) error {
	if r.StatusCode >= 200 && r.StatusCode < 300 {
		return nil
	}
	var said struct {
		Error     string
		Code      string
		Retryable *bool
	}
	if json.Unmarshal(body, &said) != nil || said.Error == "" {
		said.Error = http.StatusText(r.StatusCode)
	}
	seconds, _ := strconv.Atoi(r.Header.Get("Retry-After"))
	retryable := r.StatusCode == http.StatusServiceUnavailable || r.StatusCode == http.StatusTooManyRequests
	if said.Retryable != nil {
		retryable = *said.Retryable
	}
	return &Error{Status: r.StatusCode, Code: said.Code, Text: said.Error, Retryable: retryable, after: time.Duration(seconds) * time.Second}
}

// retry makes a call until it works, fails for good, or was made often enough. A
// connection that breaks counts as passing: the calls made here may be repeated.
func (c *Client) retry(ctx context.Context, call func() error) error {
	for try := 1; ; try++ {
		err := call()
		var said *Error
		if err == nil || ctx.Err() != nil || try >= c.tries || (errors.As(err, &said) && !said.Retryable) {
			return err
		}
		pause := min(100*time.Millisecond<<(try-1), 10*time.Second)
		pause = pause/2 + rand.N(pause/2+1)
		if said != nil {
			pause = max(pause, said.after)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}
