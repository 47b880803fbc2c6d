package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/store"
)

// client is this process in River: it has an id that no other living process has, and holds a Postgres lock on the id while its connection to
// the database lives. If another process gets the lock, this one is dead, and its jobs can be taken over without waiting for a timeout.
type client struct {
	store  *store.Store
	lock   *store.Lock
	number int
	id     string
	// indexMessages makes watch enqueue the indexing of messages.
	indexMessages bool
}

const (
	maxClients    = 64
	watchInterval = 3 * time.Second // interval of watch
	sweepInterval = time.Minute
)

// newClient locks the first free client id.
func newClient(ctx context.Context, st *store.Store) (*client, error) {
	for n := 1; n <= maxClients; n++ {
		lock, ok, err := st.TryLock(ctx, store.LockClient, n)
		if err != nil {
			return nil, err
		}
		if ok {
			return &client{store: st, lock: lock, number: n, id: fmt.Sprintf("multis-%d", n)}, nil
		}
	}
	return nil, fmt.Errorf("%d processes already share this database", maxClients)
}

// takeOver makes the jobs of dead processes available again. own includes jobs that an earlier process left under this client's id; it may only
// be true before this process runs a job.
func (c *client) takeOver(ctx context.Context, own bool) error {
	return c.store.InTx(ctx, func(tx store.Tx) error {
		n, err := store.TakeOverJobs(ctx, tx, c.id, own)
		if err == nil && n > 0 {
			zerolog.Ctx(ctx).Info().Int("jobs", n).Msg("Took over jobs of a dead process")
		}
		return err
	})
}

// watch repeats until ctx ends: it takes over the jobs of dead processes, enqueues the indexing of messages, and sweeps.
func (c *client) watch(ctx context.Context) {
	log := zerolog.Ctx(ctx)
	watch := time.NewTicker(watchInterval)
	defer watch.Stop()
	sweep := time.NewTicker(sweepInterval)
	defer sweep.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-watch.C:
			if err := c.check(ctx); err != nil && ctx.Err() == nil {
				log.Warn().Err(err).Msg("Cannot look for jobs of dead processes")
			}
			if !c.indexMessages {
				continue
			}
			if err := enqueueIndexMessages(ctx, c.store); err != nil && ctx.Err() == nil {
				log.Warn().Err(err).Msg("Cannot look for messages to index")
			}
		case <-sweep.C:
			if err := Sweep(ctx, c.store); err != nil && ctx.Err() == nil {
				log.Warn().Err(err).Msg("Cannot look for work without a job")
			}
		}
	}
}

// check takes over the jobs of dead processes. If the connection that held this process' lock is gone, it takes the lock again first.
func (c *client) check(ctx context.Context) error {
	if !c.lock.Alive(ctx) {
		c.lock.Release(ctx)
		lock, ok, err := c.store.TryLock(ctx, store.LockClient, c.number)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("another process took the client id %s", c.id)
		}
		c.lock = lock
	}
	return c.takeOver(ctx, false)
}
