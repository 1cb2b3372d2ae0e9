package api

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each key has its own allowance; probes have none.
func TestCallsOfAKeyAreLimited(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(cfg *Config) { cfg.APIKeys, cfg.RateLimit, cfg.RateBurst = true, 0.02, 3 })
	one, other := ts.bearer(ts.key("one", "read-only", "")), ts.bearer(ts.key("other", "read-only", ""))
	for range 3 {
		require.Equal(t, 200, one.get("/api/v1/messages").Status)
	}
	r := one.get("/api/v1/messages")
	require.Equal(t, 429, r.Status)
	require.JSONEq(t, `{"error":"too many calls, slow down","code":"QN429","retryable":true}`, string(r.Body))
	require.Contains(t, []string{"49", "50"}, r.Header.Get("Retry-After"))
	require.Equal(t, 429, one.post("/api/v1/push", "{").Status, "refused calls count, whatever they are")
	require.Equal(t, 200, other.get("/api/v1/messages").Status)
	require.Equal(t, 200, one.get("/health").Status)
	require.Equal(t, 401, ts.get("/api/v1/messages").Status)

	// Without keys an address is a caller.
	open := newTestServerOn(t, ts.db, func(cfg *Config) { cfg.RateLimit = 0.02 })
	require.Equal(t, 200, open.get("/api/v1/messages").Status)
	require.Equal(t, 429, open.get("/api/v1/messages").Status)
}

func TestThrottleForgetsWhoIsQuiet(t *testing.T) {
	t.Parallel()
	limit := newThrottle(Config{RateLimit: 10})
	now := time.Now()
	for range 10 {
		require.Zero(t, limit.take("a", now))
	}
	require.Equal(t, 100*time.Millisecond, limit.take("a", now))
	require.Equal(t, 100*time.Millisecond, limit.take("a", now), "a refused call costs nothing")
	require.Zero(t, limit.take("a", now.Add(100*time.Millisecond)))
	for i := range maxLimiters - 1 {
		require.Zero(t, limit.take(fmt.Sprint(i), now))
	}
	require.Zero(t, limit.take("new", now.Add(time.Minute)))
	require.Len(t, limit.callers, 1)
	require.Nil(t, newThrottle(Config{}))
}

// A client that sends slowly is cut off, in its head and in its body, and holds
// up nobody else.
func TestSlowClientsAreCutOff(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(cfg *Config) {
		cfg.HeaderTimeout, cfg.BodyTimeout = 300*time.Millisecond, 300*time.Millisecond
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	web := ts.httpServer()
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	t.Cleanup(func() { web.Close(); <-served })
	dial := func(text string) net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close() })
		require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(conn, text)
		require.NoError(t, err)
		return conn
	}
	var heads []net.Conn
	for range 50 {
		heads = append(heads, dial("GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: "))
	}
	body := dial("POST /api/v1/push HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{")
	drip := dial("POST /api/v1/push HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	go func() {
		for {
			if _, err := io.WriteString(drip, "1\r\n \r\n"); err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	response, err := http.Get("http://" + listener.Addr().String() + "/livez")
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, 200, response.StatusCode)
	for _, conn := range []net.Conn{body, drip} {
		got, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusRequestTimeout, got.StatusCode)
		got.Body.Close()
	}
	for _, conn := range heads {
		_, err := io.ReadAll(conn)
		require.NoError(t, err, "the server hangs up")
	}
	require.Zero(t, ts.stored())
	// A head without end is too large.
	huge := dial("GET /livez HTTP/1.1\r\nHost: x\r\nX-Huge: " + strings.Repeat("x", 200<<10))
	got, err := http.ReadResponse(bufio.NewReader(huge), nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, got.StatusCode)
	got.Body.Close()
}

// keyPair writes a certificate for 127.0.0.1.
func keyPair(t *testing.T, dir string) (certFile, keyFile string, pool *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: serial, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return certFile, keyFile, pool
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile, pool := keyPair(t, dir)
	ts := newTestServer(t, func(cfg *Config) { cfg.TLSCert, cfg.TLSKey = certFile, keyFile })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	web := ts.httpServer()
	served := make(chan error, 1)
	go func() { served <- ts.serve(web, listener) }()
	t.Cleanup(func() { web.Close(); <-served })
	get := func(config *tls.Config) (*http.Response, error) {
		transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get("https://" + listener.Addr().String() + "/livez")
		if err == nil {
			response.Body.Close()
		}
		return response, err
	}
	response, err := get(&tls.Config{RootCAs: pool})
	require.NoError(t, err)
	require.Equal(t, "max-age=31536000", response.Header.Get("Strict-Transport-Security"))
	_, err = get(&tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS11})
	require.Error(t, err, "no TLS older than 1.2")
	plain, err := http.Get("http://" + listener.Addr().String() + "/livez")
	require.NoError(t, err)
	plain.Body.Close()
	require.Equal(t, 400, plain.StatusCode)

	// A renewed certificate is taken without a restart, a broken one is not.
	_, _, renewed := keyPair(t, dir)
	later := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(certFile, later, later))
	ts.certificate.looked = time.Time{}
	_, err = get(&tls.Config{RootCAs: renewed})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certFile, []byte("nothing"), 0o600))
	ts.certificate.looked = time.Time{}
	_, err = get(&tls.Config{RootCAs: renewed})
	require.NoError(t, err)
	for name, change := range map[string]func(*Config){
		"broken": func(c *Config) { c.TLSCert, c.TLSKey = certFile, keyFile }, "half": func(c *Config) { c.TLSCert = certFile }, "absent": func(c *Config) { c.TLSCert, c.TLSKey = "/none", "/none" },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		require.ErrorContains(t, cfg.check(), "REGENT_TLS_", name)
	}
}

// Pages of other origins may call only where they are allowed to.
func TestOtherOrigins(t *testing.T) {
	t.Parallel()
	off := newTestServer(t)
	on := newTestServerOn(t, off.db, func(cfg *Config) { cfg.CORSOrigins = []string{"https://console.example"} })
	all := newTestServerOn(t, off.db, func(cfg *Config) { cfg.CORSOrigins = []string{"*"} })
	page := func(ts *testServer, origin, site string) *testServer {
		return ts.by("Origin", origin).by("Sec-Fetch-Site", site)
	}
	for name, c := range map[string]struct {
		as     *testServer
		status int
		allow  string
	}{
		"no browser":               {off, 201, ""},
		"own page":                 {page(off, off.web.URL, "same-origin"), 201, ""},
		"typed":                    {off.by("Sec-Fetch-Site", "none"), 201, ""},
		"other page":               {page(off, "https://evil.example", "cross-site"), 403, ""},
		"neighbour":                {page(off, "http://127.0.0.1:1", "same-site"), 403, ""},
		"image":                    {off.by("Sec-Fetch-Site", "cross-site"), 403, ""},
		"old browser, other page":  {off.by("Origin", "https://evil.example"), 403, ""},
		"old browser, null":        {off.by("Origin", "null"), 403, ""},
		"old browser, own page":    {off.by("Origin", off.web.URL), 201, ""},
		"allowed page":             {page(on, "https://console.example", "cross-site"), 201, "https://console.example"},
		"page that is not allowed": {page(on, "https://console.example.evil", "cross-site"), 403, ""},
		"everybody":                {page(all, "https://evil.example", "cross-site"), 201, "*"},
	} {
		r := c.as.post("/api/v1/push", `{"items":[{"queue":"q","payload":1}]}`)
		require.Equal(t, c.status, r.Status, "%s: %s", name, r.Body)
		require.Equal(t, c.allow, r.Header.Get("Access-Control-Allow-Origin"), name)
		require.Empty(t, r.Header.Get("Access-Control-Allow-Credentials"), name)
		require.Equal(t, "nosniff", r.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
		require.Equal(t, "DENY", r.Header.Get("X-Frame-Options"))
	}
	require.Equal(t, 403, page(off, "", "cross-site").get("/api/v1/pop/queue/q").Status, "a pop whose answer nobody may read would lose messages")
	require.Equal(t, 200, page(off, "", "cross-site").get("/health").Status)
	require.Contains(t, off.get("/docs").Header.Get("Content-Security-Policy"), "connect-src 'self'")
	require.NotEqual(t, "no-store", off.get("/docs").Header.Get("Cache-Control"))

	preflight := func(ts *testServer) (int, http.Header) {
		request, err := http.NewRequest("OPTIONS", ts.web.URL+"/api/v1/push", nil)
		require.NoError(t, err)
		request.Header.Set("Origin", "https://console.example")
		request.Header.Set("Access-Control-Request-Method", "POST")
		request.Header.Set("Access-Control-Request-Headers", "authorization,content-type,x-queen-tenant")
		response, err := ts.web.Client().Do(request)
		require.NoError(t, err)
		response.Body.Close()
		return response.StatusCode, response.Header
	}
	status, header := preflight(off)
	require.Equal(t, 405, status)
	require.Empty(t, header.Get("Access-Control-Allow-Origin"))
	guarded := newTestServerOn(t, off.db, asksForTokens, func(cfg *Config) { cfg.CORSOrigins = []string{"https://console.example"} })
	status, header = preflight(guarded)
	require.Equal(t, 204, status, "a preflight has no token")
	require.Equal(t, "https://console.example", header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "POST", header.Get("Access-Control-Allow-Methods"))
	for _, bad := range []string{"console.example", "https://x/", "https://x/y", "ftp://x", "null"} {
		cfg := DefaultConfig()
		cfg.CORSOrigins = []string{bad}
		require.ErrorContains(t, cfg.check(), "REGENT_CORS_ORIGINS", bad)
	}
}

// A page of a public name that leads to this machine, as rebinding makes one, is
// no other origin to its browser: only the name gives it away.
func TestNamesOfPublicHosts(t *testing.T) {
	t.Parallel()
	open := newTestServer(t)
	allowed := newTestServerOn(t, open.db, func(cfg *Config) { cfg.CORSOrigins = []string{"https://queue.example:8443"} })
	guarded := newTestServerOn(t, open.db, asksForTokens)
	exposed := newTestServerOn(t, open.db, func(cfg *Config) { cfg.BindAddr, cfg.AllowWithoutAuth = "0.0.0.0", true })
	for name, c := range map[string]struct {
		at     *testServer
		host   string
		status int
	}{
		"address": {open, "127.0.0.1:6632", 200}, "address of six": {open, "[::1]:6632", 200}, "localhost": {open, "LocalHost", 200},
		"one label": {open, "db:6632", 200}, "private": {open, "queue.internal", 200}, "mdns": {open, "mac.local.:6632", 200},
		"public": {open, "evil.example:6632", 403}, "public with a dot": {open, "evil.example.", 403}, "looks private": {open, "localhost.evil.example", 403},
		"looks like an address": {open, "127.0.0.1.evil.example", 403},
		"allowed":               {allowed, "queue.example", 200}, "another": {allowed, "other.example", 403},
		"guarded": {guarded, "evil.example", 401}, "meant to be open": {exposed, "evil.example", 200},
	} {
		request, err := http.NewRequest("GET", c.at.web.URL+"/api/v1/resources/queues", nil)
		require.NoError(t, err)
		request.Host = c.host
		response, err := c.at.web.Client().Do(request)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, c.status, response.StatusCode, name)
	}
	request, err := http.NewRequest("GET", open.web.URL+"/health", nil)
	require.NoError(t, err)
	request.Host = "evil.example"
	response, err := open.web.Client().Do(request)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, 200, response.StatusCode, "probes are for everybody")
}

// A body without a length is as long as it is.
func TestChunkedBodiesAreLimited(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(cfg *Config) { cfg.MaxBodyBytes = 4096 })
	for size, status := range map[int]int{4096: 201, 4097: 413, 1 << 20: 413} {
		body := `{"items":[{"queue":"q","payload":"` + strings.Repeat("x", size-39) + `"}]}` + "\n"
		require.Len(t, body, size)
		request, err := http.NewRequest("POST", ts.web.URL+"/api/v1/push", io.MultiReader(strings.NewReader(body)))
		require.NoError(t, err)
		response, err := ts.web.Client().Do(request)
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, status, response.StatusCode, size)
	}
	require.Equal(t, 1, ts.stored())
}
