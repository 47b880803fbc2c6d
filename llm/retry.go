package llm

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"time"
)

const (
	attempts     = 3
	firstBackoff = time.Second
	// longestPause is how long a call waits for a provider that names a time. One that asks for more gets its
	// wish: the call fails with that time in its error, and whoever made it comes back later.
	longestPause = 30 * time.Second
)

// retrying makes a call again that failed before the first word of its answer. It stands outside the budget, so that
// each attempt is paid for on its own.
type retrying struct {
	Model
	pause func(ctx context.Context, d time.Duration) error
}

// Stream yields the first answer that begins, else the last error.
func (m retrying) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		for attempt := 1; ; attempt++ {
			begun, err := m.once(ctx, r, yield)
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

// once passes one attempt on, all but its error, and tells whether there was anything to pass on. A reader that leaves
// is no error.
func (m retrying) once(ctx context.Context, r Request, yield func(Delta, error) bool) (begun bool, _ error) {
	for d, err := range m.Model.Stream(ctx, r) {
		if err != nil {
			return begun, err
		}
		begun = true
		if !yield(d, nil) {
			return begun, nil
		}
	}
	return begun, nil
}

// nextTry tells how long to wait after the given attempt failed, and whether to try again at all.
func nextTry(err error, attempt int) (time.Duration, bool) {
	var e *Error
	if attempt >= attempts || !errors.As(err, &e) || !e.passing() || e.RetryAfter > longestPause {
		return 0, false
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	backoff := firstBackoff << (attempt - 1)
	return backoff + rand.N(backoff/2), true
}

// sleep waits, or returns early with the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
