package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// SummariseArgs asks to summarise the older messages of a chat, before they are too many for a model to read.
type SummariseArgs struct {
	ChatID store.ChatID `json:"chat"`
	// Agent is the agent whose model reads the chat. Empty means the assistant itself.
	Agent string `json:"agent,omitempty"`
}

// Kind names the job.
func (SummariseArgs) Kind() string { return "summarise" }

// InsertOpts allows one such job for a chat and agent at a time. After the last attempt the next turn enqueues another.
func (SummariseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3, UniqueOpts: uniqueByArgs()}
}

// Summariser summarises chats.
type Summariser interface {
	Summarise(ctx context.Context, chat store.ChatID, agent string) error
}
