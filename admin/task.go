package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"multis/internal/text"
	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// commands returns the commands about tasks.
func (ts *TaskCommands) commands() []command {
	return []command{
		{
			name: "plan", args: "GOAL", group: groupAgents, run: ts.plan,
			summary: "do something in several steps",
			help: "I say which steps I would take, and begin when you agree: 👍 or `yes`. Reply to the plan with what should change, and I plan it again. " +
				"The steps are done one after the other, each with what those before came to; what needs your word in between asks for it. A restart does not end it; `/cancel-task` or ❌ does.",
		},
		{
			name: "run", args: "[name]", group: groupAgents, run: ts.runSaved,
			summary: "run a saved task",
			help: "`/run` lists them. Each is a YAML file in the tasks folder: `prompt`, and optionally `agent` (who does it), `tools` (no others may be used) and `target` (the chat that it is about). " +
				"The answer comes here; I send nothing to anybody else.",
		},
		{
			name: "cancel-task", args: "[number]", group: groupAgents, run: ts.cancel,
			summary: "stop a task",
			aliases: []string{"tasks", "task"},
			hint:    "`/cancel-task` lists what I work on and what waits for your decision, `/run` the saved tasks.",
			help:    "The number stands under each answer that is being made; without one, what runs is listed. A ❌ on your question or on my answer does the same.",
		},
		{
			name: "replay", args: "NUMBER [model]", group: groupAgents, run: ts.replay,
			summary: "replay a task without doing anything",
			help: "Nothing is done and nobody is asked: what the model said and what the tools brought comes from the steps, and I say whether it comes to the same, to the byte. " +
				"`/replay 12 openai/gpt-5-mini` asks that model the same in each round and shows what it says beside it; this makes paid model calls.",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (ts *TaskCommands) questions() []func() question {
	return []func() question{
		func() question { return &approveCalls{} },
		func() question { return &approvePlan{} },
	}
}

// cancel stops a task, or lists those that can be stopped.
func (ts *TaskCommands) cancel(ctx context.Context, _ request, args string) (answer, error) {
	number := store.TaskID(parseNumber(strings.TrimSpace(args)))
	if number == 0 {
		return ts.listOpen(ctx)
	}
	task, err := store.TaskByID(ctx, ts.store.DB(), number)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return answer{text: fmt.Sprintf("There is no task %d. `/cancel-task` lists what runs.", number)}, nil
	case err != nil:
		return answer{}, err
	case task.State.IsOver():
		return answer{text: fmt.Sprintf("Task %d has ended already. `/cancel-task` lists what runs.", number)}, nil
	}
	return answer{change: func(ctx context.Context, tx store.Tx) error {
		return jobs.StopTask(ctx, tx, number, ownerStopReason)
	}, text: fmt.Sprintf("Stopping task %d. What it did so far stays done.", number)}, nil
}

func (ts *TaskCommands) replay(ctx context.Context, r request, args string) (answer, error) {
	task, model, _ := strings.Cut(strings.TrimSpace(args), " ")
	number := store.TaskID(parseNumber(task))
	if number == 0 {
		return answer{text: "Which task? Its number stands under each answer that took tools: `/replay 12`."}, nil
	}
	replayed, err := store.TaskByID(ctx, ts.store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return answer{text: fmt.Sprintf("I know no task %d. Tasks are kept for %s.", number, text.Duration(store.TaskRetention))}, nil
	}
	if err != nil {
		return answer{}, err
	}
	if model = strings.TrimSpace(model); model != "" {
		return answer{reaction: reactionStarted, change: func(ctx context.Context, tx store.Tx) error {
			return ts.planner.ReplayWith(ctx, tx, r.room, r.message, replayed, model)
		}}, nil
	}
	text, err := ts.replayer.Replay(ctx, number)
	return answer{text: text, quotes: replayed.Sources}, err
}

// ownerStopReason is the stored reason of a task that the owner stopped.
const ownerStopReason = "you asked me to"

// listOpen lists the tasks that can be stopped.
func (ts *TaskCommands) listOpen(ctx context.Context) (answer, error) {
	tasks, err := store.OpenTasks(ctx, ts.store.DB())
	if err != nil {
		return answer{text: "Nothing runs that could be stopped."}, err
	}
	if len(tasks) == 0 {
		return answer{text: "Nothing runs that could be stopped."}, nil
	}
	lines := []string{"**Which task?** `/cancel-task " + strconv.FormatInt(int64(tasks[0].ID), 10) + "`"}
	var about []store.MessageID
	for _, t := range tasks {
		about = append(about, t.Sources...)
		state := "has been running since " + ts.room.ago(t.CreatedAt)
		if t.State == store.TaskWaiting {
			state = "waits for you, or for others that do a part of it"
		}
		lines = append(lines, fmt.Sprintf("%d %s — %s", t.ID, quote(t.Input, 80), state))
	}
	return answer{text: strings.Join(lines, "\n"), quotes: about}, nil
}

// stopReaction is the reaction that stops a task, on its question or on its progress.
const stopReaction = "❌"

// stopByReaction stops the task to which a reaction refers. done is false if there is no such open task.
func (ts *TaskCommands) stopByReaction(ctx context.Context, r request, _ string) (_ answer, done bool, err error) {
	if policy.PlainEmoji(r.message.Body) != stopReaction || !r.isOwner() {
		return answer{}, false, nil
	}
	task, err := store.TaskByEvent(ctx, ts.store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.State.IsOver()) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	return answer{reason: "It stopped a task.", change: func(ctx context.Context, tx store.Tx) error {
		return jobs.StopTask(ctx, tx, task.ID, ownerStopReason)
	}}, true, nil
}
