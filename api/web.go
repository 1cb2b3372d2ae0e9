package api

import (
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rs/cors"
)

// shield tells browsers how to treat every answer, and keeps pages of other
// origins from calling unless Config.CORSOrigins lets them.
func (s *Server) shield(next http.Handler) http.Handler {
	inner := next
	if len(s.cfg.CORSOrigins) > 0 {
		inner = cors.New(cors.Options{
			AllowedOrigins: s.cfg.CORSOrigins, MaxAge: 600,
			AllowedMethods: []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete},
			AllowedHeaders: []string{"Authorization", "Content-Type", tenantHeader}, ExposedHeaders: []string{"Retry-After"},
		}).Handler(next)
	}
	same := http.Header{ // of all answers, which share the values
		"X-Content-Type-Options":  {"nosniff"},
		"X-Frame-Options":         {"DENY"},
		"Referrer-Policy":         {"no-referrer"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"},
		"Cache-Control":           {"no-store"},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		maps.Copy(h, same)
		if r.TLS != nil {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		if s.rebound(r) {
			answer(w, newError(http.StatusForbidden, "", "a server without log-in takes no calls for the name of a public host, see REGENT_CORS_ORIGINS"))
			return
		}
		if s.foreign(r) {
			answer(w, newError(http.StatusForbidden, "", "pages of another origin may not call this server, see REGENT_CORS_ORIGINS"))
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// foreign reports whether a browser sends a call for a page of another origin
// that is not allowed. A page cannot read the answer, but a pop it could not read
// would be lost all the same, and content types are not looked at here.
func (s *Server) foreign(r *http.Request) bool {
	if !strings.HasPrefix(r.URL.Path, "/api/") || r.Method == http.MethodOptions {
		return false
	}
	origin := r.Header.Get("Origin")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return false
	case "": // no browser, or an old one
		at, err := url.Parse(origin)
		if origin == "" || err == nil && at.Host == r.Host {
			return false
		}
	}
	for _, allowed := range s.cfg.CORSOrigins {
		if allowed == "*" || origin != "" && strings.EqualFold(allowed, origin) {
			return false
		}
	}
	return true
}

// privateNames end the names of hosts that nobody can own in public.
var privateNames = []string{".localhost", ".local", ".internal", ".test", ".home.arpa"}

// rebound reports whether a call for a public host's name reached a server that
// lets everybody on its machine in. The owner of such a name can lead it to this
// machine (DNS rebinding): to the browser his page and the server are one origin
// then, so that only the name tells them apart.
func (s *Server) rebound(r *http.Request) bool {
	if s.cfg.Guarded() || !s.cfg.local() || !strings.HasPrefix(r.URL.Path, "/api/") {
		return false
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if net.ParseIP(host) != nil || !strings.Contains(host, ".") {
		return false
	}
	for _, end := range privateNames {
		if strings.HasSuffix(host, end) {
			return false
		}
	}
	for _, allowed := range s.cfg.CORSOrigins {
		if at, err := url.Parse(allowed); allowed == "*" || err == nil && strings.EqualFold(at.Hostname(), host) {
			return false
		}
	}
	return true
}

// checkOrigins refuses what no browser sends as an origin.
func checkOrigins(list []string) error {
	for _, origin := range list {
		at, err := url.Parse(origin)
		if origin == "*" || err == nil && (at.Scheme == "http" || at.Scheme == "https") && origin == at.Scheme+"://"+at.Host {
			continue
		}
		return fmt.Errorf("REGENT_CORS_ORIGINS must be * or origins like https://console.example, got %q", origin)
	}
	return nil
}

// certificate is a key pair in two files that is read again when they change.
type certificate struct {
	certFile, keyFile string

	mu     sync.Mutex
	looked time.Time
	stamps [2]time.Time
	pair   *tls.Certificate
}

// certificateEvery is how often the files are looked at.
const certificateEvery = 10 * time.Second

// checkTLS reports what is wrong with the files.
func (c Config) checkTLS() error {
	switch {
	case c.TLSCert == "" && c.TLSKey == "":
		return nil
	case c.TLSCert == "" || c.TLSKey == "":
		return errors.New("REGENT_TLS_CERT and REGENT_TLS_KEY go together")
	}
	if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
		return fmt.Errorf("read REGENT_TLS_CERT and REGENT_TLS_KEY: %w", err)
	}
	return nil
}

// get is the key pair; one that cannot be read leaves the one before in place.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pair != nil && time.Since(c.looked) < certificateEvery {
		return c.pair, nil
	}
	c.looked = time.Now()
	var stamps [2]time.Time
	for i, name := range []string{c.certFile, c.keyFile} {
		if info, err := os.Stat(name); err == nil {
			stamps[i] = info.ModTime()
		}
	}
	if c.pair != nil && stamps == c.stamps {
		return c.pair, nil
	}
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.pair, c.stamps = &pair, stamps
	}
	if c.pair == nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return c.pair, nil
}
