package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// TaskArgs asks to go on with a task that was put aside: somebody decided about it, or the time to do so is over.
type TaskArgs struct {
	TaskID int64     `json:"task"`
	At     time.Time `json:"at,omitzero"`    // not before; zero: now
	Lost   bool      `json:"lost,omitempty"` // it was begun too often, or too long ago: it only fails
}

// Kind names the job.
func (TaskArgs) Kind() string { return "task" }

// InsertOpts puts it on the queue of the questions.
func (a TaskArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAsk, MaxAttempts: 5, ScheduledAt: a.At}
}

// Resumer goes on with a task. last says that no other attempt follows.
type Resumer interface {
	Resume(ctx context.Context, task int64, last bool) error
	// GiveUp ends a task that nobody goes on with, and tells who waits for it.
	GiveUp(ctx context.Context, task int64) error
}

// ApprovalArgs asks to ask a person whether a tool may be called.
type ApprovalArgs struct {
	ApprovalID int64 `json:"approval"`
}

// Kind names the job.
func (ApprovalArgs) Kind() string { return "approval" }

// InsertOpts puts it on the queue of the commands.
func (ApprovalArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// ApprovalRequester asks a person.
type ApprovalRequester interface {
	RequestApproval(ctx context.Context, approval int64) error
}

func resume(ctx context.Context, tasks Resumer, args TaskArgs, last bool) error {
	if args.Lost {
		return tasks.GiveUp(ctx, args.TaskID)
	}
	return tasks.Resume(ctx, args.TaskID, last)
}
