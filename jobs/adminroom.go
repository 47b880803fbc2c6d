package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// AdminRoomArgs asks to make a room from which multis is administered, because there is none.
type AdminRoomArgs struct{}

// Kind names the job.
func (AdminRoomArgs) Kind() string { return "admin_room" }

// InsertOpts puts it on its queue, once.
func (AdminRoomArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 60, UniqueOpts: once()}
}

// AdminRoomMaker makes the admin room, unless there is one.
type AdminRoomMaker interface {
	MakeAdminRoom(ctx context.Context) error
}
