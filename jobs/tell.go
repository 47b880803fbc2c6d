package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// Topic is something that the owner is told about.
type Topic string

const (
	// TopicSessionReplaced is told when somebody ended multis' own session, and it made another.
	TopicSessionReplaced Topic = "device"
	// TopicEditIgnored is told when the owner edits in the admin room what was carried out already.
	TopicEditIgnored Topic = "edit"
	// TopicKeysUnavailable is told when the keys cannot be opened.
	TopicKeysUnavailable Topic = "keys_gone"
	// TopicKeysAvailable is told when they can again.
	TopicKeysAvailable Topic = "keys_back"
	// TopicPushStalled is told when what the homeserver pushes does not get through.
	TopicPushStalled Topic = "push_stalled"
	// TopicPushResumed is told when it does again.
	TopicPushResumed Topic = "push_moves"
	// TopicSyncStalled is told when the sync stands still.
	TopicSyncStalled Topic = "sync_stalled"
	// TopicSyncResumed is told when it goes on.
	TopicSyncResumed Topic = "sync_moves"
	// TopicUndecryptable is told when the key of what the owner wrote in the admin room did not come.
	TopicUndecryptable Topic = "unread"
	// TopicBridgeDown is told when a bridge loses its network; About is the state.
	TopicBridgeDown Topic = "bridge_down"
	// TopicBridgeUp is told when it reaches it again; About is the state.
	TopicBridgeUp Topic = "bridge_up"
	// TopicNewBridge is asked when a bot claims rooms that nobody confirmed as a bridge; About is the bot.
	TopicNewBridge Topic = "new_bridge"
	// TopicBridgeReplaced is told when another bot claims the chats of a bridge; About is the change.
	TopicBridgeReplaced Topic = "bridge"
)

// NoticeArgs asks to tell the owner something.
type NoticeArgs struct {
	Topic Topic `json:"topic"`
	// SubjectID is the row it is about; zero: none.
	SubjectID int64 `json:"about,omitempty"`
}

// Kind names the job.
func (NoticeArgs) Kind() string { return "tell" }

// InsertOpts puts it on its queue, once.
func (NoticeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20, UniqueOpts: once()}
}

// Notifier tells the owner.
type Notifier interface {
	Notify(ctx context.Context, what NoticeArgs) error
}
