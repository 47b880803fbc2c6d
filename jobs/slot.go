package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/store"
)

// clientID is a client id that this process alone uses: it holds a lock as long as its connection lives. A client id whose
// lock is free belongs to a dead process, and its jobs can be taken over without waiting for a timeout.
type clientID struct {
	store  *store.Store
	lock   *store.Lock
	number int
	id     string
	// indexMessages tells whether what is said is made searchable.
	indexMessages bool
}

const (
	maxClients          = 64
	clientCheckInterval = 3 * time.Second
	sweepInterval       = time.Minute
)

// claimClientID claims the first free client id.
func claimClientID(ctx context.Context, st *store.Store) (*clientID, error) {
	for n := 1; n <= maxClients; n++ {
		lock, ok, err := st.TryLock(ctx, store.LockClient, n)
		if err != nil {
			return nil, err
		}
		if ok {
			return &clientID{store: st, lock: lock, number: n, id: fmt.Sprintf("multis-%d", n)}, nil
		}
	}
	return nil, fmt.Errorf("%d processes already share this database", maxClients)
}

// takeOverAtStart makes the jobs of dead processes available again, and those that an earlier process left under our own client id. It is for the
// start, before any job of ours runs.
func (s *clientID) takeOverAtStart(ctx context.Context) error { return s.takeOver(ctx, true) }

func (s *clientID) takeOver(ctx context.Context, own bool) error {
	return s.store.InTx(ctx, func(tx store.Tx) error {
		n, err := store.TakeOverJobs(ctx, tx, s.id, own)
		if err == nil && n > 0 {
			zerolog.Ctx(ctx).Info().Int("jobs", n).Msg("Took over jobs of a dead process")
		}
		return err
	})
}

// watch looks for dead processes until ctx ends, and takes our own lock again when the database went away and came back.
func (s *clientID) watch(ctx context.Context) {
	tick := time.NewTicker(clientCheckInterval)
	defer tick.Stop()
	look := time.NewTicker(sweepInterval)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.maintain(ctx); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot watch over the jobs")
			}
			if !s.indexMessages {
				continue
			}
			if err := enqueueIndexMessages(ctx, s.store); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look for messages to index")
			}
		case <-look.C:
			if err := Sweep(ctx, s.store); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look for work without a job")
			}
		}
	}
}

func (s *clientID) maintain(ctx context.Context) error {
	if !s.lock.Alive(ctx) {
		s.lock.Release(ctx)
		lock, ok, err := s.store.TryLock(ctx, store.LockClient, s.number)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("another process took the client id %s", s.id)
		}
		s.lock = lock
	}
	return s.takeOver(ctx, false)
}
