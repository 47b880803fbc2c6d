package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// DecryptArgs asks to decrypt a message. Only the process that has the keys can do it.
type DecryptArgs struct {
	MessageID store.MessageID `json:"message"`
	// KeyRequests is how many more times the message's key is to be requested, even if a request for it was refused before. Zero requests
	// the key only as usual.
	KeyRequests int `json:"key_requests,omitempty"`
}

// MaxKeyRequests is how many times keys are requested again after a verification: a device that has them may learn a moment later that it
// may share them.
const MaxKeyRequests = 3

// Kind names the job.
func (DecryptArgs) Kind() string { return "decrypt" }

// InsertOpts sets the queue and the attempts, and delays the later of the repeated key requests.
func (a DecryptArgs) InsertOpts() river.InsertOpts {
	opts := river.InsertOpts{Queue: queueE2EE, MaxAttempts: 20}
	switch a.KeyRequests {
	case 1:
		opts.ScheduledAt = time.Now().Add(time.Minute)
	case 2:
		opts.ScheduledAt = time.Now().Add(10 * time.Second)
	}
	return opts
}

// Decrypter decrypts a message and processes it like any other. While the key is missing but may still come, it returns Snooze.
type Decrypter interface {
	Decrypt(ctx context.Context, args DecryptArgs) error
}
