package llm

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/rs/zerolog"
)

// fallback asks one model after the other, in the order somebody wrote, until one begins to answer.
type fallback []Model

// Name is the first model's, with those behind it.
func (f fallback) Name() string {
	names := make([]string, 0, len(f))
	for _, m := range f {
		names = append(names, m.Name())
	}
	return strings.Join(names, ", else ")
}

// Stream yields the first answer that begins. When there is none, its error is what all of them said.
func (f fallback) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var tried []error
		for i, m := range f {
			begun, err := forward(m.Stream(ctx, r), func(d Delta, err error) bool {
				if d.Stop != "" {
					d.Model = m.Name()
				}
				return yield(d, err)
			})
			if err == nil {
				return
			}
			tried = append(tried, err)
			if begun || ctx.Err() != nil || i == len(f)-1 || !shouldTryNext(err) {
				yield(Delta{}, joinAttempts(tried))
				return
			}
			zerolog.Ctx(ctx).Warn().Err(err).Str("next", f[i+1].Name()).Msg("Model did not answer, asking the next one")
		}
	}
}

// shouldTryNext tells whether another model may do better. A request that is refused as such is refused by all, and whatever
// is not the provider's doing has nothing to do with which one it is. What is too dear for one may be cheap for the next.
func shouldTryNext(err error) bool {
	var e *Error
	return errors.Is(err, ErrOverBudget) || errors.As(err, &e) && e.Reason != ReasonRequest
}

// attemptErrors are what several models said, one after the other.
type attemptErrors []error

// joinAttempts is the error of these attempts.
func joinAttempts(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return attemptErrors(errs)
}

// Error repeats all of them in one line.
func (f attemptErrors) Error() string {
	texts := make([]string, 0, len(f))
	for _, err := range f {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; then ")
}

// Unwrap lets each of them be found.
func (f attemptErrors) Unwrap() []error { return f }
