package api

import (
	"math"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxLimiters is how many callers are told apart.
const maxLimiters = 10_000

// throttle bounds how often each caller may call.
type throttle struct {
	every rate.Limit
	burst int

	mu      sync.Mutex
	callers map[string]*rate.Limiter
}

// newThrottle returns nil when nothing is bounded.
func newThrottle(cfg Config) *throttle {
	if cfg.RateLimit <= 0 {
		return nil
	}
	burst := cfg.RateBurst
	if burst == 0 {
		burst = int(math.Ceil(cfg.RateLimit))
	}
	return &throttle{every: rate.Limit(cfg.RateLimit), burst: burst, callers: map[string]*rate.Limiter{}}
}

// take counts a call of a caller. It returns how long to wait where there are
// too many, else 0.
func (t *throttle) take(name string, now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	limiter := t.callers[name]
	if limiter == nil {
		if len(t.callers) >= maxLimiters {
			t.forget(now)
		}
		limiter = rate.NewLimiter(t.every, t.burst)
		t.callers[name] = limiter
	}
	booked := limiter.ReserveN(now, 1)
	wait := booked.DelayFrom(now)
	if wait > 0 {
		booked.CancelAt(now)
	}
	return wait
}

// forget drops callers who might call at full rate again: they are as good as new.
func (t *throttle) forget(now time.Time) {
	for name, limiter := range t.callers {
		if limiter.TokensAt(now) >= float64(t.burst) {
			delete(t.callers, name)
		}
	}
	if len(t.callers) >= maxLimiters {
		clear(t.callers)
	}
}

var errTooMany = newError(http.StatusTooManyRequests, "", "too many calls, slow down")

// limit refuses a call of a caller that calls too often. Who has neither key nor
// token is told by its address.
func (s *Server) limit(r *http.Request, who *caller, rule access) error {
	if s.throttle == nil || rule.level.by == 0 {
		return nil
	}
	name := who.tenant.String() + "/" + who.subject
	if who.subject == "" {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		name = host
	}
	wait := s.throttle.take(name, time.Now())
	if wait == 0 {
		return nil
	}
	e := *errTooMany
	e.retryAfter = int(math.Ceil(wait.Seconds()))
	return &e
}
