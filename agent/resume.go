package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"multis/policy"
	"multis/store"
)

// Tasks resumes stored tasks of all kinds, and ends those that cannot be finished.
type Tasks struct {
	*core
	questions *Questions
	plans     *Plans
	replays   *Replays
	subtasks  *subtasks
}

// Resume makes an attempt at a parked task. last says that no other attempt follows.
func (ts *Tasks) Resume(ctx context.Context, id store.TaskID, last bool) error {
	task, err := ts.openTask(ctx, id)
	if err != nil {
		return err
	}
	if task.ID == 0 {
		return nil
	}
	room, err := store.ChatByID(ctx, ts.store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	switch {
	case task.ParentID != nil:
		return ts.subtasks.work(ctx, task, room, last)
	case task.Kind == store.TaskPlan:
		err = ts.plans.advance(ctx, task, room)
	case task.Kind == store.TaskReplay:
		err = ts.replays.replayTask(ctx, task, room)
	default:
		err = ts.questions.answerOwner(ctx, task, room)
	}
	if err == nil || !last || ctx.Err() != nil {
		return err
	}
	return ts.fail(ctx, task, room, err)
}

// openTask returns a task, or the zero Task if the task is over or was deleted.
func (ts *Tasks) openTask(ctx context.Context, id store.TaskID) (store.Task, error) {
	task, err := store.TaskByID(ctx, ts.store.DB(), id)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.State.IsOver()) {
		return store.Task{}, nil
	}
	return task, err
}

// errAttemptsExhausted is the error of a task that was attempted too often, or that was not attempted for too long.
var errAttemptsExhausted = errors.New("multis ended while it was at it")

// GiveUp fails a task that no attempt will finish, and notifies the owner or resumes the task that waits for it.
func (ts *Tasks) GiveUp(ctx context.Context, id store.TaskID) error {
	task, err := ts.openTask(ctx, id)
	if err != nil {
		return err
	}
	if task.ID == 0 {
		return nil
	}
	if task.ParentID != nil {
		claimed, err := store.ClaimTask(ctx, ts.store.Writer(), id)
		if errors.Is(err, store.ErrTaskLost) {
			return nil
		}
		if err != nil {
			return err
		}
		claimed.State, claimed.Error = store.TaskFailed, ts.subtasks.appendEffects(ctx, claimed, errAttemptsExhausted.Error())
		return ts.subtasks.end(ctx, claimed)
	}
	room, err := store.ChatByID(ctx, ts.store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	return ts.fail(ctx, task, room, errAttemptsExhausted)
}

// fail ends a task of the owner as failed, and tells him.
func (ts *Tasks) fail(ctx context.Context, task store.Task, room store.Chat, err error) error {
	zerolog.Ctx(ctx).Err(err).Int64("task_id", int64(task.ID)).Msg("A task failed for good")
	task.State, task.Error = store.TaskFailed, policy.Redact(err.Error())
	if claimed, claimErr := store.ClaimTask(ctx, ts.store.Writer(), task.ID); claimErr == nil {
		task.Attempt = claimed.Attempt
	}
	return ts.queueReply(ctx, &ownerReply{
		room: room, task: &task,
		sourcedText: sourcedText{markdown: fmt.Sprintf("⚠️ **Task %d did not work out.** The log says why; then ask again.", task.ID) +
			ts.effectsText(ctx, task.ID)},
		inSameTx: func(ctx context.Context, tx store.Tx) (string, error) {
			return "", store.StopChildren(ctx, tx, task.ID, "what it is a part of failed")
		},
	})
}
