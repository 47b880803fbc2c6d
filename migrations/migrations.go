// Package migrations brings a database to the newest schema: ours (goose), River's in schema "river", mautrix' own in
// schema "matrix". It is safe to run from several processes at once.
package migrations

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/sqlstatestore"

	"multis/internal/sleep"
)

// The schemas that libraries keep their own tables in.
const (
	RiverSchema  = "river"
	MatrixSchema = "matrix"
)

// lockID is the advisory lock that keeps two processes from migrating at once. The number is arbitrary.
const lockID = 6_102_250_117

// Run brings the database behind dsn up to date. A statement that needs a table that others use waits a few seconds at a time, so that it
// holds up nobody, and Run returns ErrBusy if it never got the table.
func Run(ctx context.Context, dsn string) error {
	return RunAfter(ctx, dsn, func(context.Context) error { return nil })
}

// RunAfter is like Run, but calls backUp before it changes a database with data, and changes nothing if backUp fails. No
// other process migrates meanwhile.
func RunAfter(ctx context.Context, dsn string, backUp func(context.Context) error) error {
	return withMigrationLock(ctx, dsn, func(pool *pgxpool.Pool) error {
		state, err := Inspect(ctx, pool)
		switch {
		case err != nil:
			return err
		case state == StateRestoring:
			return ErrRestoring
		case state == StateOlder:
			if err := backUp(ctx); err != nil {
				return err
			}
		}
		return runAll(ctx, pool)
	})
}

// withMigrationLock calls fn while no other process migrates.
func withMigrationLock(ctx context.Context, dsn string, fn func(*pgxpool.Pool) error) error {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return fmt.Errorf("read the database address: %w", err)
	}
	cfg.ConnConfig.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTimeout.Milliseconds(), 10)
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("read the database address: %w", err)
	}
	defer pool.Close()

	// The lock ends with this connection, so a killed process never leaves it behind.
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	session := conn.Hijack()
	defer session.Close(context.WithoutCancel(ctx))
	if _, err := session.Exec(ctx, "set lock_timeout = 0"); err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	if _, err := session.Exec(ctx, "select pg_advisory_lock($1)", lockID); err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	return fn(pool)
}

// runAll brings all schemas up to date. The caller holds the lock.
func runAll(ctx context.Context, pool *pgxpool.Pool) error {
	for _, step := range []func(context.Context, *pgxpool.Pool) error{runOurs, runRiver, runFunctions, runMatrix} {
		if err := retryWhileLocked(ctx, func() error { return step(ctx, pool) }); err != nil {
			return err
		}
	}
	return nil
}

// ErrBusy is returned by Run if other sessions kept a table locked that a migration changes. Nothing of that migration was done.
var ErrBusy = errors.New("another session keeps a table locked that a migration changes")

const (
	// lockTimeout is how long a statement of a migration waits for a table. Everybody who wants the table meanwhile waits behind it.
	lockTimeout = 3 * time.Second
	// maxLockTries is how often a migration is tried again, with lockTimeout/2 for the others in between.
	maxLockTries = 30
)

// retryWhileLocked calls step until no lock is in its way. Each migration is a transaction of its own, so a step
// continues after the last one that was committed.
func retryWhileLocked(ctx context.Context, step func() error) error {
	for try := 1; ; try++ {
		err := step()
		var pg *pgconn.PgError
		if !errors.As(err, &pg) || pg.Code != lockNotAvailable {
			return err
		}
		if try == maxLockTries {
			return fmt.Errorf("%w: %w; look for it with: select pid, state, query from pg_stat_activity where xact_start < now() - interval '1 minute'", ErrBusy, err)
		}
		if err := sleep.For(ctx, lockTimeout/2); err != nil {
			return err
		}
	}
}

// lockNotAvailable is Postgres' code for a lock that was not obtained in time.
const lockNotAvailable = "55P03"

func runRiver(ctx context.Context, pool *pgxpool.Pool) error { return runRiverTo(ctx, pool, 0) }

// runRiverTo brings River's tables to a version; 0 is the newest.
func runRiverTo(ctx context.Context, pool *pgxpool.Pool, version int) error {
	if _, err := pool.Exec(ctx, "create schema if not exists "+RiverSchema); err != nil {
		return fmt.Errorf("create schema %s: %w", RiverSchema, err)
	}
	m, err := riverMigrator(pool)
	if err != nil {
		return err
	}
	opts := &rivermigrate.MigrateOpts{TargetVersion: version}
	if version == 0 {
		opts = nil
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, opts); err != nil {
		return fmt.Errorf("migrate the job tables: %w", err)
	}
	return nil
}

func riverMigrator(pool *pgxpool.Pool) (*rivermigrate.Migrator[pgx.Tx], error) {
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: RiverSchema})
	if err != nil {
		return nil, fmt.Errorf("prepare job migrations: %w", err)
	}
	return m, nil
}

// runMatrix brings mautrix' tables for encryption and room state up to date.
func runMatrix(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, "create schema if not exists "+MatrixSchema); err != nil {
		return fmt.Errorf("create schema %s: %w", MatrixSchema, err)
	}
	cfg := pool.Config().ConnConfig
	cfg.RuntimeParams["search_path"] = MatrixSchema
	raw := stdlib.OpenDB(*cfg)
	defer raw.Close()
	db, err := dbutil.NewWithDB(raw, "pgx")
	if err != nil {
		return fmt.Errorf("prepare the tables of encryption: %w", err)
	}
	if err := sqlstatestore.NewSQLStateStore(db, dbutil.NoopLogger, false).Upgrade(ctx); err != nil {
		return fmt.Errorf("migrate the tables of room state: %w", err)
	}
	if err := crypto.NewSQLCryptoStore(db, dbutil.NoopLogger, "", "", nil).DB.Upgrade(ctx); err != nil {
		return fmt.Errorf("migrate the tables of encryption: %w", err)
	}
	return nil
}
