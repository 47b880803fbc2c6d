// Package migrations brings a database to the newest schema: ours (goose), River's in schema "river", mautrix' own in
// schema "matrix". It is safe to run from several processes at once.
package migrations

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"go.mau.fi/util/dbutil"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/sqlstatestore"
)

// The schemas that libraries keep their own tables in.
const (
	RiverSchema  = "river"
	MatrixSchema = "matrix"
)

// lockID is the advisory lock that keeps two processes from migrating at once. The number is arbitrary.
const lockID = 6_102_250_117

// Run brings the database behind dsn up to date.
func Run(ctx context.Context, dsn string) error {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return fmt.Errorf("read the database address: %w", err)
	}
	defer pool.Close()

	// The lock lives and dies with this connection, so a killed process never leaves it behind.
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	session := conn.Hijack()
	defer session.Close(context.WithoutCancel(ctx))
	if _, err := session.Exec(ctx, "select pg_advisory_lock($1)", lockID); err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	if err := runOurs(ctx, pool); err != nil {
		return err
	}
	if err := runRiver(ctx, pool); err != nil {
		return err
	}
	return runMatrix(ctx, pool)
}

func runRiver(ctx context.Context, pool *pgxpool.Pool) error {
	if _, err := pool.Exec(ctx, "create schema if not exists "+RiverSchema); err != nil {
		return fmt.Errorf("create schema %s: %w", RiverSchema, err)
	}
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: RiverSchema})
	if err != nil {
		return fmt.Errorf("prepare job migrations: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate the job tables: %w", err)
	}
	return nil
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
