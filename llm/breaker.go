package llm

import (
	"errors"
	"sync"
	"time"
)

const (
	// maxFailures is the number of consecutive failures after which no calls are made for breakerCooldown.
	maxFailures     = 5
	breakerCooldown = 30 * time.Second
)

// breaker is a circuit breaker: it stops calls to a provider that keeps failing, so that a fallback can answer without
// delay. All models of one account of a provider share it. After the cooldown it allows one trial call; others are
// refused until that call ends or another cooldown passes.
type breaker struct {
	now func() time.Time

	mu        sync.Mutex
	failures  int
	last      *Error    // the last failure
	openUntil time.Time // end of the cooldown
}

// allow reports whether a call may be made. If not, it returns how long to wait.
func (b *breaker) allow() (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < maxFailures {
		return 0, true
	}
	now := b.now()
	if wait := b.openUntil.Sub(now); wait > 0 {
		return wait, false
	}
	b.openUntil = now.Add(breakerCooldown) // this is the trial call
	return 0, true
}

// lastFailure returns the last failure that counted; nil if there was none.
func (b *breaker) lastFailure() *Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.last
}

// record counts the result of a call. Only failures of the provider count, not invalid requests and canceled calls.
func (b *breaker) record(err error) {
	var e *Error
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case err == nil:
		b.failures = 0
	case !errors.As(err, &e) || e.Reason == ReasonRequest || e.Reason == ReasonCircuitOpen:
	default:
		b.failures++
		b.last = e
		if b.failures >= maxFailures {
			b.openUntil = b.now().Add(max(breakerCooldown, min(e.RetryAfter, maxRetryAfter)))
		}
	}
}
