package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// IndexMessagesArgs asks to add the messages that are not in the message index yet. Each process looks for such messages every few seconds
// and enqueues it, so that storing a message does not wait for the index.
type IndexMessagesArgs struct{}

// Kind names the job.
func (IndexMessagesArgs) Kind() string { return "index_messages" }

// InsertOpts allows one such job at a time.
func (IndexMessagesArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueArchive, MaxAttempts: 5, UniqueOpts: uniqueByArgs()}
}

// MessageIndexer adds messages to the message index.
type MessageIndexer interface {
	IndexMessages(ctx context.Context) error
}
