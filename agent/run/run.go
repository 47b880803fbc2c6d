// Package run is the durable tool loop: a model calls tools until it answers a task. Every call is stored as a step, before and after it is
// made. So a later attempt at the same task repeats no call that ended, and none that may have changed something.
package run

import (
	"context"
	"errors"
	"time"

	"multis/llm"
	"multis/store"
)

const (
	// timeout bounds one attempt at a task.
	timeout = 5 * time.Minute
	// stopPoll is how often a running attempt checks whether its task was cancelled.
	stopPoll = 300 * time.Millisecond
)

// stopError is the cause of a context that ends because the task was cancelled.
type stopError struct{ why string }

func (e *stopError) Error() string { return e.why }

// Run makes the attempt: it claims the task, has build make the first request unless an earlier attempt stored one, and runs the loop.
func (a *Attempt) Run(ctx context.Context, opened store.Task, build func(ctx context.Context) (Opening, error)) End {
	err := a.Claim(ctx, opened, build)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		return End{Ending: Lost, Err: err}
	case err != nil && !errors.Is(err, ErrForgotten):
		return End{Err: err}
	}
	return a.Do(ctx, func(ctx context.Context) (Outcome, error) {
		if err != nil {
			return Outcome{}, err
		}
		return a.loop(ctx)
	})
}

// Do runs work on a claimed task until it ends, takes too long or is cancelled, and classifies how it ended.
func (a *Attempt) Do(ctx context.Context, work func(ctx context.Context) (Outcome, error)) End {
	working, release := a.untilStopped(ctx)
	defer release()
	out, err := work(working)
	end := End{Outcome: out, Err: err}
	var failed *llm.Error
	state, why := stopReason(working, err)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		end.Ending = Lost
	case errors.Is(err, ErrParked):
		end.Ending = Parked
	case state != "":
		end.Ending, end.State, end.Outcome = Stopped, state, Outcome{Why: why}
	case err == nil:
		end.Ending = Finished
	case ctx.Err() != nil:
	case errors.As(err, &end.Over):
		end.Ending = OverBudget
	case errors.As(err, &failed):
		end.Ending = ModelFailed
	}
	return end
}

// untilStopped returns a context that ends after the timeout, or when the task is cancelled. The returned function must be called.
func (a *Attempt) untilStopped(ctx context.Context) (context.Context, func()) {
	timed, cancelTime := context.WithTimeoutCause(ctx, timeout, errTimeout)
	working, cancel := context.WithCancelCause(timed)
	if why := a.Task.StopWhy; why != "" { // cancelled while it was parked
		cancel(&stopError{why})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(stopPoll)
		defer tick.Stop()
		for {
			select {
			case <-working.Done():
				return
			case <-tick.C:
				if why, err := store.StopReason(working, a.engine.Store.DB(), a.Task.ID); err == nil && why != "" {
					cancel(&stopError{why})
					return
				}
			}
		}
	}()
	return working, func() { cancel(nil); cancelTime(); <-done }
}

// stopReason returns the state and reason of a task that ends for good. The state is empty if it does not, as when the process ends.
func stopReason(working context.Context, err error) (store.TaskState, string) {
	var stop *stopError
	cause := context.Cause(working)
	switch {
	case errors.As(cause, &stop):
		return store.TaskKilled, "Stopped: " + stop.why + "."
	case errors.Is(cause, errTimeout):
		return store.TaskTimeout, "I stopped: " + errTimeout.Error() + "."
	case errors.Is(err, ErrForgotten):
		return store.TaskKilled, ForgottenText()
	case errors.Is(err, errTooLarge):
		return store.TaskFailed, "I stopped: what I read is more than the model can hold. Ask for less at once."
	default:
		return "", ""
	}
}
