package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// WatchArgs asks to look at what is watched, now and then as long as it is.
type WatchArgs struct {
	Watch int64 `json:"watch"`
}

// Kind names the job.
func (WatchArgs) Kind() string { return "watch" }

// InsertOpts puts it on its queue, once for each watch.
func (WatchArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueHooks, MaxAttempts: 25, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: active()}}
}

// Watcher looks at what is watched. It asks to come back later until the watch is gone.
type Watcher interface {
	Look(ctx context.Context, watch int64) error
}

type watchWorker struct {
	river.WorkerDefaults[WatchArgs]
	watcher Watcher
}

func (w *watchWorker) Timeout(*river.Job[WatchArgs]) time.Duration { return 2 * time.Minute }

func (w *watchWorker) NextRetry(job *river.Job[WatchArgs]) time.Time { return backoff(job.Attempt) }

func (w *watchWorker) Work(ctx context.Context, job *river.Job[WatchArgs]) error {
	return w.watcher.Look(ctx, job.Args.Watch)
}
