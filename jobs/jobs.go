// Package jobs is the work that outlives a crash: one file a kind of job, with its arguments and its worker. It holds no
// business; each worker calls the one method it names.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"multis/migrations"
	"multis/store"
)

// The queues. Commands never wait behind answers, and one slow room never holds up a send.
const (
	queueChat     = "chat"
	queueAdmin    = "admin"
	queueAsk      = "ask"
	queueChild    = "child"
	queueSend     = "send"
	queueDescribe = "describe"
	queueE2EE     = "e2ee"
	queueIndex    = "index"
	queueEmbed    = "embed"
	queueModel    = "model"
	queueArchive  = "archive"
	queueUpkeep   = "upkeep"
	queueHooks    = "hooks"
	queueTick     = "tick"
	queueRun      = "run"
)

// Args is what a job carries: ids, never text.
type Args interface{ river.JobArgs }

// insertClient is the client that writes jobs; it holds no state but the schema's name.
var insertClient = sync.OnceValues(func() (*river.Client[pgx.Tx], error) {
	return river.NewClient(riverpgxv5.New(nil), &river.Config{Schema: migrations.RiverSchema})
})

// Enqueue inserts jobs in the transaction that makes them needed.
func Enqueue(ctx context.Context, tx store.Tx, args ...Args) error {
	client, err := insertClient()
	if err != nil {
		return fmt.Errorf("prepare job: %w", err)
	}
	params := make([]river.InsertManyParams, len(args))
	for i, a := range args {
		params[i] = river.InsertManyParams{Args: a}
	}
	if len(params) == 0 {
		return nil
	}
	if _, err := client.InsertManyTx(ctx, tx, params); err != nil {
		return fmt.Errorf("insert job: %w", err)
	}
	return nil
}

// Later makes a worker's method come back after d without counting as a failure.
func Later(d time.Duration) error { return river.JobSnooze(d) }

// IsLater tells whether err only asks to come back later.
func IsLater(err error) bool {
	var snooze *river.JobSnoozeError
	return errors.As(err, &snooze)
}

// Final marks err as one that no further attempt mends.
func Final(err error) error { return river.JobCancel(err) }

// IsFinal tells whether err was marked by Final.
func IsFinal(err error) bool {
	var cancel *river.JobCancelError
	return errors.As(err, &cancel)
}

// Cause is err without the mark of Final, as it is told to people.
func Cause(err error) error {
	if cancel, ok := errors.AsType[*river.JobCancelError](err); ok {
		if cause := cancel.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}

// maxTurns is how many chats are answered at once. Nearly all the time of a turn is the model's, while it holds no connection
// to the database: so chats whose model is slow leave room for the others.
const maxTurns = 256

// duePoll is how often the queue looks for what became due, of which nobody tells it: about as late as that are reminders, and answers
// to a contact who has been quiet for long enough.
const duePoll = 100 * time.Millisecond

// Runner works the jobs off.
type Runner struct {
	client *river.Client[pgx.Tx]
	slot   *clientID
}

// NewRunner prepares a runner under a client id that no living process uses. Start begins the work.
func NewRunner(ctx context.Context, st *store.Store, h Handlers, log *slog.Logger) (*Runner, error) {
	slot, err := claimClientID(ctx, st)
	if err != nil {
		return nil, err
	}
	// Throughput is workers / cooldown; 10 ms keeps the time from insert to work near 6 ms.
	queue := func(n int) river.QueueConfig { return river.QueueConfig{MaxWorkers: n} }
	client, err := river.NewClient(riverpgxv5.New(st.Pool()), &river.Config{
		ID: slot.id, Schema: migrations.RiverSchema, Logger: slog.New(quietShutdown{log.Handler()}), Workers: h.workers(st), Middleware: []rivertype.Middleware{logAttempts(), rememberJob()},
		Queues: map[string]river.QueueConfig{
			queueChat:     {MaxWorkers: maxTurns, FetchPollInterval: duePoll},
			queueAdmin:    queue(4),
			queueAsk:      queue(4),
			queueChild:    queue(4),
			queueSend:     queue(8),
			queueDescribe: queue(4),
			queueE2EE:     queue(4),
			queueIndex:    queue(2),
			queueModel:    queue(4),
			queueArchive:  queue(1),
			queueUpkeep:   queue(1),
			queueHooks:    queue(8),
			queueEmbed:    queue(1),
			queueTick:     {MaxWorkers: 8, FetchPollInterval: duePoll},
			queueRun:      queue(2),
		},
		PeriodicJobs:  periodicJobs(),
		FetchCooldown: 10 * time.Millisecond, FetchPollInterval: time.Second,
		JobTimeout: modelTimeout, RescueStuckJobsAfter: 10 * time.Minute, SoftStopTimeout: 20 * time.Second,
	})
	if err != nil {
		slot.lock.Release(ctx)
		return nil, fmt.Errorf("prepare jobs: %w", err)
	}
	slot.indexMessages = h.IndexMessages != nil
	return &Runner{client: client, slot: slot}, nil
}

// Run works until ctx ends, then waits for the running jobs. Jobs that a dead process left behind are taken over at
// once and whenever another dies.
func (r *Runner) Run(ctx context.Context) error {
	defer func() { r.slot.lock.Release(ctx) }()
	if err := r.slot.takeOverAtStart(ctx); err != nil {
		return err
	}
	if err := Sweep(ctx, r.slot.store); err != nil {
		return err
	}
	if err := r.client.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	r.slot.watch(ctx)
	if err := r.client.Stop(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("stop jobs: %w", err)
	}
	return nil
}
