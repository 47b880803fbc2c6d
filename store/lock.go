package store

import (
	"context"
	"fmt"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"multis/store/row"
)

// LockClass is what an advisory lock protects. The numbers are arbitrary but fixed.
type LockClass int32

// The classes of locks.
const (
	LockClient LockClass = 1_299_542_121 // a client id of the job queue
	LockSync   LockClass = 1_299_542_122 // the owner's sync
	LockRoom   LockClass = 1_299_542_124 // the description of a room; by LockNumber of its id
	LockSetup  LockClass = 1_299_542_123 // the creation of devices and the admin room
	// LockScheduled is for work on schedules: one at a time.
	LockScheduled LockClass = 1_299_542_125
	// LockBackup is for making a backup: one at a time.
	LockBackup LockClass = 1_299_542_126
)

// LockNumber returns the number of a lock for a name. Two names may have the same number: then they exclude each other.
func LockNumber(name string) int {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int(int32(h.Sum32())) //nolint:gosec // a lock has 32 bits, whatever they mean
}

// Lock is an advisory lock of this process. It lasts as long as its connection to the database, so a killed process releases it at once.
type Lock struct {
	mu   sync.Mutex // a connection serves one caller at a time
	conn *pgx.Conn
}

// TryLock takes lock n of a class. It returns a nil lock and false while another process has it.
func (s *Store) TryLock(ctx context.Context, class LockClass, n int) (lock *Lock, ok bool, err error) {
	pooled, err := s.direct.Acquire(ctx)
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

// listenSQL subscribes to the jobs that will be due later: see the function notify_of_job in migrations.
const listenSQL = `listen "multis.due"`

// ListenForJobs makes Await return when a job is stored that will be due later.
func (l *Lock) ListenForJobs(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.conn.Exec(ctx, listenSQL); err != nil {
		return fmt.Errorf("listen for jobs: %w", err)
	}
	return nil
}

// ShowConfig names the connection after the configuration of this process, for ConfigsInUse.
func (l *Lock) ShowConfig(ctx context.Context, fingerprint, version string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := configPrefix + fingerprint + " " + strings.ReplaceAll(version, " ", "_")
	if _, err := l.conn.Exec(ctx, "select set_config('application_name', $1, false)", name); err != nil {
		return fmt.Errorf("name the connection: %w", err)
	}
	return nil
}

// configPrefix begins the names of connections that show a configuration.
const configPrefix = "multis config "

const configsInUseSQL = `select coalesce(max(configs), 0)::int from (
	select count(distinct split_part(application_name, ' ', 3)) as configs from pg_stat_activity
	where datname = current_database() and starts_with(application_name, '` + configPrefix +
	`') group by split_part(application_name, ' ', 4)) of_a_version`

// ConfigsInUse returns how many different configurations the running processes of one version have: of the version with
// the most, because the keys differ between versions.
func ConfigsInUse(ctx context.Context, db DB) (int, error) {
	return row.Value[int](ctx, db, "configurations in use", configsInUseSQL)
}

// Await waits for a notification, but no longer than limit. It returns an error if ctx ends, or if the connection and
// with it the lock is lost.
func (l *Lock) Await(ctx context.Context, limit time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_, err := l.conn.WaitForNotification(waiting)
	if waiting.Err() != nil && !l.conn.IsClosed() {
		return ctx.Err()
	}
	return err
}

// IsOpen reports whether the connection of the lock is not known to be broken. Unlike Alive, it sends nothing to the server.
func (l *Lock) IsOpen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.conn.IsClosed()
}

// Alive reports whether the lock is still held. It is lost with the connection.
func (l *Lock) Alive(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.conn.IsClosed() && l.conn.Ping(ctx) == nil
}

// Release releases the lock. It is free when Release returns, unless the connection is broken: Postgres notices the end
// of a connection a little later.
func (l *Lock) Release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.conn.Exec(ctx, "select pg_advisory_unlock_all()") // if it fails, the lock ends with the connection
	l.conn.Close(ctx)
}

// releaseTimeout limits how long Release waits for a connection that does not answer.
const releaseTimeout = 5 * time.Second
