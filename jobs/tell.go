package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// Topic is something that the owner is told about.
type Topic string

const (
	// TopicDevice is told when somebody ended multis' own session, and it made another.
	TopicDevice Topic = "device"
	// TopicEdit is told when the owner edits in the admin room what was carried out already.
	TopicEdit Topic = "edit"
	// TopicKeysGone is told when the keys cannot be opened.
	TopicKeysGone Topic = "keys_gone"
	// TopicKeysBack is told when they can again.
	TopicKeysBack Topic = "keys_back"
	// TopicPushStalled is told when what the homeserver pushes does not get through.
	TopicPushStalled Topic = "push_stalled"
	// TopicPushMoves is told when it does again.
	TopicPushMoves Topic = "push_moves"
	// TopicSyncStalled is told when the sync stands still.
	TopicSyncStalled Topic = "sync_stalled"
	// TopicSyncMoves is told when it goes on.
	TopicSyncMoves Topic = "sync_moves"
	// TopicUnread is told when the key of what the owner wrote in the admin room did not come.
	TopicUnread Topic = "unread"
	// TopicBridgeDown is told when a bridge loses its network; About is the state.
	TopicBridgeDown Topic = "bridge_down"
	// TopicBridgeUp is told when it reaches it again; About is the state.
	TopicBridgeUp Topic = "bridge_up"
	// TopicNewBridge is asked when a bot claims rooms that nobody confirmed as a bridge; About is the bot.
	TopicNewBridge Topic = "new_bridge"
	// TopicBridge is told when another bot claims the chats of a bridge; About is the change.
	TopicBridge Topic = "bridge"
)

// TellArgs asks to tell the owner something.
type TellArgs struct {
	Topic Topic `json:"topic"`
	// About is the row it is about; zero: none.
	About int64 `json:"about,omitempty"`
}

// Kind names the job.
func (TellArgs) Kind() string { return "tell" }

// InsertOpts puts it on its queue, once.
func (TellArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 20, UniqueOpts: once()}
}

// Teller tells the owner.
type Teller interface {
	Tell(ctx context.Context, what TellArgs) error
}
