package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// EmbedArgs asks to give the passages a vector that have none. Whoever writes passages enqueues it; without embeddings it is
// no work.
type EmbedArgs struct {
	// Again also looks at passages that were looked at before.
	Again bool `json:"again,omitempty"`
}

// Kind names the job.
func (EmbedArgs) Kind() string { return "embed" }

// InsertOpts puts it on its queue, once.
func (EmbedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueEmbed, MaxAttempts: 20, UniqueOpts: once()}
}

// Embedder gives passages their vectors. It goes on where it was stopped.
type Embedder interface {
	Embed(ctx context.Context, again bool) error
}
