package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// LateMessagesArgs asks to notify the owner of the messages that came too late to be answered.
type LateMessagesArgs struct{}

// LateMessagesDelay is how long after the last late message the owner is notified of all of them.
const LateMessagesDelay = 10 * time.Second

// Kind names the job.
func (LateMessagesArgs) Kind() string { return "late_messages" }

// InsertOpts allows one such job at a time.
func (LateMessagesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 20, UniqueOpts: uniqueByArgs()}
}

// LateMessagesNotifier notifies the owner of late messages. While more of them arrive, it returns Snooze.
type LateMessagesNotifier interface {
	NotifyOfLateMessages(ctx context.Context) error
}
