package jobs

import (
	"context"

	"github.com/riverqueue/river"
	"maunium.net/go/mautrix/id"
)

// DescribeArgs asks to find out which chat a room is, and then to process the events that waited for that. An empty
// RoomID means all rooms that have not been described.
type DescribeArgs struct {
	RoomID id.RoomID `json:"room"`
}

// Kind names the job.
func (DescribeArgs) Kind() string { return "describe" }

// InsertOpts sets the queue, and attempts for about an hour. After that the next event in the room enqueues another.
func (DescribeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueDescribe, MaxAttempts: 60}
}

// Describer finds out which chat a room is and processes the events that waited for that.
type Describer interface {
	Describe(ctx context.Context, room id.RoomID) error
}
