package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// BridgesArgs asks to look for bridges that fell silent and for logins that work again. It is enqueued every minute.
type BridgesArgs struct{}

// Kind names the job.
func (BridgesArgs) Kind() string { return "bridges" }

// InsertOpts puts it on its queue, once. What one look misses, the next one finds.
func (BridgesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: once()}
}

// BridgeChecker finds bridges that fell silent and logins that work again, and has the owner notified.
type BridgeChecker interface {
	CheckBridges(ctx context.Context) error
}
