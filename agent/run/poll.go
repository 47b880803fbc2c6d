package run

import (
	"context"
	"time"
)

// Poll calls check every period. The first error of check ends the returned context, with that error as its cause. The
// returned function ends the context and waits until check has returned; it must be called.
func Poll(ctx context.Context, period time.Duration, check func(ctx context.Context) error) (context.Context, func()) {
	watched, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(period)
		defer tick.Stop()
		for {
			select {
			case <-watched.Done():
				return
			case <-tick.C:
				if err := check(watched); err != nil {
					cancel(err)
					return
				}
			}
		}
	}()
	return watched, func() { cancel(nil); <-done }
}
