package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/internal/sleep"
	"multis/store"
)

// client is this process in River: it has an id that no other living process has, and holds a Postgres lock on the id
// while its connection to the database lives. If another process gets the lock, this one is dead, and its jobs can be
// taken over without waiting for a timeout.
type client struct {
	store  *store.Store
	lock   *store.Lock
	number int
	id     string
	// indexMessages makes watch enqueue the indexing of messages.
	indexMessages bool
	// fingerprint and version are what ShowConfig showed; empty before.
	fingerprint, version string
}

const (
	maxClients    = 64
	watchInterval = 3 * time.Second // maximum time between two polls of watch
	sweepInterval = time.Minute
)

// newClient locks the first free client id.
func newClient(ctx context.Context, st *store.Store) (*client, error) {
	for n := 1; n <= maxClients; n++ {
		c := &client{store: st, number: n, id: fmt.Sprintf("multis-%d", n)}
		if ok, err := c.takeLock(ctx); ok || err != nil {
			return c, err
		}
	}
	return nil, fmt.Errorf("%d processes already share this database", maxClients)
}

// takeLock takes the lock of the client id and listens for jobs on its connection. It returns false while another process has it.
func (c *client) takeLock(ctx context.Context) (bool, error) {
	lock, ok, err := c.store.TryLock(ctx, store.LockClient, c.number)
	if err != nil {
		return false, err
	}
	if !ok {
		return false, nil
	}
	if err := lock.ListenForJobs(ctx); err != nil {
		lock.Release(ctx)
		return false, err
	}
	c.lock = lock
	if c.fingerprint == "" {
		return true, nil
	}
	return true, lock.ShowConfig(ctx, c.fingerprint, c.version)
}

// takeOver makes the jobs of dead processes available again. own includes jobs that an earlier process left under this
// client's id; it may only be true before this process runs a job.
func (c *client) takeOver(ctx context.Context, own bool) error {
	return c.store.InTx(ctx, func(tx store.Tx) error {
		n, err := store.TakeOverJobs(ctx, tx, c.id, own)
		if err == nil && n > 0 {
			zerolog.Ctx(ctx).Info().Int("jobs", n).Msg("Took over jobs of a dead process")
		}
		return err
	})
}

// watch polls the queue until ctx ends: when the next job is due, when it is notified of a later one, and at least every
// watchInterval. Once a minute it sweeps.
func (c *client) watch(ctx context.Context) {
	log := zerolog.Ctx(ctx)
	for sweep := time.Now().Add(sweepInterval); ctx.Err() == nil; {
		wait, err := c.pollQueue(ctx)
		if err == nil {
			err = c.lock.Await(ctx, wait)
		}
		if err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg("Cannot look at the job queue")
			_ = sleep.For(ctx, watchInterval)
		}
		if time.Now().Before(sweep) {
			continue
		}
		sweep = time.Now().Add(sweepInterval)
		if err := Sweep(ctx, c.store); err != nil && ctx.Err() == nil {
			log.Warn().Err(err).Msg("Cannot look for work without a job")
		}
	}
}

// pollQueue starts the jobs that are due, takes over those of dead processes, and enqueues the indexing of messages. It
// returns how long to wait before the next poll. If the connection that held this process' lock is gone, it takes the
// lock again first.
func (c *client) pollQueue(ctx context.Context) (time.Duration, error) {
	if !c.lock.IsOpen() {
		switch ok, err := c.takeLock(ctx); {
		case err != nil:
			return 0, err
		case !ok:
			return 0, fmt.Errorf("another process took the client id %s", c.id)
		}
	}
	state, err := store.PollQueue(ctx, c.lock, c.id)
	if err != nil {
		return 0, err
	}
	if state.HasAbandonedJobs {
		if err := c.takeOver(ctx, false); err != nil {
			return 0, err
		}
	}
	if state.HasUnindexedMessages && c.indexMessages {
		if err := c.store.InTx(ctx, func(tx store.Tx) error { return Enqueue(ctx, tx, IndexMessagesArgs{}) }); err != nil {
			return 0, err
		}
	}
	if state.NextDue == nil {
		return watchInterval, nil
	}
	return min(max(*state.NextDue, 0), watchInterval), nil
}
