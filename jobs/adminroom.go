package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// AdminRoomArgs asks to create the admin room. It is enqueued when there is none.
type AdminRoomArgs struct{}

// Kind names the job.
func (AdminRoomArgs) Kind() string { return "admin_room" }

// InsertOpts allows one such job at a time.
func (AdminRoomArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 60, UniqueOpts: uniqueByArgs()}
}

// AdminRoomMaker creates the admin room. It does nothing when there is one.
type AdminRoomMaker interface {
	MakeAdminRoom(ctx context.Context) error
}
