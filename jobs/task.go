package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// TaskArgs asks to resume a task that waited for an approval, for the end of the time for one, or for another task.
type TaskArgs struct {
	TaskID store.TaskID `json:"task"`
	At     time.Time    `json:"at,omitzero"` // not before this time; zero means now
	// GiveUp says that the task must be failed, because it has had too many attempts or is too old.
	GiveUp bool `json:"give_up,omitempty"`
}

// Kind names the job.
func (TaskArgs) Kind() string { return "task" }

// InsertOpts sets the queue, the attempts and the time.
func (a TaskArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAsk, MaxAttempts: 5, ScheduledAt: a.At}
}

// SubtaskArgs asks to work on a task that another task waits for. It has a queue of its own: if parents and children
// shared one, all workers could be busy with parents that wait for children.
type SubtaskArgs struct {
	TaskID store.TaskID `json:"task"`
}

// Kind names the job.
func (SubtaskArgs) Kind() string { return "subtask" }

// InsertOpts sets the queue and the attempts.
func (SubtaskArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueChild, MaxAttempts: 3}
}

// Resumer works on tasks.
type Resumer interface {
	// Resume continues a task. last says that no other attempt follows.
	Resume(ctx context.Context, task store.TaskID, last bool) error
	// GiveUp fails a task and notifies whoever waits for it.
	GiveUp(ctx context.Context, task store.TaskID) error
}

func resume(ctx context.Context, tasks Resumer, args TaskArgs, last bool) error {
	if args.GiveUp {
		return tasks.GiveUp(ctx, args.TaskID)
	}
	return tasks.Resume(ctx, args.TaskID, last)
}

// StopTask stops a task and its children for a reason. A task that waits gets a job, so that it ends at once. It does
// nothing if the task has ended or was stopped before.
func StopTask(ctx context.Context, tx store.Tx, id store.TaskID, reason string) error {
	task, err := store.StopTask(ctx, tx, id, reason)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	asked, err := store.QuestionsOfTask(ctx, tx, id)
	if err != nil {
		return err
	}
	for _, dialog := range asked {
		if err := Enqueue(ctx, tx, EndQuestionArgs{DialogID: dialog}); err != nil {
			return err
		}
	}
	if task.State != store.TaskWaiting {
		return nil
	}
	return Enqueue(ctx, tx, TaskArgs{TaskID: id})
}

// RevisePlan adds the change that the owner wrote in a message to a plan that waits for his approval, and enqueues its
// task, so that the plan is made again. It does nothing if the plan has ended or was approved before.
func RevisePlan(ctx context.Context, tx store.Tx, task store.TaskID, message store.MessageID, change string, now time.Time) error {
	err := store.RevisePlan(ctx, tx, task, message, change, now)
	if errors.Is(err, store.ErrPlanStarted) {
		return nil
	}
	if err != nil {
		return err
	}
	return Enqueue(ctx, tx, TaskArgs{TaskID: task})
}
