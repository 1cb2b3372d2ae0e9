package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"
)

// loadClient is one kept connection to an HTTP API, for a load generator: it runs
// on the processors of what it measures, and net/http's client costs as much as
// its server. It repeats nothing, and is for one goroutine.
type loadClient struct {
	host   *fasthttp.HostClient
	base   string
	token  string
	answer fasthttp.Response
}

func newLoadClient(base, token string) (*loadClient, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("--url is not an address like %s", defaultURL)
	}
	secure := u.Scheme == "https"
	return &loadClient{base: u.JoinPath("/").String(), token: token, host: &fasthttp.HostClient{
		Addr: fasthttp.AddMissingPort(u.Host, secure), IsTLS: secure, DialDualStack: true, MaxConns: 1, MaxIdemponentCallAttempts: 1,
	}}, nil
}

// request is one that can be sent many times. The path is without the first slash,
// and escaped.
func (c *loadClient) request(method, path string) *fasthttp.Request {
	r := &fasthttp.Request{}
	r.Header.SetMethod(method)
	r.SetRequestURI(c.base + path)
	if method == http.MethodPost {
		r.Header.SetContentType(jsonType)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r
}

// send returns the body of a 2xx answer, which is good until the next call. A call
// that is under way does not end with ctx.
func (c *loadClient) send(ctx context.Context, r *fasthttp.Request, timeout time.Duration) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := c.host.DoTimeout(r, &c.answer, timeout); err != nil {
		return nil, &networkError{err: err}
	}
	body, status := c.answer.Body(), c.answer.StatusCode()
	if status >= http.StatusMultipleChoices {
		return nil, newStatusError(status, string(c.answer.Header.Peek("Retry-After")), body)
	}
	return body, nil
}

func (c *loadClient) Close() error {
	c.host.CloseIdleConnections()
	return nil
}
