package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"multis/policy"
	"multis/store"
)

// Resume goes on with a task that was put aside. last says that no other attempt follows.
func (a *Agent) Resume(ctx context.Context, id int64, last bool) error {
	task, err := a.unfinished(ctx, id)
	if err != nil || task.ID == 0 {
		return err
	}
	room, err := store.ChatByID(ctx, a.Store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	switch {
	case task.ParentID != nil:
		return a.workForAnother(ctx, task, room, last)
	case task.Kind == kindPlan:
		err = a.plan(ctx, task, room)
	case task.Kind == kindReplay:
		err = a.replayTask(ctx, task, room)
	default:
		err = a.work(ctx, task, room)
	}
	if err == nil || !last || ctx.Err() != nil {
		return err
	}
	return a.fail(ctx, task, room, err)
}

// unfinished is a task that is not over; the zero task if it is, or is gone.
func (a *Agent) unfinished(ctx context.Context, id int64) (store.Task, error) {
	task, err := store.TaskByID(ctx, a.Store.DB(), id)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.State.Over()) {
		return store.Task{}, nil
	}
	return task, err
}

// errGivenUp is why a task fails that was begun often, or long ago, and that nobody works on.
var errGivenUp = errors.New("multis ended while it was at it")

// GiveUp ends a task that nobody goes on with, and tells who waits for it.
func (a *Agent) GiveUp(ctx context.Context, id int64) error {
	task, err := a.unfinished(ctx, id)
	if err != nil || task.ID == 0 {
		return err
	}
	if task.ParentID != nil {
		claimed, err := store.ClaimTask(ctx, a.Store.DB(), id)
		if errors.Is(err, store.ErrTaskLost) {
			return nil
		}
		if err != nil {
			return err
		}
		claimed.State, claimed.Error = store.TaskFailed, a.withLeft(ctx, claimed, errGivenUp.Error())
		return a.endChild(ctx, claimed)
	}
	room, err := store.ChatByID(ctx, a.Store.DB(), task.ChatID)
	if err != nil {
		return err
	}
	return a.fail(ctx, task, room, errGivenUp)
}

// fail ends a task of the owner's for good, and says so.
func (a *Agent) fail(ctx context.Context, task store.Task, room store.Chat, err error) error {
	zerolog.Ctx(ctx).Err(err).Int64("task_id", task.ID).Msg("A task failed for good")
	task.State, task.Error = store.TaskFailed, policy.Redact(err.Error())
	if claimed, claimErr := store.ClaimTask(ctx, a.Store.DB(), task.ID); claimErr == nil {
		task.Attempt = claimed.Attempt
	}
	return a.say(ctx, &reply{
		room: room, task: &task,
		sourced: sourced{markdown: fmt.Sprintf("⚠️ **Task %d did not work out.** The log says why; then ask again.", task.ID) + paragraph(a.left(ctx, task.ID))},
		also: func(ctx context.Context, tx store.Tx) error {
			return store.EndChildren(ctx, tx, task.ID, "what it is a part of failed")
		},
	})
}
