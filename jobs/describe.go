package jobs

import (
	"context"

	"github.com/riverqueue/river"
	"maunium.net/go/mautrix/id"
)

// DescribeArgs asks what a room is, and then for the events of it that wait. No room stands for all that nobody has
// described yet.
type DescribeArgs struct {
	RoomID id.RoomID `json:"room"`
}

// Kind names the job.
func (DescribeArgs) Kind() string { return "describe" }

// InsertOpts puts it on its queue. A room that cannot be read is tried for about an hour; its next event tries again.
func (DescribeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueDescribe, MaxAttempts: 60}
}

// Describer finds out what a room is and takes in its waiting events.
type Describer interface {
	Describe(ctx context.Context, room id.RoomID) error
}
