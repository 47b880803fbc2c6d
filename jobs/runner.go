package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"multis/migrations"
	"multis/store"
)

// The queues. Work that waits for something slow has a queue of its own, so that nothing else waits behind it.
const (
	queueChat     = "chat"     // turns
	queueAdmin    = "admin"    // commands and notices
	queueAsk      = "ask"      // the owner's questions
	queueChild    = "subtask"  // tasks that other tasks wait for
	queueSend     = "send"     // the outbox
	queueDescribe = "describe" // rooms and history
	queueE2EE     = "e2ee"     // messages that wait for a key
	queueIndex    = "index"    // documents and files
	queueEmbed    = "embed"
	queueModel    = "model"         // captures, summaries and transcriptions
	queueArchive  = "message_index" // the message index
	queueUpkeep   = "upkeep"
	queueHooks    = "hooks" // deliveries and watched pages
	queueMonitor  = "monitor"
	queueTick     = "tick" // schedules that are due
	queueBackup   = "backup"
	queueRun      = "execution" // executions of schedules, exports and forgettings
)

const (
	// maxTurns is how many chats are answered at the same time. A turn waits for its model nearly all the time and has no connection to
	// the database meanwhile, so chats with a slow model do not hold up the others.
	maxTurns = 256
	// fetchInterval is the time between fetches of a queue without a notification. Notifications start the jobs, and
	// client.watch notifies again of those that no process took, so that hardly any are left for a fetch.
	fetchInterval = time.Minute
	// pooledFetchInterval is fetchInterval behind a pooler without notifications.
	pooledFetchInterval = time.Second
	// pooledDueInterval is pooledFetchInterval of the queues where a delay is noticed: reminders, and answers once the
	// contact has been quiet for long enough.
	pooledDueInterval = 100 * time.Millisecond
	// fetchCooldown is the minimum time between two fetches of a queue. It keeps the delay of a new job near 6 ms, and
	// limits the throughput to the number of workers per cooldown.
	fetchCooldown = 10 * time.Millisecond
)

// queues returns the queues. pooled says that the connections of the database get no notifications.
func queues(pooled bool) map[string]river.QueueConfig {
	interval, dueInterval := fetchInterval, fetchInterval
	if pooled {
		interval, dueInterval = pooledFetchInterval, pooledDueInterval
	}
	workers := func(n int) river.QueueConfig { return river.QueueConfig{MaxWorkers: n, FetchPollInterval: interval} }
	return map[string]river.QueueConfig{
		queueChat:     {MaxWorkers: maxTurns, FetchPollInterval: dueInterval},
		queueAdmin:    workers(4),
		queueAsk:      workers(4),
		queueChild:    workers(4),
		queueSend:     workers(8),
		queueDescribe: workers(4),
		queueE2EE:     workers(4),
		queueIndex:    workers(2),
		queueModel:    workers(4),
		queueArchive:  workers(1),
		queueUpkeep:   workers(1),
		queueHooks:    workers(8),
		queueMonitor:  workers(8),
		queueEmbed:    workers(1),
		queueTick:     {MaxWorkers: 8, FetchPollInterval: dueInterval},
		queueRun:      workers(2),
		queueBackup:   workers(1),
	}
}

// driver is River's, whose notifications come over a connection that lasts.
type driver struct {
	*riverpgxv5.Driver

	listening *riverpgxv5.Driver
}

func newDriver(st *store.Store) driver {
	return driver{riverpgxv5.New(st.Pool()), riverpgxv5.New(st.DirectPool())}
}

// GetListener returns what receives the notifications.
func (d driver) GetListener(params *riverdriver.GetListenenerParams) riverdriver.Listener {
	return d.listening.GetListener(params)
}

// Runner does the jobs.
type Runner struct {
	queue  *river.Client[pgx.Tx]
	client *client
}

// NewRunner returns a Runner with a client id that no living process has. River logs to log.
func NewRunner(ctx context.Context, st *store.Store, h Handlers, log *slog.Logger) (*Runner, error) {
	client, err := newClient(ctx, st)
	if err != nil {
		return nil, err
	}
	client.indexMessages = h.IndexMessages != nil
	pooled, err := st.DirectInspector().IsPooled(ctx)
	if err != nil {
		client.lock.Release(ctx)
		return nil, err
	}
	queue, err := river.NewClient(newDriver(st), &river.Config{
		ID: client.id, Schema: migrations.RiverSchema, Logger: slog.New(withoutCancelled{newThrottledHandler(log.Handler())}),
		Workers: h.workers(st), Middleware: []rivertype.Middleware{traceAttempts(), logAttempts(), holdMiddleware(st), withJob()},
		Queues: queues(pooled), PeriodicJobs: periodicJobs(ctx, h),
		FetchCooldown:        fetchCooldown,
		JobTimeout:           h.modelTimeout(),
		RescueStuckJobsAfter: max(10*time.Minute, h.modelTimeout()+4*time.Minute),
		SoftStopTimeout:      20 * time.Second,
	})
	if err != nil {
		client.lock.Release(ctx)
		return nil, fmt.Errorf("prepare jobs: %w", err)
	}
	return &Runner{queue: queue, client: client}, nil
}

// ShowConfig shows other processes and the doctor with which configuration this process runs.
func (r *Runner) ShowConfig(ctx context.Context, fingerprint, version string) error {
	r.client.fingerprint, r.client.version = fingerprint, version
	return r.client.lock.ShowConfig(ctx, fingerprint, version)
}

// Run does jobs until ctx ends, and then waits for those that run. The jobs of a dead process are taken over at once.
func (r *Runner) Run(ctx context.Context) error {
	defer func() { r.client.lock.Release(ctx) }()
	if err := r.client.takeOver(ctx, true); err != nil {
		return err
	}
	if err := Sweep(ctx, r.client.store); err != nil {
		return err
	}
	if err := r.queue.Start(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("start jobs: %w", err)
	}
	r.client.watch(ctx)
	if err := r.queue.Stop(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("stop jobs: %w", err)
	}
	return nil
}
