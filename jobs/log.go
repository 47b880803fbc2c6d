package jobs

import (
	"context"
	"errors"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"
)

// logAttempts puts a logger with the fields job, job_id and attempt into the context, and logs why an attempt failed. An attempt that
// returns Later, or ends because the program stops, has not failed.
func logAttempts() rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		log := zerolog.Ctx(ctx).With().Str("job", job.Kind).Int64("job_id", job.ID).Int("attempt", job.Attempt).Logger()
		err := work(log.WithContext(ctx))
		switch {
		case err == nil, IsLater(err), errors.Is(ctx.Err(), context.Canceled):
		case IsFinal(err):
			log.Info().Err(Cause(err)).Msg("Job cancelled")
		case isLast(job):
			log.Err(err).Msg("Job failed")
		default:
			log.Warn().Err(err).Msg("Job attempt failed")
		}
		return err
	})
}

// withoutCancelled is a handler that drops records whose context was cancelled: River logs as errors what failed only because the program
// stops.
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
