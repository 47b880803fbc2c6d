package clock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/clock/schedule"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

const (
	// workerWait is the delay of an execution while the assistant works on another one.
	workerWait = time.Second
	// finishTimeout limits the transaction that stores the result of an execution.
	finishTimeout = 10 * time.Second
	// maxHeartbeatFailures is the number of failures in a row that pauses a heartbeat.
	maxHeartbeatFailures = 3
)

// RunNow carries out a schedule now, in addition to its times.
func (c *Clock) RunNow(ctx context.Context, tx store.Tx, s store.Schedule) error {
	s.UnlessReply = false // who asks for it now has seen the reply
	return c.start(ctx, tx, s, c.Now().Truncate(time.Microsecond), 0, 0)
}

// start begins the execution of a schedule for a time, once: it sends the schedule's message, or enqueues a job for an
// action that takes longer. delay is how late it is, and missed how many later times were missed.
func (c *Clock) start(ctx context.Context, tx store.Tx, s store.Schedule, at time.Time, delay time.Duration, missed int) error {
	run, first, err := store.StartExecution(ctx, tx, s.ID, at, c.Now())
	if err != nil {
		return err
	}
	if !first {
		return nil
	}
	if reason := skipReason(s, delay); reason != "" {
		return c.skip(ctx, tx, s, run, at, reason)
	}
	reply, hasReplied, err := replyTo(ctx, tx, s)
	if err != nil {
		return err
	}
	if hasReplied {
		return c.endReplied(ctx, tx, s, run, reply)
	}
	if s.Action == store.ActionSay {
		return c.send(ctx, tx, s, run, schedule.LateNotice(at, at.Add(delay), missed, c.Zone))
	}
	return jobs.Enqueue(ctx, tx, jobs.ExecutionArgs{ExecutionID: run})
}

// skipReason returns the reason for skipping a delayed execution; empty if it is not skipped.
func skipReason(s store.Schedule, delay time.Duration) string {
	switch {
	case s.CatchUp == store.CatchAll:
		return ""
	case s.CatchUp == store.CatchSkip && delay > maxSkipDelay, delay > maxDelay:
		return "it was " + text.Duration(delay) + " late"
	default:
		return ""
	}
}

// skip ends an execution that is too late. The owner is notified only if the schedule has no other time.
func (c *Clock) skip(ctx context.Context, tx store.Tx, s store.Schedule, run store.ExecutionID, at time.Time, reason string) error {
	if _, err := store.EndExecution(ctx, tx, run, store.ExecutionSkipped, reason, nil); err != nil {
		return err
	}
	if schedule.Kind(s.Kind) != schedule.At {
		return nil
	}
	return c.Messenger.NotifySkipped(ctx, tx, s, at, reason)
}

// Withdraw ends a schedule whose message is not sent if the contact writes first, once the contact has written. The owner
// is notified then, and not when the message would be due.
func (c *Clock) Withdraw(ctx context.Context, scheduleID store.ScheduleID) error {
	return c.Store.InTx(ctx, func(tx store.Tx) error {
		s, err := store.LockSchedule(ctx, tx, scheduleID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if !s.Waits() {
			return nil
		}
		reply, hasReplied, err := replyTo(ctx, tx, s)
		if err != nil {
			return err
		}
		if !hasReplied {
			return nil
		}
		now := c.Now().Truncate(time.Microsecond)
		run, _, err := store.StartExecution(ctx, tx, s.ID, now, now)
		if err != nil {
			return err
		}
		if err := store.SetNextTime(ctx, tx, s.ID, nil); err != nil {
			return err
		}
		return c.endReplied(ctx, tx, s, run, reply)
	})
}

// replyTo returns what the contact has written since a schedule was set whose message is then not sent. found is false if
// the contact has not, or the message is sent anyway.
func replyTo(ctx context.Context, tx store.Tx, s store.Schedule) (reply store.Message, found bool, err error) {
	if !s.UnlessReply || s.ChatID == nil {
		return store.Message{}, false, nil
	}
	reply, err = store.ReplySince(ctx, tx, *s.ChatID, s.CreatedAt)
	if errors.Is(err, store.ErrNotFound) {
		return store.Message{}, false, nil
	}
	return reply, err == nil, err
}

// endReplied ends an execution without its message, because the contact wrote first.
func (c *Clock) endReplied(ctx context.Context, tx store.Tx, s store.Schedule, run store.ExecutionID, reply store.Message) error {
	if _, err := store.EndExecution(ctx, tx, run, store.ExecutionSkipped, "they wrote first", nil); err != nil {
		return err
	}
	return c.Messenger.NotifyReplied(ctx, tx, s, reply)
}

// send sends the message of a schedule.
func (c *Clock) send(ctx context.Context, tx store.Tx, s store.Schedule, run store.ExecutionID, late string) error {
	sent, err := c.Messenger.Send(ctx, tx, s, late)
	if err != nil {
		return err
	}
	state, note := store.ExecutionDone, ""
	switch {
	case !sent.Decision.Allow && s.BestEffort:
		note = "not sent: " + sent.Decision.Why
	case !sent.Decision.Allow:
		state, note = store.ExecutionFailed, sent.Decision.Why
	case sent.IsDraft:
		note = "a draft of it waits for you"
	}
	return c.finish(ctx, tx, s, run, state, note, &sent.OutboxID)
}

// Execute carries out an execution whose action takes longer than a transaction. last says that no other attempt follows.
func (c *Clock) Execute(ctx context.Context, runID store.ExecutionID, last bool) error {
	run, err := store.ExecutionByID(ctx, c.Store.DB(), runID)
	if errors.Is(err, store.ErrNotFound) {
		return jobs.Permanent(err)
	}
	if err != nil {
		return err
	}
	if run.State != store.ExecutionRunning {
		return nil
	}
	s, err := store.ScheduleByID(ctx, c.Store.DB(), run.ScheduleID)
	if err != nil {
		return err
	}
	note, err := c.workWithTimeout(ctx, s, run)
	if err != nil && !jobs.IsPermanent(err) && (!last || jobs.IsSnooze(err)) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
	defer cancel()
	return c.Store.InTx(ctx, func(tx store.Tx) error {
		if err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Int64("schedule_id", int64(s.ID)).Msg("A schedule failed")
			return c.finish(ctx, tx, s, runID, store.ExecutionFailed, jobs.Cause(err).Error(), nil)
		}
		return c.finish(ctx, tx, s, runID, store.ExecutionDone, note, nil)
	})
}

// workWithTimeout calls work with a timeout that all attempts of an execution share. When the time is over, it returns an error that is not
// retried.
func (c *Clock) workWithTimeout(ctx context.Context, s store.Schedule, run store.Execution) (note string, err error) {
	timeout := cmp.Or(c.Timeout, jobs.ExecutionTimeout)
	if s.Action == store.ActionUpkeep {
		timeout = jobs.UpkeepTimeout
	}
	startedAt := time.Now()
	workCtx, cancel := context.WithTimeout(ctx, timeout-run.Worked)
	defer cancel()
	note, err = c.work(workCtx, s, run)
	if err == nil || ctx.Err() != nil {
		return note, err
	}
	if workCtx.Err() != nil {
		return "", jobs.Permanent(fmt.Errorf("it took longer than %s", text.Duration(timeout)))
	}
	return "", errors.Join(err, store.AddExecutionTime(ctx, c.Store.Writer(), run.ID, time.Since(startedAt)))
}

// work carries out the action of a schedule and returns a note for its history.
func (c *Clock) work(ctx context.Context, s store.Schedule, run store.Execution) (note string, err error) {
	switch s.Action {
	case store.ActionAsk:
		return "", c.withWorker(ctx, func(room store.Chat) error { return c.Worker.AnswerScheduled(ctx, room, run.ID, s.Body) })
	case store.ActionHeartbeat:
		err = c.withWorker(ctx, func(room store.Chat) error {
			note, err = c.Checker.Heartbeat(ctx, room, run.ID, s.Body)
			return err
		})
		return note, err
	case store.ActionUpkeep:
		return c.doUpkeep(ctx, s.Body)
	default:
		return "", jobs.Permanent(fmt.Errorf("nothing is known of %q", s.Action))
	}
}

// withWorker calls work with the admin room. A lock in the database lets one process at a time do so.
func (c *Clock) withWorker(ctx context.Context, work func(room store.Chat) error) error {
	lock, ok, err := c.Store.TryLock(ctx, store.LockScheduled, 0)
	if err != nil {
		return err
	}
	if !ok {
		return jobs.Snooze(workerWait)
	}
	defer lock.Release(ctx)
	room, err := outbox.AdminRoom(ctx, c.Store.DB())
	if err != nil {
		return err
	}
	return work(room)
}

// finish stores the result of an execution. If several executions fail in a row, the owner is notified of the first failure only.
func (c *Clock) finish(ctx context.Context, tx store.Tx, s store.Schedule, runID store.ExecutionID, state store.ExecutionState, note string,
	out *uuid.UUID,
) error {
	first, err := store.EndExecution(ctx, tx, runID, state, note, out)
	if err != nil {
		return err
	}
	if !first {
		return nil
	}
	if state != store.ExecutionFailed {
		return store.MarkScheduleSucceeded(ctx, tx, s.ID)
	}
	if err := store.FailTaskOfExecution(ctx, tx, runID, note); err != nil {
		return err
	}
	isFirst, err := markFailed(ctx, tx, s.ID, runID)
	switch {
	case err != nil:
		return err
	case s.Action == store.ActionHeartbeat:
		return c.pauseHeartbeat(ctx, tx, s, note)
	case isFirst:
		return c.Messenger.NotifyFailed(ctx, tx, s, note)
	default:
		return nil
	}
}

// markFailed counts a failure of a schedule and emits the event to the webhooks. isFirst says that the previous execution succeeded.
func markFailed(ctx context.Context, tx store.Tx, scheduleID store.ScheduleID, runID store.ExecutionID) (isFirst bool, err error) {
	if err := jobs.EmitHookEvent(ctx, tx, policy.HookCronFail, strconv.FormatInt(int64(runID), 10)); err != nil {
		return false, err
	}
	return store.MarkScheduleFailed(ctx, tx, scheduleID)
}

// pauseHeartbeat pauses a heartbeat that failed several times in a row, because each failure may cost money.
func (c *Clock) pauseHeartbeat(ctx context.Context, tx store.Tx, s store.Schedule, reason string) error {
	failures, err := store.Failures(ctx, tx, s.ID)
	if err != nil {
		return err
	}
	if failures < maxHeartbeatFailures || s.PausedAt != nil {
		return nil
	}
	if err := store.PauseSchedule(ctx, tx, s.ID, c.Now()); err != nil {
		return err
	}
	return c.Messenger.NotifyHeartbeatStopped(ctx, tx, s, maxHeartbeatFailures, reason)
}

// FailExecutionOf marks the execution that sent a message as failed, because the message did not arrive. It does nothing
// if no schedule sent the message. The caller notifies the owner.
func FailExecutionOf(ctx context.Context, tx store.Tx, o store.OutboxMessage) error {
	run, err := store.FailUndeliveredExecution(ctx, tx, o.ID, cmp.Or(o.Error, "it did not arrive"))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = markFailed(ctx, tx, run.ScheduleID, run.ID)
	return err
}
