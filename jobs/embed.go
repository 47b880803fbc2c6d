package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// EmbedArgs asks to embed the chunks that have no embedding. It is enqueued by whatever writes chunks, and is also a
// periodic job. Without an embedding model it does nothing.
type EmbedArgs struct {
	// RetryFailed includes chunks whose embedding failed before.
	RetryFailed bool `json:"retry_failed,omitempty"`
}

// Kind names the job.
func (EmbedArgs) Kind() string { return "embed" }

// InsertOpts allows one such job at a time.
func (EmbedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueEmbed, MaxAttempts: 20, UniqueOpts: uniqueByArgs()}
}

// Embedder embeds chunks. An attempt continues where the last one stopped.
type Embedder interface {
	Embed(ctx context.Context, again bool) error
}
