// Package run is the durable tool loop: a model calls tools until it answers a task. Every call is stored as a step, before and after it is
// made. A later attempt at the same task repeats no call that ended, and no call that may have changed something.
package run

import (
	"context"
	"errors"
	"time"

	"multis/internal/text"
	"multis/internal/trace"
	"multis/llm"
	"multis/store"
)

// stopPoll is how often a running attempt checks whether its task was cancelled.
const stopPoll = 300 * time.Millisecond

// timeoutError is the cause of a context that ends because an attempt took too long.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string { return "it took longer than " + text.Duration(e.after) }

// stopError is the cause of a context that ends because the task was cancelled.
type stopError struct{ why string }

func (e *stopError) Error() string { return e.why }

// Run makes the attempt: it claims the task, calls build for the first request unless an earlier attempt stored one, and runs the loop.
func (a *Attempt) Run(ctx context.Context, opened store.Task, build func(ctx context.Context) (FirstRequest, error)) AttemptResult {
	err := a.Claim(ctx, opened, build)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		return AttemptResult{End: LeaseLost, Err: err}
	case err != nil && !errors.Is(err, ErrSourceDeleted):
		return AttemptResult{Err: err}
	}
	return a.RunClaimed(ctx, func(ctx context.Context) (LoopResult, error) {
		if err != nil {
			return LoopResult{}, err
		}
		return a.traced(ctx, a.loop)
	})
}

// traced carries out the work of a claimed task as a span.
func (a *Attempt) traced(ctx context.Context, work func(context.Context) (LoopResult, error)) (LoopResult, error) {
	ctx, span := trace.Start(ctx, "invoke_agent",
		trace.Code("gen_ai.operation.name", "invoke_agent"),
		trace.Code("multis.task.kind", a.Task.Kind),
		trace.Number("multis.task.id", a.Task.ID),
		trace.Number("multis.task.attempt", a.Task.Attempt),
		trace.Number("multis.chat.id", int64(a.Task.ChatID)),
	)
	done, err := work(ctx)
	span.End(err)
	return done, err
}

// RunClaimed runs work on a claimed task until it ends, times out or is cancelled, and returns how it ended.
func (a *Attempt) RunClaimed(ctx context.Context, work func(ctx context.Context) (LoopResult, error)) AttemptResult {
	working, release := a.withStop(ctx)
	defer release()
	out, err := work(working)
	end := AttemptResult{LoopResult: out, Err: err}
	var failed *llm.Error
	state, why := stopReason(working, err)
	switch {
	case errors.Is(err, store.ErrTaskLost):
		end.End = LeaseLost
	case errors.Is(err, ErrSuspended):
		end.End = Suspended
	case state != "":
		end.End = Stopped
		end.State = state
		end.LoopResult = LoopResult{Why: why}
	case err == nil:
		end.End = Finished
	case ctx.Err() != nil:
	case errors.As(err, &end.BudgetError):
		end.End = OverBudget
	case errors.As(err, &failed):
		end.End = ModelFailed
	}
	return end
}

// withStop returns a context that ends after the timeout, or when the task is cancelled. The returned function must be called.
func (a *Attempt) withStop(ctx context.Context) (context.Context, func()) {
	if reason := a.Task.StopReason; reason != "" { // it was cancelled while it was parked
		cancelled, cancel := context.WithCancelCause(ctx)
		cancel(&stopError{reason})
		return cancelled, func() {}
	}
	timed, cancel := context.WithTimeoutCause(ctx, a.Limits.Timeout, &timeoutError{a.Limits.Timeout})
	watched, stop := Poll(timed, stopPoll, func(ctx context.Context) error {
		reason, err := store.StopReason(ctx, a.engine.Store.DB(), a.Task.ID)
		if err != nil || reason == "" {
			return nil //nolint:nilerr // the next check may succeed
		}
		return &stopError{reason}
	})
	return watched, func() { stop(); cancel() }
}

// stopReason returns the final state and the reason of a stopped task. The state is empty if the task can continue, as after a shutdown.
func stopReason(working context.Context, err error) (store.TaskState, string) {
	var stop *stopError
	var late *timeoutError
	cause := context.Cause(working)
	switch {
	case errors.As(cause, &stop):
		return store.TaskKilled, "Stopped: " + stop.why + "."
	case errors.As(cause, &late):
		return store.TaskTimeout, "I stopped: " + late.Error() + "."
	case errors.Is(err, ErrSourceDeleted):
		return store.TaskKilled, ForgottenText()
	case errors.Is(err, errTooLarge):
		return store.TaskFailed, "I stopped: what I read is more than the model can hold. Ask for less at once."
	default:
		return "", ""
	}
}
