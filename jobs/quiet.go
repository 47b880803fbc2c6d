package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// CheckQuietChatsArgs asks to write what is due in chats in which nobody has written for a while: follow-ups and
// questions for a rating. It is a periodic job.
type CheckQuietChatsArgs struct{}

// Kind names the job.
func (CheckQuietChatsArgs) Kind() string { return "check_quiet_chats" }

// InsertOpts allows one such job at a time.
func (CheckQuietChatsArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueUpkeep, MaxAttempts: 1, UniqueOpts: uniqueByArgs()}
}

// QuietChatChecker writes what is due in quiet chats.
type QuietChatChecker interface {
	// HasQuietChats reports whether CheckQuietChats has anything to do.
	HasQuietChats(ctx context.Context) (bool, error)
	CheckQuietChats(ctx context.Context) error
}
