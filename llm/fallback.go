package llm

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/rs/zerolog"
)

// NextModel stands between the names of models of which each is asked when the one before does not answer.
const NextModel = ", else "

// fallback asks its models in order, until one begins to answer.
type fallback []Model

// Name returns the names of all models, in order.
func (f fallback) Name() string {
	names := make([]string, 0, len(f))
	for _, m := range f {
		names = append(names, m.Name())
	}
	return strings.Join(names, NextModel)
}

// Stream yields the first answer that begins. If all models fail, it yields an error with the errors of all.
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

// shouldTryNext reports whether the next model may succeed after err. It is false for errors that every model would return: an
// invalid request, or an error that does not come from the provider. It is true for a call over budget: a cheaper model may fit.
func shouldTryNext(err error) bool {
	var e *Error
	return errors.Is(err, ErrOverBudget) || errors.As(err, &e) && e.Reason != ReasonRequest
}

// attemptErrors holds the errors of several models, in order.
type attemptErrors []error

// joinAttempts joins the errors of several attempts.
func joinAttempts(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	return attemptErrors(errs)
}

// Error returns all errors in one line.
func (f attemptErrors) Error() string {
	texts := make([]string, 0, len(f))
	for _, err := range f {
		texts = append(texts, err.Error())
	}
	return strings.Join(texts, "; then ")
}

// Unwrap returns the errors, for errors.Is and errors.As.
func (f attemptErrors) Unwrap() []error { return f }
