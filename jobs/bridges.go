package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// CheckBridgesArgs asks to look for bridges that stopped confirming messages, and for logins that work again. It is a periodic job.
type CheckBridgesArgs struct{}

// Kind names the job.
func (CheckBridgesArgs) Kind() string { return "check_bridges" }

// InsertOpts allows one such job at a time. It is tried once: the next one finds what it missed.
func (CheckBridgesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// BridgeChecker looks for bridges that stopped confirming messages, and for logins that work again, and notifies the owner.
type BridgeChecker interface {
	// HaveBridgesChanged reports whether CheckBridges would notify the owner.
	HaveBridgesChanged(ctx context.Context) (bool, error)
	CheckBridges(ctx context.Context) error
}
