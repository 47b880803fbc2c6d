package jobs

import (
	"context"

	"github.com/riverqueue/river"
)

// TranscribeArgs asks for the words of a voice note.
type TranscribeArgs struct {
	MessageID int64 `json:"message"`
}

// Kind names the job.
func (TranscribeArgs) Kind() string { return "transcribe" }

// InsertOpts puts it on its queue. Each attempt may cost money, and who speaks does not wait for long.
func (TranscribeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3}
}

// Transcriber turns a voice note into words. last says that no other attempt follows.
type Transcriber interface {
	Transcribe(ctx context.Context, message int64, last bool) error
}
