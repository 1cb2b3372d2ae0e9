package regent_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"regent.local/regent/api"
	"regent.local/regent/api/sdk/go"
	"regent.local/regent/api/sdk/go/rest"
	"regent.local/regent/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

type order struct {
	Number int    `json:"number"`
	City   string `json:"city,omitempty"`
}

// serve starts a real server; turn sees every request before it.
func serve(t *testing.T, turn func(http.ResponseWriter, *http.Request) (answered bool)) *regent.Client {
	t.Helper()
	cfg := api.DefaultConfig()
	cfg.DatabaseURL, cfg.PoolSize = dbtest.New(t).DSN, 8
	pool, err := api.OpenPool(context.Background(), cfg)
	require.NoError(t, err)
	server, err := api.New(cfg, pool, nil)
	require.NoError(t, err)
	server.Start(context.Background())
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if turn == nil || !turn(w, r) {
			server.Handler().ServeHTTP(w, r)
		}
	}))
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		web.CloseClientConnections()
		web.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
		pool.Close()
	})
	c, err := regent.New(web.URL, regent.WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return c
}

func orders(n int) []regent.Item[order] {
	items := make([]regent.Item[order], n)
	for i := range items {
		items[i] = regent.Item[order]{Value: order{Number: i}, Partition: fmt.Sprint("c", i%3)}
	}
	return items
}

func TestConsumeHandsOverInOrderAndStopsGracefully(t *testing.T) {
	t.Parallel()
	c := serve(t, nil)
	_, err := regent.Push(t.Context(), c, "orders", orders(30)...)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	seen := map[string][]int{}
	n := 0
	consumer := regent.Consumer{Group: "g", Batch: 7, Wait: time.Second}
	handle := func(_ context.Context, m regent.Message[order]) error {
		seen[m.Partition] = append(seen[m.Partition], m.Value.Number)
		if n++; n == 17 {
			stop()
		}
		return nil
	}
	require.NoError(t, regent.Consume(ctx, c, "orders", consumer, handle))
	require.Equal(t, 17, n, "nothing is begun after the stop")

	ctx, stop = context.WithCancel(t.Context())
	require.NoError(t, regent.Consume(ctx, c, "orders", consumer, func(ctx context.Context, m regent.Message[order]) error {
		require.Equal(t, int64(1), m.DeliveryAttempt)
		if n == 29 {
			stop()
		}
		return handle(ctx, m)
	}))
	for lane, numbers := range seen {
		require.Len(t, numbers, 10, lane)
		require.IsIncreasing(t, numbers, "what was given back came at once, in order, and once")
	}
}

func TestFailuresComeAgainAndDeadLettersDoNot(t *testing.T) {
	t.Parallel()
	c := serve(t, nil)
	_, err := regent.Push(t.Context(), c, "q", regent.Item[any]{Value: order{Number: 1}}, regent.Item[any]{Value: "no order"}, regent.Item[any]{Value: order{Number: 3}}, regent.Item[any]{Value: order{Number: 4}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var seen []int
	require.NoError(t, regent.Consume(ctx, c, "q", regent.Consumer{Group: "g", Wait: time.Second}, func(_ context.Context, m regent.Message[order]) error {
		seen = append(seen, m.Value.Number)
		switch {
		case m.Value.Number == 1 && m.DeliveryAttempt == 1:
			return errors.New("not today")
		case m.Value.Number == 3:
			return fmt.Errorf("%w: never", regent.ErrDead)
		case m.Value.Number == 4:
			stop()
		}
		return nil
	}))
	require.Equal(t, []int{1, 1, 3, 4}, seen)
	letters, err := c.ListDeadLettersWithResponse(t.Context(), &rest.ListDeadLettersParams{})
	require.NoError(t, err)
	require.Len(t, letters.JSON200.Messages, 2)
	require.Contains(t, *letters.JSON200.Messages[0].ErrorMessage, "never", "by value, not by count (F179)")
	require.JSONEq(t, `{"number":3}`, string(letters.JSON200.Messages[0].Data))
}

func TestLeaseIsRenewedWhileAHandlerWorks(t *testing.T) {
	t.Parallel()
	c := serve(t, nil)
	_, err := regent.Push(t.Context(), c, "q", orders(1)...)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var times atomic.Int32
	consume := func() error {
		return regent.Consume(ctx, c, "q", regent.Consumer{Group: "g", Wait: 200 * time.Millisecond, Lease: time.Second}, func(ctx context.Context, _ regent.Message[order]) error {
			times.Add(1)
			time.Sleep(2500 * time.Millisecond) // longer than the lease: this is what the test is about
			stop()
			return nil
		})
	}
	var both sync.WaitGroup
	both.Go(func() { require.NoError(t, consume()) })
	both.Go(func() { require.NoError(t, consume()) })
	both.Wait()
	require.EqualValues(t, 1, times.Load(), "nobody else got it")
}

func TestPushIsRepeatedAndStoresOnce(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	c := serve(t, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/api/v1/push" {
			return false
		}
		switch calls.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		case 2:
			panic(http.ErrAbortHandler) // a connection that breaks
		}
		return false
	})
	batcher := regent.NewBatcher[order](c, "q", 50, 20*time.Millisecond)
	var all sync.WaitGroup
	for _, item := range orders(120) {
		all.Go(func() { require.NoError(t, batcher.Push(t.Context(), item)) })
	}
	all.Wait()
	batcher.Close()
	require.Less(t, calls.Load(), int32(30), "few calls")
	depth, err := c.GetQueueDepthWithResponse(t.Context(), "q", &rest.GetQueueDepthParams{})
	require.NoError(t, err)
	require.EqualValues(t, 120, depth.JSON200.Pending)
}

func TestErrorsNameTheField(t *testing.T) {
	t.Parallel()
	c := serve(t, nil)
	_, err := regent.Push(t.Context(), c, "bad\x01name", orders(1)...)
	var said *regent.Error
	require.ErrorAs(t, err, &said)
	require.Equal(t, http.StatusBadRequest, said.Status)
	require.Contains(t, said.Text, "queue")
	require.False(t, said.Retryable)
}
