package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"multis/agent/run"
	"multis/jobs"
	"multis/llm"
	"multis/store"
)

// Replays replays tasks from their stored steps.
type Replays struct {
	*core
	openModel func(name string) (llm.Model, error)
}

// Replay replays a task from its stored steps, and compares the result with the task's answer. If other is not nil, it is asked the same in
// each round, which costs money. Its tool calls are shown and not made.
func (rs *Replays) Replay(ctx context.Context, task store.TaskID, other llm.Model) (run.Replay, error) {
	if other == nil {
		return rs.replay(ctx, task, nil)
	}
	account := fmt.Sprintf("replay %d %d", task, rs.now().UnixNano())
	return rs.replay(ctx, task, &run.OtherModel{
		Name: other.Name(),
		Ask: func(ctx context.Context, request llm.Request) (llm.Response, string, error) {
			request.Purpose, request.Run = string(store.TaskReplay), account
			said, err := llm.Complete(ctx, other, request)
			if err != nil {
				return said, err.Error(), nil //nolint:nilerr // it is shown
			}
			return said, "", nil
		},
	})
}

func (rs *Replays) replay(ctx context.Context, id store.TaskID, second *run.OtherModel) (run.Replay, error) {
	task, err := store.TaskByID(ctx, rs.store.DB(), id)
	if err != nil {
		return run.Replay{}, err
	}
	r := rs.newAttempt(rs.personas.ByID(task.Agent), run.MaxRounds)
	r.run.Caller.Owner = task.Kind != store.TaskTurn // what an answer may cite depends on who is answered
	if task.Kind == store.TaskTurn {
		r.run.Question = task.Input
		r.run.Check = r.gapsIn
	}
	return r.run.Replay(ctx, task, second, func(out run.LoopResult) (string, bool) {
		said := out.Text + out.Summary // one of them is empty
		switch task.Kind {
		case store.TaskTurn:
			return r.checkAnswer(ctx, run.LoopResult{Text: out.Text}).text, true // the contact does not get the reason of an escalation
		case store.TaskChild, store.TaskStep:
			return r.withSources(said), true
		case store.TaskPlan:
			return said, false // the answer was made from the steps
		default:
			return said, true
		}
	})
}

// ReplayWith begins a task that replays another one with a second model. The result is posted in the room.
func (rs *Replays) ReplayWith(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, replayed store.Task,
	model string,
) error {
	task, err := store.InsertTask(ctx, tx, store.Task{
		Key:       fmt.Sprintf("replay:%d", message.ID),
		Kind:      store.TaskReplay,
		ChatID:    room.ID,
		MessageID: &message.ID,
		Sources:   append(slices.Clone(replayed.Sources), message.ID),
		Model:     model,
		Input:     strconv.FormatInt(int64(replayed.ID), 10),
	})
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// replayTask makes an attempt at a task that ReplayWith began.
func (rs *Replays) replayTask(ctx context.Context, opened store.Task, room store.Chat) error {
	task, err := store.ClaimTask(ctx, rs.store.Writer(), opened.ID)
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	if err != nil {
		return err
	}
	r := rs.newAttempt(rs.personas.ByID(""), run.MaxRounds)
	r.run.Task = task
	end := r.run.RunClaimed(ctx, func(ctx context.Context) (run.LoopResult, error) {
		markdown, err := rs.replayWithModel(ctx, r)
		return run.LoopResult{Text: markdown}, err
	})
	done := r.run.EndedTask(store.TaskCompleted, end.Text, "")
	switch {
	case end.End == run.Stopped:
		end.Text, done = end.Why, r.run.EndedTask(end.State, "", end.Why)
	case end.Err != nil:
		return end.Err
	}
	return rs.queueReply(ctx, &ownerReply{room: room, task: &done, sourcedText: sourcedText{markdown: end.Text}})
}

// replayWithModel replays another task: the replay task's input is the number of that task, and its model the one to use.
func (rs *Replays) replayWithModel(ctx context.Context, r *attempt) (string, error) {
	task := r.run.Task
	if task.Forgotten {
		return "", run.ErrSourceDeleted
	}
	other, err := rs.openModel(task.Model)
	if err != nil {
		return "I cannot ask that model: " + err.Error(), nil //nolint:nilerr // the owner who named it is told
	}
	replayed, err := strconv.ParseInt(task.Input, 10, 64)
	if err != nil {
		return "", fmt.Errorf("read the input of task %d: %w", task.ID, err)
	}
	account := fmt.Sprintf("replay %d", task.ID)
	result, err := rs.replay(ctx, store.TaskID(replayed),
		&run.OtherModel{Name: other.Name(), Ask: func(ctx context.Context, request llm.Request) (llm.Response, string, error) {
			request.Purpose, request.Run = string(store.TaskReplay), account
			return r.run.AskOnce(ctx, other, request)
		}})
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Sprintf("I know no task %d any more.", replayed), nil
	}
	if err != nil {
		return "", err
	}
	return result.Markdown(), nil
}
