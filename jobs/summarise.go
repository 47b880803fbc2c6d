package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// SummariseArgs asks to shorten what was said in a chat, before it is too much to be read word for word.
type SummariseArgs struct {
	ChatID int64 `json:"chat"`
	// Agent is whose model found it long; empty: multis' own.
	Agent string `json:"agent,omitempty"`
}

// Kind names the job.
func (SummariseArgs) Kind() string { return "summarise" }

// InsertOpts puts it on its queue, once for each chat. What fails is asked for again by the next turn.
func (SummariseArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3, UniqueOpts: once()}
}

// Summariser shortens conversations.
type Summariser interface {
	Summarise(ctx context.Context, chat int64, agent string) error
}
