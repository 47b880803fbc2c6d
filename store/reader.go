package store

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"multis/policy"
)

// Reader reads what a scope names, like the transactions of AsContact and AsOwner, with the same two walls. Each read is a
// transaction of its own, which begins, reads and ends in one round trip.
type Reader struct {
	pool    *pgxpool.Pool
	enter   string
	setting string
}

// ContactReader reads with a contact's rights. A scope with the owner's role is ErrOwnerScope, an empty one policy.ErrNoScope.
func (s *Store) ContactReader(scope policy.Scope) (Reader, error) {
	if scope.Allows(policy.Admin) {
		return Reader{}, ErrOwnerScope
	}
	setting, err := scope.Setting()
	return Reader{s.pool, scopeSQL("$1") + ", set_config('role', '" + s.contactRole + "', true)", setting}, err
}

// OwnerReader reads with the owner's rights in what scope names. An empty scope is policy.ErrNoScope.
func (s *Store) OwnerReader(scope policy.Scope) (Reader, error) {
	setting, err := scope.Setting()
	return Reader{s.pool, scopeSQL("$1"), setting}, err
}

// statement is one of several that are sent together.
type statement struct {
	sql  string
	args []any
}

// send runs statements in one transaction and one round trip. Their results are read in order and closed after.
func (r Reader) send(ctx context.Context, list ...statement) (pgx.BatchResults, error) {
	if r.setting == "" {
		return nil, policy.ErrNoScope
	}
	var batch pgx.Batch
	batch.Queue(r.enter, r.setting)
	for _, s := range list {
		batch.Queue(s.sql, s.args...)
	}
	results := r.pool.SendBatch(ctx, &batch)
	if _, err := results.Exec(); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return results, nil
}

// Query reads rows, which the caller closes.
func (r Reader) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := r.send(ctx, statement{sql, args})
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return &readerRows{Rows: rows, results: results}, nil
}

// QueryRow reads one row.
func (r Reader) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := r.Query(ctx, sql, args...)
	return readerRow{rows, err}
}

// Exec runs a statement.
func (r Reader) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := r.send(ctx, statement{sql, args})
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	return tag, errors.Join(err, results.Close())
}

// readerRows end their transaction and give the connection back after the last row, or when they are closed.
type readerRows struct {
	pgx.Rows

	results pgx.BatchResults
	err     error // how the transaction ended
}

func (r *readerRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *readerRows) Close() {
	r.Rows.Close()
	r.err = cmp.Or(r.err, r.results.Close())
}

func (r *readerRows) Err() error { return cmp.Or(r.Rows.Err(), r.err) }

type readerRow struct {
	rows pgx.Rows
	err  error
}

func (r readerRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
