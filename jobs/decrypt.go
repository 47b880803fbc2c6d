package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// DecryptArgs asks to read an encrypted message. The process that holds the keys does it.
type DecryptArgs struct {
	Message int64 `json:"message"`
}

// Kind names the job.
func (DecryptArgs) Kind() string { return "decrypt" }

// InsertOpts puts it on its queue.
func (DecryptArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueE2EE, MaxAttempts: 20}
}

// Decrypter reads an encrypted message and takes in what it says. It asks to come back while the key is on its way.
type Decrypter interface {
	Decrypt(ctx context.Context, message int64) error
}

type decryptWorker struct {
	river.WorkerDefaults[DecryptArgs]
	decrypter Decrypter
}

func (w *decryptWorker) Timeout(*river.Job[DecryptArgs]) time.Duration { return time.Minute }

func (w *decryptWorker) NextRetry(job *river.Job[DecryptArgs]) time.Time { return backoff(job.Attempt) }

func (w *decryptWorker) Work(ctx context.Context, job *river.Job[DecryptArgs]) error {
	return w.decrypter.Decrypt(ctx, job.Args.Message)
}
