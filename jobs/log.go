package jobs

import (
	"context"
	"errors"
	"log/slog"
)

// stopping is a log without what failed only because its work was told to stop, which the queue logs as an error.
type stopping struct{ slog.Handler }

func (h stopping) Handle(ctx context.Context, r slog.Record) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

func (h stopping) WithAttrs(attrs []slog.Attr) slog.Handler {
	return stopping{h.Handler.WithAttrs(attrs)}
}

func (h stopping) WithGroup(name string) slog.Handler { return stopping{h.Handler.WithGroup(name)} }
