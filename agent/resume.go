package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"multis/policy"
	"multis/store"
)

// Resume makes an attempt at a parked task. last says that no other attempt follows.
func (a *Agent) Resume(ctx context.Context, id store.TaskID, last bool) error {
	task, err := a.openTask(ctx, id)
	if err != nil || task.ID == 0 {
		return err
	}
	room, err := store.ChatByID(ctx, a.Store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	switch {
	case task.ParentID != nil:
		return a.workForParent(ctx, task, room, last)
	case task.Kind == store.TaskPlan:
		err = a.advancePlan(ctx, task, room)
	case task.Kind == store.TaskReplay:
		err = a.replayTask(ctx, task, room)
	default:
		err = a.answerOwner(ctx, task, room)
	}
	if err == nil || !last || ctx.Err() != nil {
		return err
	}
	return a.fail(ctx, task, room, err)
}

// openTask returns a task that is not over. It is the zero Task if it is over or was deleted.
func (a *Agent) openTask(ctx context.Context, id store.TaskID) (store.Task, error) {
	task, err := store.TaskByID(ctx, a.Store.DB(), id)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.State.IsOver()) {
		return store.Task{}, nil
	}
	return task, err
}

// errGivenUp is the error of a task that was attempted too often, or has had no attempt for long.
var errGivenUp = errors.New("multis ended while it was at it")

// GiveUp fails a task that no attempt will finish, and tells the owner or resumes the task that waits for it.
func (a *Agent) GiveUp(ctx context.Context, id store.TaskID) error {
	task, err := a.openTask(ctx, id)
	if err != nil || task.ID == 0 {
		return err
	}
	if task.ParentID != nil {
		claimed, err := store.ClaimTask(ctx, a.Store.Writer(), id)
		if errors.Is(err, store.ErrTaskLost) {
			return nil
		}
		if err != nil {
			return err
		}
		claimed.State, claimed.Error = store.TaskFailed, a.appendEffects(ctx, claimed, errGivenUp.Error())
		return a.endChild(ctx, claimed)
	}
	room, err := store.ChatByID(ctx, a.Store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	return a.fail(ctx, task, room, errGivenUp)
}

// fail fails a task of the owner's for good, and tells him.
func (a *Agent) fail(ctx context.Context, task store.Task, room store.Chat, err error) error {
	zerolog.Ctx(ctx).Err(err).Int64("task_id", int64(task.ID)).Msg("A task failed for good")
	task.State, task.Error = store.TaskFailed, policy.Redact(err.Error())
	if claimed, claimErr := store.ClaimTask(ctx, a.Store.Writer(), task.ID); claimErr == nil {
		task.Attempt = claimed.Attempt
	}
	return a.say(ctx, &ownerReply{
		room: room, task: &task,
		sourcedText: sourcedText{markdown: fmt.Sprintf("⚠️ **Task %d did not work out.** The log says why; then ask again.", task.ID) + a.effects(ctx, task.ID)},
		also: func(ctx context.Context, tx store.Tx) (string, error) {
			return "", store.StopChildren(ctx, tx, task.ID, "what it is a part of failed")
		},
	})
}
