package jobs

import (
	"context"
	"errors"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/rs/zerolog"
)

// logAttempts puts a logger that names the job and the attempt into the context, and logs with it why an attempt failed. What only asks to
// come back later, or fails because the program stops, is no failure.
func logAttempts() rivertype.WorkerMiddleware {
	return river.WorkerMiddlewareFunc(func(ctx context.Context, job *rivertype.JobRow, work func(context.Context) error) error {
		log := zerolog.Ctx(ctx).With().Str("job", job.Kind).Int64("job_id", job.ID).Int("attempt", job.Attempt).Logger()
		err := work(log.WithContext(ctx))
		switch {
		case err == nil, IsLater(err), errors.Is(ctx.Err(), context.Canceled):
		case IsFinal(err):
			log.Info().Err(Cause(err)).Msg("A job was given up: no further attempt can help")
		case isLast(job):
			log.Err(err).Msg("A job failed for good")
		default:
			log.Warn().Err(err).Msg("A job failed and will be tried again")
		}
		return err
	})
}

// quietShutdown is a log without what failed only because its work was told to stop, which the queue logs as an error.
type quietShutdown struct{ slog.Handler }

func (h quietShutdown) Handle(ctx context.Context, r slog.Record) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h quietShutdown) WithAttrs(attrs []slog.Attr) slog.Handler {
	return quietShutdown{h.Handler.WithAttrs(attrs)}
}

func (h quietShutdown) WithGroup(name string) slog.Handler {
	return quietShutdown{h.Handler.WithGroup(name)}
}
