package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options say how a Store connects. The zero value is DefaultConnections at most, to Postgres itself.
type Options struct {
	// Direct is the address of Postgres itself, for a Store whose other address is a pooler's that gives each transaction another
	// connection. Locks, notifications and the tables of encryption need connections that last.
	Direct string
	// Connections limits how many connections are open at the same time. Zero means DefaultConnections. pool_max_conns in the address
	// counts instead of it.
	Connections int
}

const (
	// DefaultConnections is the maximum number of connections of a Store that is told no other. A turn that waits for its model has none.
	DefaultConnections = 20
	// MinConnections is the smallest maximum of a Store. Work that waits for a connection must find one that other work gives back.
	MinConnections = 4
	// LastingConnections is how many connections a process has at most for its locks, notifications and the tables of encryption. They are
	// open beside Options.Connections.
	LastingConnections = 4 + maxMatrixConns
)

// ErrOtherDatabase is returned by OpenWith if Options.Direct is the address of another database.
var ErrOtherDatabase = errors.New("database.direct is the address of another database than database.url")

// Open connects to dsn and checks that row-level security applies to the login role. The database must have been migrated.
func Open(ctx context.Context, dsn string) (*Store, error) { return OpenWith(ctx, dsn, Options{}) }

// OpenWith is Open with options.
func OpenWith(ctx context.Context, dsn string, o Options) (*Store, error) {
	pool, err := openPool(ctx, dsn, o)
	if err != nil {
		return nil, err
	}
	s, err := New(ctx, pool)
	if err == nil && o.Direct != "" {
		err = s.openDirect(ctx, o.Direct)
	}
	if err != nil {
		pool.Close()
		return nil, err
	}
	return s, nil
}

// openPool opens the pool of the transactions.
func openPool(ctx context.Context, dsn string, o Options) (*pgxpool.Pool, error) {
	cfg, err := poolConfig(dsn)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = int32(o.Connections) //nolint:gosec // a small number
		if o.Connections == 0 {
			cfg.MaxConns = DefaultConnections
		}
	}
	if cfg.MaxConns < MinConnections {
		return nil, fmt.Errorf("database.url: pool_max_conns is %d, and multis needs at least %d", cfg.MaxConns, MinConnections)
	}
	if o.Direct != "" {
		setPooledMode(cfg, dsn)
	}
	return connectPool(ctx, cfg)
}

// setPooledMode makes a configuration work behind a pooler: the connection of a transaction does not know the statements that an earlier
// one has prepared. An address can say otherwise, for a pooler that knows prepared statements.
func setPooledMode(cfg *pgxpool.Config, dsn string) {
	if !strings.Contains(dsn, "default_query_exec_mode") {
		cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
}

// openDirect opens the pool of the connections that last.
func (s *Store) openDirect(ctx context.Context, dsn string) error {
	cfg, err := poolConfig(dsn)
	if err != nil {
		return err
	}
	if s.direct, err = connectPool(ctx, cfg); err != nil {
		return err
	}
	here, err := identify(ctx, s.pool)
	if err != nil {
		return err
	}
	there, err := identify(ctx, s.direct)
	if err == nil && here != there {
		err = ErrOtherDatabase
	}
	if err != nil {
		s.direct.Close()
	}
	return err
}

// identity is what no two databases have in common.
type identity struct {
	Started time.Time // its server
	ID      uint32    // in its server
}

const identitySQL = "select pg_postmaster_start_time(), oid from pg_database where datname = current_database()"

func identify(ctx context.Context, pool *pgxpool.Pool) (identity, error) {
	var i identity
	if err := pool.QueryRow(ctx, identitySQL).Scan(&i.Started, &i.ID); err != nil {
		return i, fmt.Errorf("identify the database: %w", err)
	}
	return i, nil
}

// poolConfig reads an address. A pooler accepts no parameter of the start but a few such as the name.
func poolConfig(dsn string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = "multis"
	cfg.ConnConfig.Tracer = tracer{}
	// The first searches of a connection take up to half as long again, because the kernel maps the index for it page by page.
	if !strings.Contains(dsn, "pool_max_conn_lifetime") {
		cfg.MaxConnLifetime = 24 * time.Hour
	}
	return cfg, nil
}

func connectPool(ctx context.Context, cfg *pgxpool.Config) (*pgxpool.Pool, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	return pool, nil
}
