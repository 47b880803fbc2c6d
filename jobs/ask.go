package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// AskArgs asks to answer a question of the owner's in the admin room. Questions wait for a model, so they have a queue of their own:
// commands do not wait behind them.
type AskArgs struct {
	MessageID store.MessageID `json:"message"`
}

// Kind names the job.
func (AskArgs) Kind() string { return "ask" }

// InsertOpts allows one such job for a message at a time.
func (AskArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAsk, MaxAttempts: 5, UniqueOpts: uniqueByArgs()}
}

// Answerer answers a question. last says that no other attempt follows.
type Answerer interface {
	Answer(ctx context.Context, message store.MessageID, last bool) error
}
