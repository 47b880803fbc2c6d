package llm

import (
	"errors"
	"sync"
	"time"
)

const (
	// maxFailures in a row are what a provider may have before it is left alone for breakerCooldown.
	maxFailures     = 5
	breakerCooldown = 30 * time.Second
)

// breaker leaves a provider alone that keeps failing, so that nobody waits for it while another one could answer. It is
// shared by all models behind one account of a provider. After its rest one call may try; the others wait for how that ends.
type breaker struct {
	now func() time.Time

	mu        sync.Mutex
	failures  int
	openUntil time.Time // the end of its rest
}

// allow tells whether a call may be made, and if not, for how long.
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
	b.openUntil = now.Add(breakerCooldown) // this call is the one that tries
	return 0, true
}

// record takes note of how a call ended. Only what says something about the provider counts: not a request that nobody
// would take, not a caller that left.
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
		if b.failures >= maxFailures {
			b.openUntil = b.now().Add(max(breakerCooldown, min(e.RetryAfter, maxRetryAfter)))
		}
	}
}
