package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// TaskArgs asks to resume a task that waited: for an approval, until the time for one was over, or for another task.
type TaskArgs struct {
	TaskID store.TaskID `json:"task"`
	At     time.Time    `json:"at,omitzero"` // not before this time; zero means now
	// Lost says that the task was begun too often or too long ago, and is to be given up.
	Lost bool `json:"lost,omitempty"`
}

// Kind names the job.
func (TaskArgs) Kind() string { return "task" }

// InsertOpts sets the queue, the attempts and the time.
func (a TaskArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAsk, MaxAttempts: 5, ScheduledAt: a.At}
}

// ChildArgs asks to work on a task that another task waits for. It has a queue of its own: in the other's queue it could wait for a worker
// that waits for it.
type ChildArgs struct {
	TaskID store.TaskID `json:"task"`
}

// Kind names the job.
func (ChildArgs) Kind() string { return "child" }

// InsertOpts sets the queue and the attempts.
func (ChildArgs) InsertOpts() river.InsertOpts {
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
	if args.Lost {
		return tasks.GiveUp(ctx, args.TaskID)
	}
	return tasks.Resume(ctx, args.TaskID, last)
}

// ApprovalArgs asks to request a person's approval of a tool call.
type ApprovalArgs struct {
	ApprovalID int64 `json:"approval"`
}

// Kind names the job.
func (ApprovalArgs) Kind() string { return "approval" }

// InsertOpts sets the queue and the attempts.
func (ApprovalArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// ApprovalRequester requests a person's approval of a tool call.
type ApprovalRequester interface {
	RequestApproval(ctx context.Context, approval int64) error
}
