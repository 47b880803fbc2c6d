package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/policy"
)

// IndexArgs asks to index documents: the file that Message carries, what Path means in the documents folder (a file, a
// folder or a pattern), or the page at Address.
type IndexArgs struct {
	MessageID int64       `json:"message,omitempty"`
	Path      string      `json:"path,omitempty"`
	Address   string      `json:"address,omitempty"`
	Role      policy.Role `json:"role"`
	// DecidedAt is when the owner said who may see them: what he says later holds, whichever job is done first.
	DecidedAt time.Time `json:"said"`
	// ChatID is where the outcome is told.
	ChatID int64 `json:"chat"`
}

// Kind names the job.
func (IndexArgs) Kind() string { return "index" }

// InsertOpts puts it on its queue.
func (IndexArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 5}
}

// Indexer indexes a document and tells the outcome. last says that no other attempt follows.
type Indexer interface {
	Index(ctx context.Context, args IndexArgs, last bool) error
}
