package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// DigestArgs asks to notify the owner of the messages that came too late to be answered.
type DigestArgs struct{}

// DigestDelay is how long after the last late message the owner is notified of all of them.
const DigestDelay = 10 * time.Second

// Kind names the job.
func (DigestArgs) Kind() string { return "digest" }

// InsertOpts allows one such job at a time.
func (DigestArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 20, UniqueOpts: uniqueByArgs()}
}

// Digester notifies the owner of late messages. While more of them arrive, it returns Snooze.
type Digester interface {
	Digest(ctx context.Context) error
}
