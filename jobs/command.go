package jobs

import (
	"context"
	"strconv"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// CommandArgs asks to carry out what the owner wrote in the admin room.
type CommandArgs struct {
	Message int64 `json:"message"`
}

// Kind names the job.
func (CommandArgs) Kind() string { return "command" }

// InsertOpts puts it on its queue.
func (CommandArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 5}
}

// Commander carries out a command. last says that no other attempt follows.
type Commander interface {
	Command(ctx context.Context, message int64, last bool) error
}

type commandWorker struct {
	river.WorkerDefaults[CommandArgs]
	commander Commander
}

func (w *commandWorker) Timeout(*river.Job[CommandArgs]) time.Duration { return 5 * time.Minute }

func (w *commandWorker) NextRetry(job *river.Job[CommandArgs]) time.Time { return backoff(job.Attempt) }

func (w *commandWorker) Work(ctx context.Context, job *river.Job[CommandArgs]) error {
	return w.commander.Command(ctx, job.Args.Message, job.Attempt >= job.MaxAttempts)
}

// attemptID names one attempt of one job; two attempts of the same job, or a rescued one, never share it. It begins with the
// job's id, by which the chats that a dead process held are found.
func attemptID(job *rivertype.JobRow) string {
	id := strconv.FormatInt(job.ID, 10) + "." + strconv.Itoa(job.Attempt)
	if job.AttemptedAt != nil {
		id += "." + strconv.FormatInt(job.AttemptedAt.UnixMicro(), 36)
	}
	return id
}
