package jobs

import (
	"context"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"

	"multis/internal/trace"
)

// traceAttempts makes a trace of each attempt, whose id is in its log lines. An attempt that returns Snooze has not failed.
func traceAttempts() rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		ctx, span := trace.StartRoot(ctx, "job "+job.Kind, trace.Code("multis.job.kind", job.Kind), trace.Code("multis.job.queue", job.Queue),
			trace.Number("multis.job.id", job.ID), trace.Number("multis.job.attempt", job.Attempt))
		if id := trace.ID(ctx); id != "" {
			log := zerolog.Ctx(ctx).With().Str("trace", id).Logger()
			ctx = log.WithContext(ctx)
		}
		err := work(ctx)
		if IsSnooze(err) {
			span.Add(trace.Code("multis.job.outcome", "snoozed"))
			span.End(nil)
		} else {
			span.End(err)
		}
		return err
	})
}
