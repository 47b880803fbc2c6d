package jobs

import (
	"context"

	"github.com/riverqueue/river"

	"multis/store"
)

// TranscribeArgs asks to transcribe a voice note.
type TranscribeArgs struct {
	MessageID store.MessageID `json:"message"`
}

// Kind names the job.
func (TranscribeArgs) Kind() string { return "transcribe" }

// InsertOpts sets the queue and the attempts: few, because each may cost money and the contact waits.
func (TranscribeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueModel, MaxAttempts: 3}
}

// Transcriber transcribes a voice note. last says that no other attempt follows.
type Transcriber interface {
	Transcribe(ctx context.Context, message store.MessageID, last bool) error
}
