package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// TurnArgs asks for an answer to what waits in a chat. Each message that wants one inserts its own; the first turn
// folds all of them in and the others find nothing left.
type TurnArgs struct {
	ChatID int64 `json:"chat"`
}

// Kind names the job.
func (TurnArgs) Kind() string { return "turn" }

// InsertOpts puts it on its queue. A turn that keeps failing is given up after five attempts, within about half a minute.
func (TurnArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueChat, MaxAttempts: 5}
}

// Turner answers what waits in a chat. job tells this attempt from every other; last says that no other follows.
type Turner interface {
	Turn(ctx context.Context, chat int64, job string, last bool) error
}
