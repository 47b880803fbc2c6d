package jobs

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"
)

// logAttempts puts a logger with the fields job, job_id and attempt into the context, and logs why an attempt failed. An
// attempt that returns Snooze, or ends because the program stops, has not failed.
func logAttempts() rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		log := zerolog.Ctx(ctx).With().Str("job", job.Kind).Int64("job_id", job.ID).Int("attempt", job.Attempt).Logger()
		err := work(log.WithContext(ctx))
		switch {
		case err == nil, IsSnooze(err), errors.Is(ctx.Err(), context.Canceled):
		case IsPermanent(err):
			log.Info().Err(Cause(err)).Msg("Job cancelled")
		case isLast(job):
			log.Err(err).Msg("Job failed")
		default:
			log.Warn().Err(err).Msg("Job attempt failed")
		}
		return err
	})
}

// withoutCancelled is a handler that drops records whose context was cancelled. Otherwise River logs an error for
// whatever the end of the program interrupts.
type withoutCancelled struct{ slog.Handler }

func (h withoutCancelled) Handle(ctx context.Context, r slog.Record) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h withoutCancelled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withoutCancelled{h.Handler.WithAttrs(attrs)}
}

func (h withoutCancelled) WithGroup(name string) slog.Handler {
	return withoutCancelled{h.Handler.WithGroup(name)}
}

// minLogInterval is the minimum time between two log lines for the same error of River's services.
const minLogInterval = time.Minute

// throttledHandler is a handler that logs each error of River's services at most once per minLogInterval, with how many were left out
// before. Every queue and service reports a failed query by itself: while the database is down that is many lines a second.
type throttledHandler struct {
	slog.Handler
	limiter *rateLimiter
}

// rateLimiter remembers when each message was last logged, and how many were left out since.
type rateLimiter struct {
	mu      sync.Mutex
	logged  map[string]time.Time
	skipped map[string]int
}

func newThrottledHandler(h slog.Handler) throttledHandler {
	return throttledHandler{h, &rateLimiter{logged: map[string]time.Time{}, skipped: map[string]int{}}}
}

// allow reports whether a message may be logged at a time, and how many of it were left out before.
func (r *rateLimiter) allow(message string, now time.Time) (skipped int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last, seen := r.logged[message]; seen && now.Sub(last) < minLogInterval {
		r.skipped[message]++
		return 0, false
	}
	skipped = r.skipped[message]
	r.logged[message], r.skipped[message] = now, 0
	return skipped, true
}

func (h throttledHandler) Handle(ctx context.Context, r slog.Record) error {
	if !strings.Contains(r.Message, ": Error ") {
		return h.Handler.Handle(ctx, r)
	}
	skipped, ok := h.limiter.allow(r.Message, r.Time)
	if !ok {
		return nil
	}
	if skipped > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("skipped", skipped))
	}
	return h.Handler.Handle(ctx, r)
}

func (h throttledHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return throttledHandler{h.Handler.WithAttrs(attrs), h.limiter}
}

func (h throttledHandler) WithGroup(name string) slog.Handler {
	return throttledHandler{h.Handler.WithGroup(name), h.limiter}
}
