package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

const (
	maxAttempts  = 3
	firstBackoff = time.Second
	// maxPause is the longest wait that a provider may request before a retry. If it requests a longer one, the call fails
	// at once. The error has the requested time, and the caller decides.
	maxPause = 30 * time.Second
)

// retryModel retries calls that failed before their answer began, unless the circuit breaker is open. It wraps the budgeted
// model, so that each attempt is paid separately.
type retryModel struct {
	Model
	breaker *breaker
	pause   func(ctx context.Context, d time.Duration) error
}

// Stream yields the first answer that begins, or the last error.
func (m retryModel) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for attempt := 1; ; attempt++ {
			begun, err := m.attempt(ctx, r, yield)
			if err == nil {
				return
			}
			wait, again := nextTry(err, attempt)
			if begun || !again || m.pause(ctx, wait) != nil {
				yield(Delta{}, err)
				return
			}
		}
	}
}

// attempt makes one attempt, if the circuit breaker allows it, and records the result there.
func (m retryModel) attempt(ctx context.Context, r Request, yield func(Delta, error) bool) (begun bool, _ error) {
	if wait, ok := m.breaker.allow(); !ok {
		return false, &Error{Model: m.Name(), Reason: ReasonCircuitOpen, RetryAfter: wait, Last: m.breaker.lastFailure()}
	}
	begun, err := forward(m.Model.Stream(ctx, r), yield)
	m.breaker.record(err)
	return begun, err
}

// forward yields the deltas of an answer and returns its error instead of yielding it. begun reports whether the reader got
// any content; token counts alone do not count. A reader that stops early is not an error.
func forward(answer iter.Seq2[Delta, error], yield func(Delta, error) bool) (begun bool, _ error) {
	for d, err := range answer {
		if err != nil {
			return begun, err
		}
		begun = begun || d.Text != "" || d.Call != nil || d.Stop != ""
		if !yield(d, nil) {
			return begun, nil
		}
	}
	return begun, nil
}

// nextTry reports whether to retry after a failed attempt, and how long to wait before. Attempts are numbered from 1.
func nextTry(err error, attempt int) (time.Duration, bool) {
	var e *Error
	if attempt >= maxAttempts || !errors.As(err, &e) || !e.isTransient() || e.RetryAfter > maxPause {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	backoff := firstBackoff << (attempt - 1)
	return backoff + rand.N(backoff/2), true
}
