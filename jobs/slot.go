package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"multis/store"
)

// slot is a client id that this process alone uses: it holds a lock as long as its connection lives. A client id whose
// lock is free belongs to a dead process, and its jobs can be taken over without waiting for a timeout.
type slot struct {
	store *store.Store
	lock  *store.Lock
	num   int
	id    string
	// archives tells whether what is said is made searchable.
	archives bool
}

const (
	slots     = 64
	watchTime = 3 * time.Second
	sweepTime = time.Minute
)

// takeSlot claims the first free client id.
func takeSlot(ctx context.Context, st *store.Store) (*slot, error) {
	for n := 1; n <= slots; n++ {
		lock, ok, err := st.TryLock(ctx, store.LockClient, n)
		if err != nil {
			return nil, err
		}
		if ok {
			return &slot{store: st, lock: lock, num: n, id: fmt.Sprintf("multis-%d", n)}, nil
		}
	}
	return nil, fmt.Errorf("%d processes already share this database", slots)
}

const adoptSQL = `with dead as (
		select distinct split_part(client, '-', 2)::int as num, client
		from (select attempted_by[array_upper(attempted_by, 1)] as client from river.river_job where state = 'running'
			union select leader_id from river.river_leader) c
		where client ~ '^multis-[0-9]+$' and client <> $1 or client = $2),
	gone as materialized (select num, client from dead where client = $2 or not exists (
		select from pg_locks l where l.locktype = 'advisory' and l.classid = $3 and l.objid = dead.num and l.granted
			and l.database = (select oid from pg_database where datname = current_database()))),
	led as (delete from river.river_leader where leader_id in (select client from gone) returning leader_id),
	told as (select led.leader_id from led cross join lateral
		pg_notify('river.river_leadership', json_build_object('leader_id', led.leader_id, 'action', 'resigned')::text)),
	taken as (update river.river_job set state = 'available', scheduled_at = now(), attempt = greatest(attempt - 1, 0)
		where state = 'running' and attempted_by[array_upper(attempted_by, 1)] in (select client from gone) returning id),
	freed as (update chats set locked_by = '', locked_until = '-infinity' where split_part(locked_by, '.', 1) in (select id::text from taken))
	select count(*) from taken where (select count(*) from told) >= 0`

// adopt puts back the jobs of dead processes, and at start those that an earlier process left under our own id. The chats
// that such a job held are free at once; should its process be alive after all, it finds its lease gone and writes nothing.
// Who follows a dead leader is told at once, as if it had resigned: the queue itself looks every five seconds only.
func (s *slot) adopt(ctx context.Context) error { return s.takeOver(ctx, s.id) }

func (s *slot) takeOver(ctx context.Context, own string) error {
	var n int
	if err := s.store.DB().QueryRow(ctx, adoptSQL, s.id, own, int32(store.LockClient)).Scan(&n); err != nil {
		return fmt.Errorf("take over jobs of dead processes: %w", err)
	}
	if n > 0 {
		zerolog.Ctx(ctx).Info().Int("jobs", n).Msg("Took over jobs of a dead process")
	}
	return nil
}

// watch looks for dead processes until ctx ends, and takes our own lock again when the database went away and came back.
func (s *slot) watch(ctx context.Context) {
	tick := time.NewTicker(watchTime)
	defer tick.Stop()
	look := time.NewTicker(sweepTime)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := s.keep(ctx); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot watch over the jobs")
			}
			if !s.archives {
				continue
			}
			if err := archive(ctx, s.store); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look for messages to index")
			}
		case <-look.C:
			if err := Sweep(ctx, s.store); err != nil && ctx.Err() == nil {
				zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot look for work without a job")
			}
		}
	}
}

func (s *slot) keep(ctx context.Context) error {
	if !s.lock.Alive(ctx) {
		s.lock.Release(ctx)
		lock, ok, err := s.store.TryLock(ctx, store.LockClient, s.num)
		if err != nil {
			return err
		}
		if !ok {
			return fmt.Errorf("another process took the client id %s", s.id)
		}
		s.lock = lock
	}
	return s.takeOver(ctx, "")
}
