package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"

	"github.com/jackc/pgx/v5"
)

// LockClass says what an advisory lock guards. The numbers are arbitrary but fixed.
type LockClass int32

// The classes of locks.
const (
	LockClient LockClass = 1_299_542_121 // a client id of the job queue
	LockSync   LockClass = 1_299_542_122 // the owner's sync
	LockRoom   LockClass = 1_299_542_124 // a look at what a room is; by LockNumber of the room
	LockSetup  LockClass = 1_299_542_123 // making devices and the admin room
	// LockUnattended is held while the assistant works by the clock: one at a time.
	LockUnattended LockClass = 1_299_542_125
)

// LockNumber turns a name into the number of a lock. Two names may share one: then they wait for each other.
func LockNumber(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(int32(h.Sum32())) //nolint:gosec // a lock has 32 bits, whatever they mean
}

// Lock is held by this process alone, as long as its connection to the database lives: a killed process lets go at once.
type Lock struct {
	mu   sync.Mutex // a connection serves one caller at a time
	conn *pgx.Conn
}

// TryLock takes lock n of a class. ok is false, and the lock nil, when another process holds it.
func (s *Store) TryLock(ctx context.Context, class LockClass, n int) (lock *Lock, ok bool, err error) {
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("connect to the database: %w", err)
	}
	lock = &Lock{conn: pooled.Hijack()}
	if err := lock.conn.QueryRow(ctx, "select pg_try_advisory_lock($1, $2)", int32(class), n).Scan(&ok); err != nil {
		lock.Release(ctx)
		return nil, false, fmt.Errorf("take lock: %w", err)
	}
	if !ok {
		lock.Release(ctx)
		return nil, false, nil
	}
	return lock, true, nil
}

// Alive tells whether the lock is still held: the database may have gone away and let it go.
func (l *Lock) Alive(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.conn.IsClosed() && l.conn.Ping(ctx) == nil
}

// Release lets go.
func (l *Lock) Release(ctx context.Context) { l.conn.Close(context.WithoutCancel(ctx)) }
