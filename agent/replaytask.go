package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"multis/jobs"
	"multis/llm"
	"multis/policy"
	"multis/store"
)

// kindReplay is the kind of a task that asks another model what the one of another task was asked. Its input is the number of that one.
const kindReplay = "replay"

// ReplayWith begins to go through a task again with another model beside it. What comes of it is said in the room.
func (a *Agent) ReplayWith(ctx context.Context, tx store.Tx, room store.Chat, message store.Message, replayed store.Task, model string) error {
	task, err := store.OpenTask(ctx, tx, store.Task{
		Key: fmt.Sprintf("replay:%d", message.ID), Kind: kindReplay, ChatID: room.ID, MessageID: &message.ID, About: append(slices.Clone(replayed.About), message.ID),
		Model: model, Input: strconv.FormatInt(replayed.ID, 10),
	})
	if err != nil {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{TaskID: task.ID})
}

// replayTask makes an attempt at a replay with another model.
func (a *Agent) replayTask(ctx context.Context, opened store.Task, room store.Chat) error {
	task, err := store.ClaimTask(ctx, a.Store.DB(), opened.ID)
	if errors.Is(err, store.ErrTaskLost) {
		return nil
	}
	if err != nil {
		return err
	}
	r := &run{Agent: a, task: task}
	if r.done, err = store.Steps(ctx, a.Store.DB(), task.ID); err != nil {
		return err
	}
	working, release := r.within(ctx)
	defer release()
	text, err := r.replayed(working)
	done := r.end(store.TaskCompleted, text, "")
	if state, why, ended := stopped(working, err); ended {
		text, done = why, r.end(state, "", why)
	} else if err != nil {
		return err
	}
	return a.say(ctx, &reply{room: room, task: &done, sourced: sourced{markdown: text}})
}

// replayed goes through the task and shows what came of it.
func (r *run) replayed(ctx context.Context) (string, error) {
	if r.task.Forgotten {
		return "", errForgotten
	}
	other, err := r.OpenModel(r.task.Model)
	if err != nil {
		return "I cannot ask that model: " + err.Error(), nil //nolint:nilerr // said to who named it
	}
	number, err := strconv.ParseInt(r.task.Input, 10, 64)
	if err != nil {
		return "", fmt.Errorf("read the input of task %d: %w", r.task.ID, err)
	}
	p, err := r.Agent.replay(ctx, number, &second{name: other.Name(), run: fmt.Sprintf("replay %d", r.task.ID), ask: func(ctx context.Context, request llm.Request) (llm.Response, string, error) {
		return r.askOnce(ctx, other, request)
	}})
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Sprintf("I know no task %d any more.", number), nil
	}
	if err != nil {
		return "", err
	}
	return p.Markdown(), nil
}

// askOnce asks a model, which is paid, and notes that before and after. What an earlier attempt asked is not asked again: its answer is there, or
// nobody knows it.
func (r *run) askOnce(ctx context.Context, other llm.Model, request llm.Request) (said llm.Response, failed string, err error) {
	seq, known := r.step()
	switch {
	case known != nil && known.EndedAt == nil:
		return llm.Response{}, "multis ended while it was asked, and a paid call is not repeated", nil
	case known != nil && known.IsError:
		return llm.Response{}, known.Text, nil
	case known != nil:
		said.Text = known.Text
		said.Calls, err = callsOf(*known)
		return said, "", err
	}
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: other.Name(), Asked: digest(request)}
	if err := store.BeginStep(ctx, r.Store.DB(), r.task, step); err != nil {
		return llm.Response{}, "", err
	}
	said, err = llm.Complete(ctx, other, request)
	if ctx.Err() != nil {
		return llm.Response{}, "", ctx.Err()
	}
	if err != nil {
		failed = policy.Redact(err.Error())
		step.IsError, step.Code, step.Text = true, "failed", failed
		return llm.Response{}, failed, store.EndStep(context.WithoutCancel(ctx), r.Store.DB(), r.task, step)
	}
	said = storable(said)
	step.Text, step.TokensIn, step.TokensOut, step.Code = policy.Redact(said.Text), said.Usage.In, said.Usage.Out, string(said.Stop)
	if len(said.Calls) > 0 {
		if step.Calls, err = json.Marshal(redactCalls(said.Calls)); err != nil {
			return llm.Response{}, "", fmt.Errorf("write the calls of a model: %w", err)
		}
	}
	return said, "", store.EndStep(context.WithoutCancel(ctx), r.Store.DB(), r.task, step)
}
