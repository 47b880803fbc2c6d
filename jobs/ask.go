package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// AskArgs asks to answer what the owner asked in the admin room. Questions wait for a model, so they have a queue of their
// own and no command waits behind them.
type AskArgs struct {
	MessageID int64 `json:"message"`
}

// Kind names the job.
func (AskArgs) Kind() string { return "ask" }

// InsertOpts puts it on its queue, once for each message.
func (AskArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAsk, MaxAttempts: 5, UniqueOpts: once()}
}

// Answerer answers a question. last says that no other attempt follows.
type Answerer interface {
	Answer(ctx context.Context, message int64, last bool) error
}
