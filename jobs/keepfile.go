package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// KeepFileArgs asks to download the file of a message and to keep a copy of it.
type KeepFileArgs struct {
	MessageID store.MessageID `json:"message"`
}

// Kind names the job.
func (KeepFileArgs) Kind() string { return "keep_file" }

// InsertOpts sets the attempts, and a lower priority than that of documents in the same queue.
func (KeepFileArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 5, Priority: 3}
}

// AttachmentStore stores a copy of a message's file, because the homeserver may delete it.
type AttachmentStore interface {
	KeepFile(ctx context.Context, message store.MessageID) error
}
