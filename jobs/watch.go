package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// WatchArgs asks to look at what is watched, now and then as long as it is.
type WatchArgs struct {
	WatchID int64 `json:"watch"`
}

// Kind names the job.
func (WatchArgs) Kind() string { return "watch" }

// InsertOpts puts it on its queue, once for each watch.
func (WatchArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueHooks, MaxAttempts: 25, UniqueOpts: once()}
}

// PageChecker looks at what is watched. It asks to come back later until the watch is gone.
type PageChecker interface {
	CheckPage(ctx context.Context, watch int64) error
}
