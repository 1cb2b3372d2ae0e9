package api

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"regent.local/regent/db"
	"regent.local/regent/db/dbtest"
)

const (
	tenantA = "00000000-0000-0000-0000-000000000001"
	tenantB = "b0000000-0000-4000-8000-00000000000b"
)

const testSecret = "a secret of the tests, thirty-two bytes or more"

// asksForTokens makes a server that takes HS256 tokens of testSecret.
func asksForTokens(cfg *Config) {
	cfg.JWT.Enabled, cfg.JWT.Secret = true, testSecret
}

// token signs claims; "" as a role leaves it out.
func token(t testing.TB, role string, claims ...jwt.MapClaims) string {
	all := jwt.MapClaims{}
	if role != "" {
		all["role"] = role
	}
	for _, more := range claims {
		for name, value := range more {
			all[name] = value
		}
	}
	return signed(t, jwt.SigningMethodHS256, []byte(testSecret), nil, all)
}

func signed(t testing.TB, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	unsigned := jwt.NewWithClaims(method, claims)
	for name, value := range header {
		unsigned.Header[name] = value
	}
	text, err := unsigned.SignedString(key)
	require.NoError(t, err)
	return text
}

// filled is a request path of a documented one.
func filled(template string) string {
	return strings.NewReplacer("{partitionId}", "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11", "{id}", "7d9f3b1e-4a52-4c1b-9a60-2f1d8f0c5e11", "{", "", "}", "").Replace(template)
}

// Every route, with each role: the level is what the table says, and what the
// document says.
func TestEveryRouteAsksForItsLevel_F161(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, asksForTokens)
	callers := map[string]*testServer{"nobody": ts, "a stranger": ts.bearer(token(t, "owner"))}
	for _, role := range []string{"admin", "read-write", "read-only", "write-only"} {
		callers[role] = ts.bearer(token(t, role))
	}
	allowed := map[string]string{
		"public":     "nobody, a stranger, admin, read-write, read-only, write-only",
		"read-only":  "admin, read-write, read-only",
		"write-only": "admin, read-write, write-only",
		"read-write": "admin, read-write",
		"admin":      "admin",
	}
	refusal := func(name string, r reply) bool {
		want := map[string]string{"nobody": `{"error":"Authentication required","code":"QN401","retryable":false}`}[name]
		if want == "" {
			want = `{"error":"Insufficient permissions","code":"QN403","retryable":false}`
		}
		return (r.Status == 401 || r.Status == 403) && string(r.Body) == want
	}
	for path, item := range ts.api.OpenAPI().Paths {
		for _, op := range operations(item) {
			name := op.Extensions["x-access-level"].(string)
			require.Equal(t, levels[op.Method+" "+path].level.name, name)
			require.Equal(t, name == "public", len(op.Security) == 0, path)
			for who, caller := range callers {
				r := caller.send(op.Method, filled(path), "{")
				if strings.HasPrefix(path, "/auth/") {
					require.False(t, refusal(who, r), "%s %s", op.Method, path)
					continue
				}
				require.Equal(t, !strings.Contains(allowed[name], who), refusal(who, r), "%s %s by %s: %d %s", op.Method, path, who, r.Status, r.Body)
				if op.Method == "GET" && !strings.HasPrefix(path, "/api/v1/pop") { // that HEAD is refused to everybody
					head := caller.send("HEAD", filled(path), "")
					require.Equal(t, r.Status == 401 || r.Status == 403, head.Status == 401 || head.Status == 403, "HEAD %s by %s: %d", path, who, head.Status)
				}
			}
		}
	}
	for _, target := range []string{"GET /api/v1/nothing", "PATCH /api/v1/push", "OPTIONS /api/v1/push", "GET /api/v1/push", "DELETE /api/v1/system/maintenance", "POST /api/v1/dlq", "BREW /api/v1/push"} {
		method, path, _ := strings.Cut(target, " ")
		for who, caller := range callers {
			require.Equal(t, who != "admin" && who != "read-write", refusal(who, caller.send(method, path, "")), "%s by %s", target, who)
		}
	}
	for _, target := range []string{"POST /api/v1/push/", "POST /api/v1/fetch/", "DELETE /api/v1/dlq/", "GET /api/v1/messages/", "POST //api/v1/push", "POST /api/v1/./push"} {
		method, path, _ := strings.Cut(target, " ")
		for who, caller := range callers {
			r := caller.send(method, path, "{")
			require.True(t, refusal(who, r) || r.Status == 404 && r.failure(t).Code == "no_such_route", "%s by %s: %d %s", target, who, r.Status, r.Body)
		}
	}
	// No header makes another method, path or caller of a request.
	for _, name := range []string{"X-HTTP-Method-Override", "X-Method-Override", "X-Original-URL", "X-Forwarded-For", "X-Queen-Tenant"} {
		require.Equal(t, 403, callers["read-only"].by(name, "GET").send("DELETE", "/api/v1/resources/queues/q", "").Status, name)
	}
	require.Equal(t, "Bearer", ts.get("/api/v1/messages").Header.Get("WWW-Authenticate"))
}

// The words of the wire for every way in which a token is not accepted.
func TestRefusedTokens(t *testing.T) {
	t.Parallel()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	ts := newTestServer(t, asksForTokens, func(cfg *Config) { cfg.JWT.Issuer, cfg.JWT.Audience = "the issuer", "regent" })
	now := time.Now()
	good := jwt.MapClaims{"iss": "the issuer", "aud": "regent", "exp": now.Add(time.Minute).Unix()}
	with := func(name string, value any) string { return token(t, "admin", good, jwt.MapClaims{name: value}) }
	encode := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	parts := strings.Split(token(t, "admin", good), ".")
	for name, c := range map[string]struct{ header, want string }{
		"good":               {"Bearer " + with("x", 1), ""},
		"lower case":         {"bearer " + with("x", 1), ""},
		"bare":               {with("x", 1), ""},
		"audience of many":   {"Bearer " + with("aud", []string{"other", "regent"}), ""},
		"a little late":      {"Bearer " + with("exp", now.Add(-20*time.Second).Unix()), ""},
		"roles in an array":  {"Bearer " + token(t, "", good, jwt.MapClaims{"roles": []any{"x", 1, "read-only"}}), ""},
		"no expiry":          {"Bearer " + token(t, "admin", jwt.MapClaims{"iss": "the issuer", "aud": "regent"}), ""},
		"none":               {"", "Authentication required"},
		"only the scheme":    {"Bearer", "Authentication required"},
		"empty":              {"Bearer   ", "Authentication required"},
		"no token":           {"Bearer abc", "Bad token header"},
		"basic":              {"Basic dXNlcjpwYXNz", "Bad token header"},
		"no algorithm":       {"Bearer " + encode(`{"typ":"JWT"}`) + "." + parts[1] + "." + parts[2], "Bad token header"},
		"critical header":    {"Bearer " + signed(t, jwt.SigningMethodHS256, []byte(testSecret), map[string]any{"crit": []string{"b64"}}, good), "Bad token header"},
		"alg none":           {"Bearer " + encode(`{"alg":"none"}`) + "." + parts[1] + ".", "Unsupported token algorithm"},
		"alg NONE":           {"Bearer " + encode(`{"alg":"NONE"}`) + "." + parts[1] + ".", "Unsupported token algorithm"},
		"alg in lower case":  {"Bearer " + encode(`{"alg":"hs256"}`) + "." + parts[1] + "." + parts[2], "Unsupported token algorithm"},
		"HS384":              {"Bearer " + signed(t, jwt.SigningMethodHS384, []byte(testSecret), nil, good), "Unsupported token algorithm"},
		"EdDSA":              {"Bearer " + signed(t, jwt.SigningMethodEdDSA, private, nil, good), "Unsupported token algorithm"},
		"RS256":              {"Bearer " + signed(t, jwt.SigningMethodRS256, rsaKey, nil, good), "Unsupported token algorithm"},
		"other secret":       {"Bearer " + signed(t, jwt.SigningMethodHS256, []byte("another"), nil, good), "Invalid token signature"},
		"changed claims":     {"Bearer " + parts[0] + "." + encode(`{"role":"admin"}`) + "." + parts[2], "Invalid token signature"},
		"no signature":       {"Bearer " + parts[0] + "." + parts[1] + ".", "Invalid token signature"},
		"expired":            {"Bearer " + with("exp", now.Add(-31*time.Second).Unix()), "Token has expired"},
		"not yet":            {"Bearer " + with("nbf", now.Add(time.Minute).Unix()), "Token not yet valid"},
		"of the future":      {"Bearer " + with("iat", now.Add(time.Minute).Unix()), "Token issued in the future"},
		"other issuer":       {"Bearer " + with("iss", "x"), "Invalid token issuer"},
		"other audience":     {"Bearer " + with("aud", []string{"x", "y"}), "Invalid token audience"},
		"no audience":        {"Bearer " + token(t, "admin", jwt.MapClaims{"iss": "the issuer"}), "Invalid token audience"},
		"expiry as a text":   {"Bearer " + with("exp", "never"), "Invalid token signature"},
		"subject with a NUL": {"Bearer " + with("sub", "a\x00b"), "Invalid token subject"},
		"unknown key":        {"Bearer " + KeyPrefix + "unknown", "Unknown API key"},
	} {
		r := ts.by("Authorization", c.header).get("/api/v1/messages")
		if c.want == "" {
			require.Equal(t, 200, r.Status, "%s: %s", name, r.Body)
			continue
		}
		require.Equal(t, 401, r.Status, "%s: %s", name, r.Body)
		require.JSONEq(t, fmt.Sprintf(`{"error":%q,"code":"QN401","retryable":false}`, c.want), string(r.Body), name)
	}
	two := *ts
	two.as = http.Header{"Authorization": {"Bearer " + with("x", 1), "Bearer " + with("x", 2)}}
	require.Equal(t, 401, two.get("/api/v1/messages").Status, "two headers: which one counted would be a guess")
}

// keySet is a server of public keys that can be changed and counts its fetches.
type keySet struct {
	keys    atomic.Pointer[[]map[string]string]
	fetches atomic.Int64
	web     *httptest.Server
}

func newKeySet(t *testing.T, keys ...map[string]string) *keySet {
	k := &keySet{}
	k.keys.Store(&keys)
	k.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		k.fetches.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": *k.keys.Load()})
	}))
	t.Cleanup(k.web.Close)
	return k
}

func rsaJWK(kid string, key *rsa.PrivateKey) map[string]string {
	encode := base64.RawURLEncoding.EncodeToString
	return map[string]string{"kty": "RSA", "kid": kid, "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes())}
}

func edJWK(kid string, key ed25519.PublicKey) map[string]string {
	return map[string]string{"kty": "OKP", "crv": "Ed25519", "kid": kid, "x": base64.RawURLEncoding.EncodeToString(key)}
}

func pemOf(t *testing.T, key crypto.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// verifier is what a configuration makes of tokens, without a server.
func verifier(t *testing.T, change func(*JWTConfig)) *tokens {
	t.Helper()
	cfg := defaultJWT()
	cfg.Enabled = true
	change(&cfg)
	v, err := newTokens(cfg, testLog())
	require.NoError(t, err)
	t.Cleanup(v.stop)
	return v
}

// RS, EdDSA and key sets; a public key is never a secret, whatever the token says.
func TestPublicKeysAndKeySets(t *testing.T) {
	t.Parallel()
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	other, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	claims := jwt.MapClaims{"sub": "me", "role": "admin"}
	kid := func(id string) map[string]any { return map[string]any{"kid": id} }
	refused := func(v *tokens, raw string) string {
		_, err := v.verify(t.Context(), raw)
		if err == nil {
			return ""
		}
		return err.Error()
	}

	byPEM := verifier(t, func(c *JWTConfig) { c.Algorithm, c.PublicKey = "RS256", pemOf(t, &rsaKey.PublicKey) })
	for _, method := range []jwt.SigningMethod{jwt.SigningMethodRS256, jwt.SigningMethodRS384, jwt.SigningMethodRS512} {
		require.Empty(t, refused(byPEM, signed(t, method, rsaKey, nil, claims)), "RS256 takes all three")
	}
	require.Equal(t, "Invalid token signature", refused(byPEM, signed(t, jwt.SigningMethodRS256, other, nil, claims)))
	require.Equal(t, "Unsupported token algorithm", refused(byPEM, signed(t, jwt.SigningMethodPS256, rsaKey, nil, claims)))
	require.Equal(t, "Unsupported token algorithm", refused(byPEM, signed(t, jwt.SigningMethodEdDSA, edPrivate, nil, claims)))
	only512 := verifier(t, func(c *JWTConfig) {
		c.Algorithm, c.PublicKey = "RS512", strings.ReplaceAll(pemOf(t, &rsaKey.PublicKey), "\n", `\n`)
	})
	require.Equal(t, "Unsupported token algorithm", refused(only512, signed(t, jwt.SigningMethodRS256, rsaKey, nil, claims)))
	require.Empty(t, refused(only512, signed(t, jwt.SigningMethodRS512, rsaKey, nil, claims)))

	// The classic confusion: the public key's text as the secret of HS256.
	confusable := verifier(t, func(c *JWTConfig) { c.Algorithm, c.PublicKey = "auto", pemOf(t, &rsaKey.PublicKey) })
	for _, secret := range [][]byte{[]byte(pemOf(t, &rsaKey.PublicKey)), {}, rsaKey.N.Bytes()} {
		raw := signed(t, jwt.SigningMethodHS256, secret, nil, claims)
		require.Equal(t, "HS secret not configured", refused(confusable, raw))
		require.Equal(t, "Unsupported token algorithm", refused(byPEM, raw))
	}
	require.Equal(t, "Unsupported token algorithm", refused(confusable, signed(t, jwt.SigningMethodEdDSA, edPrivate, nil, claims)), "an RSA key verifies no EdDSA")

	set := newKeySet(t, edJWK("ed", edPublic), map[string]string{"kty": "oct", "kid": "shared", "k": "c2VjcmV0"}, rsaJWK("r1", rsaKey))
	v := verifier(t, func(c *JWTConfig) { c.Algorithm, c.KeySetURL = "auto", set.web.URL })
	require.Empty(t, refused(v, signed(t, jwt.SigningMethodEdDSA, edPrivate, kid("ed"), claims)))
	require.Empty(t, refused(v, signed(t, jwt.SigningMethodEdDSA, edPrivate, nil, claims)), "no kid: the first key")
	require.Empty(t, refused(v, signed(t, jwt.SigningMethodRS384, rsaKey, kid("r1"), claims)))
	require.Equal(t, "Unsupported token algorithm", refused(v, signed(t, jwt.SigningMethodRS256, rsaKey, kid("ed"), claims)))
	require.Equal(t, "HS secret not configured", refused(v, signed(t, jwt.SigningMethodHS256, []byte("secret"), kid("shared"), claims)))
	require.Equal(t, int64(1), set.fetches.Load())
	// A rotated key is found at once, and a wrong one is looked for once in five seconds.
	set.keys.Store(&[]map[string]string{rsaJWK("r2", other)})
	require.Empty(t, refused(v, signed(t, jwt.SigningMethodRS256, other, kid("r2"), claims)))
	require.Equal(t, "Unknown key ID", refused(v, signed(t, jwt.SigningMethodRS256, other, kid("r3"), claims)))
	require.Equal(t, "Unknown key ID", refused(v, signed(t, jwt.SigningMethodRS256, rsaKey, kid("r1"), claims)), "a withdrawn key is gone")
	require.Equal(t, int64(2), set.fetches.Load(), "the second fetch found r2, the others were throttled")

	// A key set that is away, too large or slow is no reason not to start, and lets nobody in.
	for name, handler := range map[string]http.HandlerFunc{
		"away":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) },
		"large": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte(" "), maxKeySet+2)) },
		"slow":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		web := httptest.NewServer(handler)
		v := verifier(t, func(c *JWTConfig) { c.Algorithm, c.KeySetURL, c.KeySetWait = "RS256", web.URL, 50*time.Millisecond })
		require.Equal(t, "Unknown key ID", refused(v, signed(t, jwt.SigningMethodRS256, rsaKey, kid("r1"), claims)), name)
		web.Close()
	}
}

func TestUnusableKeysRefuseTheStart(t *testing.T) {
	t.Parallel()
	edPublic, _, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	for name, env := range map[string]map[string]string{
		"no secret":            {},
		"unknown algorithm":    {"JWT_ALGORITHM": "ES256", "JWT_SECRET": "x"},
		"none":                 {"JWT_ALGORITHM": "none", "JWT_SECRET": "x"},
		"HS with a public key": {"JWT_ALGORITHM": "HS256", "JWT_PUBLIC_KEY": pemOf(t, edPublic)},
		"RS without a key":     {"JWT_ALGORITHM": "RS256", "JWT_SECRET": "x"},
		"RS with Ed25519":      {"JWT_ALGORITHM": "RS256", "JWT_PUBLIC_KEY": pemOf(t, edPublic)},
		"no PEM":               {"JWT_ALGORITHM": "EdDSA", "JWT_PUBLIC_KEY": "hello", "JWT_JWKS_URL": "https://x/keys"},
		"broken PEM":           {"JWT_ALGORITHM": "EdDSA", "JWT_PUBLIC_KEY": "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"},
		"auto without any":     {"JWT_ALGORITHM": "auto"},
		"a file as key set":    {"JWT_ALGORITHM": "RS256", "JWT_JWKS_URL": "file:///etc/passwd"},
	} {
		env["JWT_ENABLED"] = "true"
		lookup := func(name string) (string, bool) { value, ok := env[name]; return value, ok }
		_, err := ConfigFromEnv(lookup)
		require.ErrorContains(t, err, "JWT_", name)
		env["JWT_ENABLED"] = "false"
		_, err = ConfigFromEnv(lookup)
		require.NoError(t, err, name)
	}
	for name, env := range map[string]map[string]string{
		"RS by URL": {"JWT_ALGORITHM": "RS256", "JWT_JWKS_URL": "https://x/keys"}, "Ed": {"JWT_ALGORITHM": "EdDSA", "JWT_PUBLIC_KEY": pemOf(t, edPublic)},
		"auto by secret": {"JWT_ALGORITHM": "auto", "JWT_SECRET": "x"},
	} {
		env["JWT_ENABLED"] = "yes"
		_, err := ConfigFromEnv(func(name string) (string, bool) { value, ok := env[name]; return value, ok })
		require.NoError(t, err, name)
	}
	_, err = ConfigFromEnv(only("QUEEN_TENANCY_HEADER", "true"))
	require.ErrorContains(t, err, "QUEEN_KV_TRUSTED_PROXY")
}

// only is an environment with one variable.
func only(name, value string) func(string) (string, bool) {
	return func(asked string) (string, bool) {
		if asked == name {
			return value, true
		}
		return "", false
	}
}

func TestListeningElsewhereNeedsAuth(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	for bind, fine := range map[string]bool{"127.0.0.1": true, "localhost": true, "::1": true, "127.3.2.1": true, "0.0.0.0": false, "": false, "::": false, "10.0.0.1": false, "example.com": false} {
		cfg.BindAddr = bind
		require.Equal(t, fine, cfg.CheckExposure() == nil, bind)
		open, keys, web := cfg, cfg, cfg
		open.AllowWithoutAuth, keys.APIKeys, web.JWT.Enabled = true, true, true
		require.NoError(t, open.CheckExposure())
		require.NoError(t, keys.CheckExposure())
		require.NoError(t, web.CheckExposure())
	}
}

func TestSkipPaths(t *testing.T) {
	t.Parallel()
	list := []string{"/health", "/", "/open/", "/api/v1/messages"}
	for path, skip := range map[string]bool{
		"/health": true, "/": true, "/open/": true, "/open/x/y": true, "/api/v1/messages": true,
		"/healthy": false, "/x": false, "/open": false, "/api/v1/messages/": false, "/open%2Fx": false,
	} {
		require.Equal(t, skip, skipped(list, path), path)
	}
	ts := newTestServer(t, asksForTokens, func(cfg *Config) { cfg.SkipPaths = []string{"/api/v1/messages"} })
	require.Equal(t, 200, ts.get("/api/v1/messages").Status)
	require.Equal(t, 401, ts.get("/api/v1/dlq").Status)
	require.Equal(t, 200, ts.get("/health").Status, "public without the list")
	for value, want := range map[string]int{"": 0, " , ": 0, "/a, /b/": 2} {
		cfg, err := ConfigFromEnv(only("JWT_SKIP_PATHS", value))
		require.NoError(t, err)
		require.Len(t, cfg.SkipPaths, want)
	}
	require.Equal(t, []string{"/health", "/metrics/prometheus", "/metrics", "/"}, DefaultConfig().SkipPaths)
}

// Who a console takes the caller for.
func TestIdentity(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t)
	require.JSONEq(t, `{"user_id":"standalone","email":null,"tenant_slug":"local","is_operator":true,"operator_enabled":true,"operator_live":true,
		"acting_cluster":{"id":"00000000-0000-0000-0000-000000000001","slug":"local"},
		"clusters":[{"id":"00000000-0000-0000-0000-000000000001","slug":"local","role":"admin","tenant_slug":"local",
			"tenant_id":"00000000-0000-0000-0000-000000000001","status":"active","cell_slug":"local"}],
		"act_cluster_header":"x-queen-act-cluster","role":"admin","cluster":null,"standalone":true}`, string(ts.get("/auth/me").Body))
	login := ts.get("/auth/login")
	require.Equal(t, 302, login.Status)
	require.Equal(t, "/", login.Header.Get("Location"))
	require.Equal(t, `{"ok":true}`, string(ts.post("/auth/logout", "").Body))

	guarded := newTestServerOn(t, ts.db, asksForTokens)
	for _, caller := range []*testServer{guarded, guarded.bearer(token(t, "admin"))} {
		me := caller.get("/auth/me")
		require.Equal(t, 401, me.Status)
		require.JSONEq(t, `{"error":"auth_required","code":"auth_required","retryable":false}`, string(me.Body))
		require.Equal(t, `{"ok":true}`, string(caller.post("/auth/logout", "").Body))
		require.Equal(t, 200, caller.get("/auth/login").Status)
		require.Equal(t, "text/html; charset=utf-8", caller.get("/auth/login").Header.Get("Content-Type"))
	}
}

// The producer is who the token or key says, on every way into the log, and
// never what a body says.
func TestProducerIsStamped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ts := newTestServer(t, asksForTokens, func(cfg *Config) { cfg.BufferDir = dir })
	alice, nobody := ts.bearer(token(t, "admin", jwt.MapClaims{"sub": "alice"})), ts.bearer(token(t, "admin", jwt.MapClaims{"sub": ""}))
	item := `{"queue":"q","payload":%d,"producerSub":"mallory","producer_sub":"mallory"}`
	alice.push(`{"items":[` + fmt.Sprintf(item, 1) + `]}`)
	nobody.push(`{"producerSub":"mallory","items":[` + fmt.Sprintf(item, 2) + `]}`)
	alice.post("/api/v1/transaction", `{"operations":[{"type":"push","items":[`+fmt.Sprintf(item, 3)+`,`+fmt.Sprintf(item, 4)+`]}]}`)
	alice.turnSwitch("/api/v1/system/maintenance", true)
	require.Equal(t, "buffered", alice.push(`{"items":[` + fmt.Sprintf(item, 5) + `]}`)[0].Status)
	require.Equal(t, "buffered", nobody.push(`{"items":[` + fmt.Sprintf(item, 6) + `]}`)[0].Status)
	alice.turnSwitch("/api/v1/system/maintenance", false)
	alice.emptySpool()
	got := alice.pop("q", "batch=10&subscriptionMode=all")
	producers := map[string]string{}
	for _, m := range got.Messages {
		data, err := json.Marshal(m.Data)
		require.NoError(t, err)
		producers[string(data)] = "nobody"
		if m.ProducerSub != nil {
			producers[string(data)] = *m.ProducerSub
		}
	}
	require.Equal(t, map[string]string{"1": "alice", "2": "nobody", "3": "alice", "4": "alice", "5": "alice", "6": "nobody"}, producers)
}

// key makes an API key.
func (ts *testServer) key(name, role, tenant string) string {
	ts.t.Helper()
	key, hash, err := NewKey()
	require.NoError(ts.t, err)
	ts.sql("SELECT queen.create_api_key_v1($1, $2, $3, nullif($4, '')::uuid)", name, role, hash, tenant)
	return key
}

func TestAPIKeys(t *testing.T) {
	t.Parallel()
	ts := newTestServer(t, func(cfg *Config) { cfg.APIKeys = true })
	writer, admin, foreign := ts.key("shop", "write-only", ""), ts.key("ops", "admin", ""), ts.key("ops", "admin", tenantB)
	require.Equal(t, 401, ts.get("/api/v1/messages").Status)
	require.Equal(t, 403, ts.bearer(writer).get("/api/v1/messages").Status)
	require.Equal(t, 201, ts.bearer(writer).post("/api/v1/push", `{"items":[{"queue":"q","payload":1}]}`).Status)
	got := ts.bearer(admin).pop("q", "subscriptionMode=all")
	require.Equal(t, "key:shop", *got.Messages[0].ProducerSub)
	// A key works for its tenant only, and not on the whole server unless that is the default one.
	require.Equal(t, `{"queues" : []}`, string(ts.bearer(foreign).get("/api/v1/resources/queues").Body))
	require.Equal(t, 403, ts.bearer(foreign).get("/api/v1/system/maintenance").Status)
	require.Equal(t, 200, ts.bearer(admin).get("/api/v1/system/maintenance").Status)
	// A token where only keys are taken, a key that is none, one with a tail.
	require.Equal(t, "Bad token header", ts.bearer(token(t, "admin")).get("/api/v1/dlq").failure(t).Text)
	require.Equal(t, "Unknown API key", ts.bearer(admin+"x").get("/api/v1/dlq").failure(t).Text)

	// The last use is noted once a minute.
	used := func() (n int) {
		return ts.count("SELECT count(*) FROM queen.api_keys WHERE last_used_at > now() - interval '1 minute'")
	}
	require.Equal(t, 3, used())
	ts.sql("UPDATE queen.api_keys SET last_used_at = now() - interval '50 seconds'")
	before := ts.count("SELECT count(*) FROM queen.api_keys WHERE last_used_at < now() - interval '40 seconds'")
	clear(ts.keys.known)
	require.Equal(t, 200, ts.bearer(admin).get("/api/v1/dlq").Status)
	require.Equal(t, before, ts.count("SELECT count(*) FROM queen.api_keys WHERE last_used_at < now() - interval '40 seconds'"))
	ts.sql("UPDATE queen.api_keys SET last_used_at = now() - interval '61 seconds'")
	clear(ts.keys.known)
	require.Equal(t, 200, ts.bearer(admin).get("/api/v1/dlq").Status)
	require.Equal(t, 1, used())

	// Revoked: at once for a server that has not seen it, within keyFresh for one that has.
	ts.sql("SELECT queen.revoke_api_key_v1('ops')")
	require.Equal(t, 200, ts.bearer(admin).get("/api/v1/dlq").Status)
	ts.keys.age(keyFresh)
	require.Equal(t, 401, ts.bearer(admin).get("/api/v1/dlq").Status)
	require.Equal(t, 1, ts.count("SELECT count(*) FROM queen.api_keys WHERE revoked_at IS NOT NULL"), "the other tenant's key of that name stays")
	require.Equal(t, 403, ts.bearer(foreign).get("/api/v1/system/maintenance").Status)
	require.Zero(t, ts.count("SELECT count(*) FROM queen.api_keys k WHERE k::text LIKE '%rgk_%'"))

	// While the database is away a key that was seen lately goes on working: pushes go to the spool.
	_ = ts.bearer(writer).get("/api/v1/dlq")
	ts.keys.age(keyStale - time.Minute)
	real := ts.keys.lookup
	ts.keys.lookup = func(ctx context.Context, hash []byte) ([]db.APIKeyRow, error) { return nil, context.DeadlineExceeded }
	require.Equal(t, 403, ts.bearer(writer).get("/api/v1/dlq").Status)
	ts.keys.age(keyStale)
	require.Equal(t, 503, ts.bearer(writer).get("/api/v1/dlq").Status)
	ts.keys.lookup = real
	require.Equal(t, 403, ts.bearer(writer).get("/api/v1/dlq").Status)
}

// age makes what is remembered older.
func (k *keyring) age(by time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for hash, key := range k.known {
		key.seen = key.seen.Add(-by)
		k.known[hash] = key
	}
}

// Whatever is refused or fails: no token, key or secret is in a log or an answer.
func TestNoTokenInALog(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	database, cfg := dbtest.New(t), DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize = database.DSN, 8
	asksForTokens(&cfg)
	pool, err := OpenPool(context.Background(), cfg)
	require.NoError(t, err)
	ts := startLoggingServer(t, cfg, pool, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	ts.db = database
	good, foreign, key := token(t, "admin"), signed(t, jwt.SigningMethodHS256, []byte("another"), nil, jwt.MapClaims{"role": "admin"}), ts.key("k", "admin", "")
	real := ts.pool.Config().ConnConfig.Password
	for _, secret := range []string{good, foreign, key, key + "x", "rgk_short", "Basic abcdefghijk"} {
		for _, target := range []string{"/api/v1/messages", "/api/v1/nothing", "/api/v1/messages/not-a-uuid/x", "/auth/me"} {
			r := ts.bearer(secret).get(target)
			require.NotContains(t, string(r.Body), secret)
		}
		_ = ts.bearer(secret).post("/api/v1/push", "{")
	}
	ts.keys.age(time.Hour)
	ts.keys.lookup = func(context.Context, []byte) ([]db.APIKeyRow, error) { return nil, context.DeadlineExceeded }
	require.Equal(t, 503, ts.bearer(key).get("/api/v1/messages").Status)
	require.Contains(t, log.String(), "call failed", "the log is the one that is looked at")
	for _, secret := range []string{good, foreign, key, testSecret, "rgk_", "eyJ", real} {
		require.True(t, secret == "" || !strings.Contains(log.String(), secret), log.String())
	}
}
