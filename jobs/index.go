package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/policy"
	"multis/store"
)

// IndexArgs asks to index documents: the file of a message, a path in the documents folder (a file, a folder or a pattern), or a web page.
// One of MessageID, Path and Address is set.
type IndexArgs struct {
	MessageID store.MessageID `json:"message,omitempty"`
	Path      string          `json:"path,omitempty"`
	Address   string          `json:"address,omitempty"`
	// Role is who may see the documents. RoleSetAt is when the owner decided that: of two decisions the later one counts, in
	// whatever order their jobs run.
	Role      policy.Role `json:"role"`
	RoleSetAt time.Time   `json:"role_set_at"`
	// ChatID is the chat in which the outcome is reported.
	ChatID store.ChatID `json:"chat"`
}

// Kind names the job.
func (IndexArgs) Kind() string { return "index" }

// InsertOpts sets the queue and the attempts.
func (IndexArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 5}
}

// Indexer indexes documents and reports the outcome. last says that no other attempt follows.
type Indexer interface {
	Index(ctx context.Context, args IndexArgs, last bool) error
}
