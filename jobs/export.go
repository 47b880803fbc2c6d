package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// ExportArgs asks to put the files of a chat together and to send them to the room of a message; chat 0 means all chats.
type ExportArgs struct {
	MessageID int64 `json:"message"`
	ChatID    int64 `json:"chat,omitempty"`
}

// Kind names the job.
func (ExportArgs) Kind() string { return "export" }

// InsertOpts puts it on its queue, once for each message.
func (ExportArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueRun, MaxAttempts: 3, UniqueOpts: once()}
}

// Exporter puts exports together. last says that no other attempt follows.
type Exporter interface {
	Export(ctx context.Context, args ExportArgs, last bool) error
}
