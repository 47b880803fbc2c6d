package llm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

// clock is a clock that the test sets.
type clock struct{ at time.Time }

func newClock() *clock                   { return &clock{time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)} }
func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }
func failure(r Reason) error             { return &Error{Model: "test/model", Reason: r} }
func (b *breaker) fail(n int, r Reason) {
	for range n {
		b.record(failure(r))
	}
}

func TestBreaker_OpensAfterFiveFailures(t *testing.T) {
	t.Parallel()
	c := newClock()
	b := &breaker{now: c.now}
	b.fail(4, ReasonServer)
	_, ok := b.allow()
	require.True(t, ok, "four failures are none too many")
	b.fail(1, ReasonServer)
	wait, ok := b.allow()
	require.False(t, ok)
	require.Equal(t, 30*time.Second, wait)
	c.advance(29 * time.Second)
	wait, ok = b.allow()
	require.False(t, ok)
	require.Equal(t, time.Second, wait)

	c.advance(time.Second)
	_, ok = b.allow()
	require.True(t, ok, "one call tries")
	_, ok = b.allow()
	require.False(t, ok, "and the others wait for how that ends")
	b.fail(1, ReasonTimeout)
	c.advance(29 * time.Second)
	_, ok = b.allow()
	require.False(t, ok, "it failed, so the rest begins anew")

	c.advance(time.Second)
	_, ok = b.allow()
	require.True(t, ok)
	b.record(nil)
	b.fail(4, ReasonServer)
	_, ok = b.allow()
	require.True(t, ok, "an answer wipes the slate clean")
}

func TestBreaker_CountsProviderFailuresOnly(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"a request that nobody would take": failure(ReasonRequest),
		"a call that was not made":         failure(ReasonCircuitOpen),
		"a caller that left":               context.Canceled,
		"no money":                         &OverBudgetError{Cap: policy.CapDay},
		"a broken ledger":                  errors.New("database is gone"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &breaker{now: newClock().now}
			for range 2 * maxFailures {
				b.record(err)
			}
			_, ok := b.allow()
			require.True(t, ok)
		})
	}
}

func TestBreaker_RespectsRetryAfter(t *testing.T) {
	t.Parallel()
	b := &breaker{now: newClock().now}
	b.fail(4, ReasonRateLimit)
	b.record(&Error{Reason: ReasonRateLimit, RetryAfter: 5 * time.Minute})
	wait, ok := b.allow()
	require.False(t, ok)
	require.Equal(t, 5*time.Minute, wait)
}

func TestBreaker_BlocksWhileOpen(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := newScript(one(reasonStep(ReasonKey)))
	m, waits := newRecordingRetry(s)
	m.breaker.now = c.now
	for range maxFailures + 3 {
		_, err := Complete(t.Context(), m, newRequest("hi"))
		require.Error(t, err)
	}
	require.Equal(t, maxFailures, s.made)
	_, err := Complete(t.Context(), m, newRequest("hi"))
	require.EqualError(t, err,
		"test/model: calls are suspended for a moment, because they kept failing: the key was refused, check api_key, try again in 30s")
	require.Empty(t, *waits)
	c.advance(breakerCooldown)
	_, err = Complete(t.Context(), m, newRequest("hi"))
	require.Equal(t, ReasonKey, reasonOf(err))
	require.Equal(t, maxFailures+1, s.made)
}
