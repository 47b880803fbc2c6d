package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// AdminRoomArgs asks to make a room from which multis is administered, because there is none.
type AdminRoomArgs struct{}

// Kind names the job.
func (AdminRoomArgs) Kind() string { return "admin_room" }

// InsertOpts puts it on its queue, once.
func (AdminRoomArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 60, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: active()}}
}

// RoomMaker makes the admin room, unless there is one.
type RoomMaker interface {
	MakeAdminRoom(ctx context.Context) error
}

type adminRoomWorker struct {
	river.WorkerDefaults[AdminRoomArgs]
	maker RoomMaker
}

func (w *adminRoomWorker) Timeout(*river.Job[AdminRoomArgs]) time.Duration { return time.Minute }

func (w *adminRoomWorker) NextRetry(job *river.Job[AdminRoomArgs]) time.Time {
	return backoff(job.Attempt)
}

func (w *adminRoomWorker) Work(ctx context.Context, _ *river.Job[AdminRoomArgs]) error {
	return w.maker.MakeAdminRoom(ctx)
}
