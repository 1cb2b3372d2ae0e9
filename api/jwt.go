package api

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/MicahParks/jwkset"
	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/time/rate"
)

const (
	// maxKeySet is the largest answer of JWT_JWKS_URL that is read.
	maxKeySet = 1 << 20
	// keySetThrottle is the least time between two fetches for an unknown key.
	keySetThrottle = 5 * time.Second
	// maxSubject is the longest name of a producer.
	maxSubject = 255
)

// JWTConfig says which tokens are accepted. The environment name of a field is
// in its comment.
type JWTConfig struct {
	Enabled     bool          // JWT_ENABLED
	Algorithm   string        // JWT_ALGORITHM: HS256, HS384, HS512, RS256 (any RS), RS384, RS512, EdDSA, auto (all of them)
	Secret      string        // JWT_SECRET: key of HS*, as raw bytes
	PublicKey   string        // JWT_PUBLIC_KEY: PEM of RS* or EdDSA; goes before the key set
	KeySetURL   string        // JWT_JWKS_URL
	KeySetFresh time.Duration // JWT_JWKS_REFRESH_INTERVAL, in seconds
	KeySetWait  time.Duration // JWT_JWKS_TIMEOUT_MS
	Issuer      string        // JWT_ISSUER: empty is not checked
	Audience    string        // JWT_AUDIENCE: empty is not checked
	ClockSkew   time.Duration // JWT_CLOCK_SKEW, in seconds
	RoleClaim   string        // JWT_ROLES_CLAIM: a string
	RolesClaim  string        // JWT_ROLES_ARRAY_CLAIM: an array of strings
	Admin       string        // JWT_ROLE_ADMIN: how the tokens spell the role
	ReadWrite   string        // JWT_ROLE_READ_WRITE
	ReadOnly    string        // JWT_ROLE_READ_ONLY
	WriteOnly   string        // JWT_ROLE_WRITE_ONLY
}

func defaultJWT() JWTConfig {
	return JWTConfig{
		Algorithm: "HS256", KeySetFresh: time.Hour, KeySetWait: 5 * time.Second, ClockSkew: 30 * time.Second,
		RoleClaim: "role", RolesClaim: "roles",
		Admin: "admin", ReadWrite: "read-write", ReadOnly: "read-only", WriteOnly: "write-only",
	}
}

func (c *JWTConfig) read(env *environment) {
	env.boolean("JWT_ENABLED", &c.Enabled)
	env.text("JWT_ALGORITHM", &c.Algorithm)
	env.text("JWT_SECRET", &c.Secret)
	env.text("JWT_PUBLIC_KEY", &c.PublicKey)
	env.text("JWT_JWKS_URL", &c.KeySetURL)
	env.seconds("JWT_JWKS_REFRESH_INTERVAL", &c.KeySetFresh, 1)
	env.millis("JWT_JWKS_TIMEOUT_MS", &c.KeySetWait, 1)
	env.text("JWT_ISSUER", &c.Issuer)
	env.text("JWT_AUDIENCE", &c.Audience)
	env.seconds("JWT_CLOCK_SKEW", &c.ClockSkew, 0)
	env.text("JWT_ROLES_CLAIM", &c.RoleClaim)
	env.text("JWT_ROLES_ARRAY_CLAIM", &c.RolesClaim)
	env.text("JWT_ROLE_ADMIN", &c.Admin)
	env.text("JWT_ROLE_READ_WRITE", &c.ReadWrite)
	env.text("JWT_ROLE_READ_ONLY", &c.ReadOnly)
	env.text("JWT_ROLE_WRITE_ONLY", &c.WriteOnly)
}

// accepted lists the algorithms that a name stands for.
func accepted(name string) []string {
	switch name {
	case "HS256", "HS384", "HS512", "RS384", "RS512", "EdDSA":
		return []string{name}
	case "RS256":
		return []string{"RS256", "RS384", "RS512"}
	case "auto":
		return []string{"HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "EdDSA"}
	}
	return nil
}

// tokens verifies JSON web tokens. The key is chosen by the family of the
// token's algorithm and its type must fit, so that a public key never serves as
// a secret.
type tokens struct {
	cfg      JWTConfig
	accepted []string
	pem      crypto.PublicKey // nil without JWT_PUBLIC_KEY
	set      jwkset.Storage   // nil without JWT_JWKS_URL
	parser   *jwt.Parser
	claims   *jwt.Validator
	stop     func()

	fetch    func(every time.Duration) error // the set, now and then ever again; 0 is now only
	unknown  sync.Mutex                      // one fetch for unknown keys at a time
	throttle *rate.Limiter
}

// check reports what makes the configuration unusable. It makes no call.
func (c JWTConfig) check() error {
	if !c.Enabled {
		return nil
	}
	algorithms := accepted(c.Algorithm)
	if algorithms == nil {
		return fmt.Errorf("JWT_ALGORITHM must be one of HS256, HS384, HS512, RS256, RS384, RS512, EdDSA, auto, got %q", c.Algorithm)
	}
	key, err := c.publicKey()
	if err != nil {
		return err
	}
	if target, err := url.Parse(c.KeySetURL); c.KeySetURL != "" && (err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http") {
		return errors.New("JWT_JWKS_URL must be an http or https address")
	}
	_, isRSA := key.(*rsa.PublicKey)
	for _, name := range algorithms {
		switch {
		case name[0] == 'H' && c.Secret != "", name[0] == 'R' && (isRSA || key == nil && c.KeySetURL != ""), name[0] == 'E' && key != nil && !isRSA, name[0] == 'E' && key == nil && c.KeySetURL != "":
			return nil
		}
	}
	return fmt.Errorf("JWT_ALGORITHM %s has no usable key: set JWT_SECRET for HS*, and JWT_PUBLIC_KEY of that kind or JWT_JWKS_URL for RS* and EdDSA", c.Algorithm)
}

// publicKey reads JWT_PUBLIC_KEY, nil when there is none. Line ends may be
// written as \n, as environment files do.
func (c JWTConfig) publicKey() (crypto.PublicKey, error) {
	if c.PublicKey == "" {
		return nil, nil
	}
	block, _ := pem.Decode([]byte(strings.ReplaceAll(c.PublicKey, `\n`, "\n")))
	if block == nil {
		return nil, errors.New("JWT_PUBLIC_KEY is no PEM block")
	}
	var key any
	var err error
	switch block.Type {
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var certificate *x509.Certificate
		if certificate, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = certificate.PublicKey
		}
	default:
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("JWT_PUBLIC_KEY is no public key: %w", err)
	}
	switch key.(type) {
	case *rsa.PublicKey, ed25519.PublicKey:
		return key, nil
	}
	return nil, errors.New("JWT_PUBLIC_KEY is neither an RSA nor an Ed25519 key")
}

// newTokens prepares the verification and fetches the key set for the first
// time; that it cannot be had yet is no error.
func newTokens(cfg JWTConfig, log *slog.Logger) (*tokens, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	key, err := cfg.publicKey()
	if err != nil {
		return nil, err
	}
	t := &tokens{cfg: cfg, accepted: accepted(cfg.Algorithm), pem: key, stop: func() {}}
	t.parser = jwt.NewParser(jwt.WithValidMethods(t.accepted), jwt.WithoutClaimsValidation())
	rules := []jwt.ParserOption{jwt.WithLeeway(cfg.ClockSkew), jwt.WithIssuedAt()}
	if cfg.Issuer != "" {
		rules = append(rules, jwt.WithIssuer(cfg.Issuer))
	}
	if cfg.Audience != "" {
		rules = append(rules, jwt.WithAudience(cfg.Audience))
	}
	t.claims = jwt.NewValidator(rules...)
	if len(cfg.Secret) < 32 && cfg.Secret != "" {
		log.Warn("JWT_SECRET is shorter than 32 bytes and may be guessed")
	}
	if cfg.KeySetURL != "" && key == nil {
		err = t.watchKeys(log)
	}
	return t, err
}

// watchKeys fetches the key set and keeps it fresh until stop.
func (t *tokens) watchKeys(log *slog.Logger) error {
	ctx, stop := context.WithCancel(context.Background())
	web := &http.Client{Transport: shortBodies{http.DefaultTransport.(*http.Transport).Clone()}}
	t.stop = func() {
		stop()
		web.CloseIdleConnections()
	}
	t.set, t.throttle = jwkset.NewMemoryStorage(), rate.NewLimiter(rate.Every(keySetThrottle), 1)
	t.fetch = func(every time.Duration) error {
		_, err := jwkset.NewStorageFromHTTP(t.cfg.KeySetURL, jwkset.HTTPClientStorageOptions{
			Client: web, Ctx: ctx, HTTPTimeout: t.cfg.KeySetWait, Storage: t.set, NoErrorReturnFirstHTTPReq: true, RefreshInterval: every,
			RefreshErrorHandler: func(ctx context.Context, err error) {
				log.ErrorContext(ctx, "the key set of JWT_JWKS_URL cannot be had", "error", clip(err.Error(), 300))
			},
		})
		return err
	}
	if err := t.fetch(t.cfg.KeySetFresh); err != nil {
		return fmt.Errorf("prepare the key set of JWT_JWKS_URL: %w", err)
	}
	return nil
}

// shortBodies bounds what a key set's server can make us read.
type shortBodies struct{ next *http.Transport }

func (t shortBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxKeySet)
	}
	return response, err
}

// CloseIdleConnections lets go of what the last fetch used.
func (t shortBodies) CloseIdleConnections() { t.next.CloseIdleConnections() }

var (
	errNoToken    = unauthorized("Authentication required")
	errHeader     = unauthorized("Bad token header")
	errAlgorithm  = unauthorized("Unsupported token algorithm")
	errSignature  = unauthorized("Invalid token signature")
	errExpired    = unauthorized("Token has expired")
	errNotYet     = unauthorized("Token not yet valid")
	errFuture     = unauthorized("Token issued in the future")
	errIssuer     = unauthorized("Invalid token issuer")
	errAudience   = unauthorized("Invalid token audience")
	errKeyID      = unauthorized("Unknown key ID")
	errSubject    = unauthorized("Invalid token subject")
	errNoSecret   = newError(http.StatusInternalServerError, "", "HS secret not configured")
	errForbidden  = newError(http.StatusForbidden, "", "Insufficient permissions")
	claimRefusals = []struct{ cause, answer error }{
		{jwt.ErrTokenExpired, errExpired}, {jwt.ErrTokenNotValidYet, errNotYet}, {jwt.ErrTokenUsedBeforeIssued, errFuture},
		{jwt.ErrTokenInvalidIssuer, errIssuer}, {jwt.ErrTokenInvalidAudience, errAudience},
	}
)

func unauthorized(text string) *Error { return newError(http.StatusUnauthorized, "", text) }

// verify tells who a token stands for. Its errors are answers.
func (t *tokens) verify(ctx context.Context, raw string) (*caller, error) {
	claims := jwt.MapClaims{}
	unread, _, err := t.parser.ParseUnverified(raw, jwt.MapClaims{})
	var algorithm string
	if unread != nil {
		algorithm, _ = unread.Header["alg"].(string)
	}
	switch {
	case algorithm == "" || unread.Header["crit"] != nil:
		return nil, errHeader
	case !slices.Contains(t.accepted, algorithm):
		return nil, errAlgorithm
	case err != nil:
		return nil, errSignature
	}
	key, err := t.key(ctx, algorithm, unread.Header["kid"])
	if err != nil {
		return nil, err
	}
	if _, err := t.parser.ParseWithClaims(raw, claims, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
		return nil, errSignature
	}
	if err := t.claims.Validate(claims); err != nil {
		for _, refusal := range claimRefusals {
			if errors.Is(err, refusal.cause) {
				return nil, refusal.answer
			}
		}
		switch {
		case !errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
			return nil, errSignature
		case t.cfg.Issuer != "" && claims["iss"] == nil:
			return nil, errIssuer
		}
		return nil, errAudience
	}
	return t.caller(claims)
}

// key finds the key of an algorithm's family.
func (t *tokens) key(ctx context.Context, algorithm string, kid any) (any, error) {
	switch {
	case algorithm[0] == 'H' && t.cfg.Secret == "":
		return nil, errNoSecret
	case algorithm[0] == 'H':
		return []byte(t.cfg.Secret), nil
	case t.pem == nil && t.set == nil:
		return nil, errAlgorithm
	}
	key, err := t.pem, error(nil)
	if key == nil {
		if key, err = t.fromSet(ctx, kid); err != nil {
			return nil, err
		}
	}
	if private, ok := key.(interface{ Public() crypto.PublicKey }); ok {
		key = private.Public()
	}
	_, isRSA := key.(*rsa.PublicKey)
	_, isEd := key.(ed25519.PublicKey)
	if algorithm[0] == 'R' && isRSA || algorithm[0] == 'E' && isEd {
		return key, nil
	}
	return nil, errAlgorithm
}

// fromSet finds a key by its id, or the first one for a token that names none.
// An unknown id is looked for in a fresh set, once in keySetThrottle.
func (t *tokens) fromSet(ctx context.Context, kid any) (any, error) {
	id, _ := kid.(string)
	if id == "" {
		all, err := t.set.KeyReadAll(ctx)
		if err != nil || len(all) == 0 {
			return nil, errKeyID
		}
		return all[0].Key(), nil
	}
	key, err := t.set.KeyRead(ctx, id)
	if err == nil {
		return key.Key(), nil
	}
	t.unknown.Lock()
	defer t.unknown.Unlock()
	if key, err = t.set.KeyRead(ctx, id); err != nil && t.throttle.Allow() {
		_ = t.fetch(0) // what fails is in the log
		key, err = t.set.KeyRead(ctx, id)
	}
	if err != nil {
		return nil, errKeyID
	}
	return key.Key(), nil
}

// caller reads the claims of a token that was verified.
func (t *tokens) caller(claims jwt.MapClaims) (*caller, error) {
	c := &caller{tenant: defaultTenant}
	c.subject, _ = claims["sub"].(string)
	if len(c.subject) > maxSubject || textFault(c.subject) != "" {
		return nil, errSubject
	}
	names := []string{}
	if name, ok := claims[t.cfg.RoleClaim].(string); ok {
		names = append(names, name)
	}
	list, _ := claims[t.cfg.RolesClaim].([]any)
	for _, each := range list {
		if name, ok := each.(string); ok {
			names = append(names, name)
		}
	}
	for _, name := range names {
		c.roles |= t.role(name)
	}
	return c, nil
}

func (t *tokens) role(name string) roles {
	switch name {
	case "":
		return 0
	case t.cfg.Admin:
		return roleAdmin
	case t.cfg.ReadWrite:
		return roleReadWrite
	case t.cfg.ReadOnly:
		return roleReadOnly
	case t.cfg.WriteOnly:
		return roleWriteOnly
	}
	return 0
}
