package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// DecryptArgs asks to read an encrypted message. The process that holds the keys does it.
type DecryptArgs struct {
	MessageID int64 `json:"message"`
	// KeyRequests is how many times its key is to be asked for, again where it was refused; zero: as it needs.
	KeyRequests int `json:"ask,omitempty"`
}

// MaxKeyRequests is how often a key is asked for anew: who has it may learn a moment later that it may be given.
const MaxKeyRequests = 3

// Kind names the job.
func (DecryptArgs) Kind() string { return "decrypt" }

// InsertOpts puts it on its queue.
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

// Decrypter reads an encrypted message and takes in what it says. It asks to come back while the key is on its way.
type Decrypter interface {
	Decrypt(ctx context.Context, what DecryptArgs) error
}
