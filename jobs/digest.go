package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// DigestArgs asks to tell the owner what came too late for an answer. One waits at a time.
type DigestArgs struct{}

// DigestDelay is the quiet after the last late message before the owner is told.
const DigestDelay = 10 * time.Second

// Kind names the job.
func (DigestArgs) Kind() string { return "digest" }

// InsertOpts puts it on its queue, once.
func (DigestArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 20, UniqueOpts: once()}
}

// Digester tells the owner what came too late. It asks to come back while more is coming in.
type Digester interface {
	Digest(ctx context.Context) error
}
