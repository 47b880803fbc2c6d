package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// CheckPageArgs asks to check a watched web page. The job stays and snoozes until the page's next time, as long as the page is watched.
type CheckPageArgs struct {
	WatchID store.WatchID `json:"watch"`
}

// Kind names the job.
func (CheckPageArgs) Kind() string { return "check_page" }

// InsertOpts allows one such job for a page at a time.
func (CheckPageArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueHooks, MaxAttempts: 25, UniqueOpts: uniqueByArgs()}
}

// PageChecker checks a watched page. While the page is watched, it returns Snooze with the time to the next check.
type PageChecker interface {
	CheckPage(ctx context.Context, watch store.WatchID) error
}
