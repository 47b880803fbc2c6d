package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// ExportArgs asks to export a chat, or all chats when ChatID is zero, and to send the archive to the room of a message.
type ExportArgs struct {
	MessageID store.MessageID `json:"message"`
	ChatID    store.ChatID    `json:"chat,omitempty"`
}

// Kind names the job.
func (ExportArgs) Kind() string { return "export" }

// InsertOpts allows one such job for a message at a time.
func (ExportArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 3, UniqueOpts: uniqueByArgs()}
}

// Exporter exports chats. last says that no other attempt follows.
type Exporter interface {
	Export(ctx context.Context, args ExportArgs, last bool) error
}
