package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"multis/jobs"
	"multis/store"
)

// cancelTask ends a task that is under way.
func (a *Admin) cancelTask(ctx context.Context, _ request, args string) (answer, error) {
	number, ok := taskNumber(strings.TrimSpace(args))
	if !ok {
		return a.openTasks(ctx)
	}
	task, err := store.TaskByID(ctx, a.Store.DB(), number)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return answer{text: fmt.Sprintf("There is no task %d. `/cancel-task` lists what runs.", number)}, nil
	case err != nil:
		return answer{}, err
	case task.State.Over():
		return answer{text: fmt.Sprintf("Task %d is over already. `/cancel-task` lists what runs.", number)}, nil
	}
	return answer{do: func(ctx context.Context, tx store.Tx) error {
		return stop(ctx, tx, number)
	}, text: fmt.Sprintf("Stopping task %d. What it did so far stays done.", number)}, nil
}

// taskNumber reads 12 or #12.
func taskNumber(text string) (number int64, ok bool) {
	number, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64)
	return number, err == nil && number > 0
}

// replay goes through a task again.
func (a *Admin) replay(ctx context.Context, r request, args string) (answer, error) {
	task, model, _ := strings.Cut(strings.TrimSpace(args), " ")
	number, ok := taskNumber(task)
	if !ok {
		return answer{text: "Which task? Its number stands under each answer that took tools: `/replay 12`."}, nil
	}
	replayed, err := store.TaskByID(ctx, a.Store.DB(), number)
	if errors.Is(err, store.ErrNotFound) {
		return answer{text: fmt.Sprintf("I know no task %d. Tasks are kept for 30 days.", number)}, nil
	}
	if err != nil {
		return answer{}, err
	}
	if model = strings.TrimSpace(model); model != "" {
		return answer{react: "👀", do: func(ctx context.Context, tx store.Tx) error {
			return a.Planner.ReplayWith(ctx, tx, r.room, r.message, replayed, model)
		}}, nil
	}
	text, err := a.Replay(ctx, number)
	return answer{text: text, about: replayed.About}, err
}

// stopByOwner is why a task ends that the owner wants to end.
const stopByOwner = "you asked me to"

// openTasks lists what can be stopped.
func (a *Admin) openTasks(ctx context.Context) (answer, error) {
	tasks, err := store.OpenTasks(ctx, a.Store.DB())
	if err != nil || len(tasks) == 0 {
		return answer{text: "Nothing runs that could be stopped."}, err
	}
	lines := []string{"**Which task?** `/cancel-task " + strconv.FormatInt(tasks[0].ID, 10) + "`"}
	var about []int64
	for _, t := range tasks {
		about = append(about, t.About...)
		state := "runs since " + a.ago(t.CreatedAt)
		if t.State == store.TaskMonitoring {
			state = "waits for you, or for others that do a part of it"
		}
		lines = append(lines, fmt.Sprintf("%d %s — %s", t.ID, quote(t.Input, 80), state))
	}
	return answer{text: strings.Join(lines, "\n"), about: about}, nil
}

// stopReaction on a question, or on what shows its answer being made, ends its task.
const stopReaction = "❌"

// stopped ends the task that a reaction points at. False: it points at none that runs.
func (a *Admin) stopped(ctx context.Context, r request) (answer, bool, error) {
	if strings.ReplaceAll(r.message.Body, variation, "") != stopReaction || !r.byOwner() {
		return answer{}, false, nil
	}
	task, err := store.TaskByEvent(ctx, a.Store.DB(), r.room.ID, r.message.RelatesTo)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.State.Over()) {
		return answer{}, false, nil
	}
	if err != nil {
		return answer{}, false, err
	}
	return answer{why: "It stopped a task.", do: func(ctx context.Context, tx store.Tx) error {
		return stop(ctx, tx, task.ID)
	}}, true, nil
}

// stop ends a task. One that is put aside has to go on to be ended.
func stop(ctx context.Context, tx store.Tx, number int64) error {
	task, err := store.StopTask(ctx, tx, number, stopByOwner)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || task.State != store.TaskMonitoring {
		return err
	}
	return jobs.Enqueue(ctx, tx, jobs.TaskArgs{Task: number})
}
