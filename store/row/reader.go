package row

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"multis/policy"
)

// Reader reads the texts of a scope. Each read is a read-only transaction of its own, which begins, reads and ends in one round trip. The
// zero Reader returns policy.ErrNoScope.
type Reader struct{ s session }

// NewReader returns a Reader of what scope names, with the rights of a role of the database. An empty role means the
// rights of the pool. An empty scope is policy.ErrNoScope.
func NewReader(pool *pgxpool.Pool, scope policy.Scope, role string) (Reader, error) {
	setting, err := scope.Setting()
	if err != nil {
		return Reader{}, err
	}
	begin := ScopeSQL("$1") + ", set_config('transaction_read_only', 'on', true)"
	if role != "" {
		begin += ", set_config('role', '" + role + "', true)"
	}
	return Reader{session{pool, begin, setting}}, nil
}

// Query reads rows, which the caller closes.
func (r Reader) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return r.s.query(ctx, Statement{sql, args})
}

// QueryRow reads one row.
func (r Reader) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := r.s.query(ctx, Statement{sql, args})
	return sessionRow{rows, err}
}

// QueryAll reads with several statements in one transaction and one round trip. The caller reads their results in order, and closes them
// after.
func (r Reader) QueryAll(ctx context.Context, list ...Statement) (pgx.BatchResults, error) {
	return r.s.send(ctx, list...)
}

// NewAsyncCommit returns a Writer whose commits do not wait for the disk. What it writes is visible to all at once, but
// if the database's machine stops, the last half second may be lost. Commits reach the disk in their order, so all of it
// is on the disk as soon as a later transaction is. Use it to record the progress of work that is repeated if the record
// is lost.
func NewAsyncCommit(pool *pgxpool.Pool) Writer {
	return asyncWriter{session{pool, "select " + asyncCommitSQL("$1"), "off"}}
}

// NewScopedAsyncCommit is NewAsyncCommit for the texts of a scope. An empty scope is policy.ErrNoScope.
func NewScopedAsyncCommit(pool *pgxpool.Pool, scope policy.Scope) (Writer, error) {
	setting, err := scope.Setting()
	if err != nil {
		return nil, err
	}
	return asyncWriter{session{pool, ScopeSQL("$1") + ", " + asyncCommitSQL("'off'"), setting}}, nil
}

func asyncCommitSQL(value string) string {
	return "set_config('synchronous_commit', " + value + ", true)"
}

type asyncWriter struct{ s session }

func (l asyncWriter) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return l.s.query(ctx, Statement{sql, args})
}

func (l asyncWriter) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := l.s.query(ctx, Statement{sql, args})
	return sessionRow{rows, err}
}

func (l asyncWriter) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := l.s.send(ctx, Statement{sql, args})
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	return tag, errors.Join(err, results.Close())
}

// Statement is an SQL statement with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

// session runs statements in transactions of one round trip. Each transaction begins with the statement begin, whose argument is arg.
type session struct {
	pool  *pgxpool.Pool
	begin string
	arg   string
}

func (s session) send(ctx context.Context, list ...Statement) (pgx.BatchResults, error) {
	if s.arg == "" {
		return nil, policy.ErrNoScope
	}
	var batch pgx.Batch
	batch.Queue(s.begin, s.arg)
	for _, st := range list {
		batch.Queue(st.SQL, st.Args...)
	}
	results := s.pool.SendBatch(ctx, &batch)
	if _, err := results.Exec(); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return results, nil
}

func (s session) query(ctx context.Context, st Statement) (pgx.Rows, error) {
	results, err := s.send(ctx, st)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return &sessionRows{Rows: rows, results: results}, nil
}

// sessionRows end their transaction and return the connection after the last row, or when they are closed.
type sessionRows struct {
	pgx.Rows

	results pgx.BatchResults
	err     error // how the transaction ended
}

func (r *sessionRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.Close()
	return false
}

func (r *sessionRows) Close() {
	r.Rows.Close()
	r.err = cmp.Or(r.err, r.results.Close())
}

func (r *sessionRows) Err() error { return cmp.Or(r.Rows.Err(), r.err) }

type sessionRow struct {
	rows pgx.Rows
	err  error
}

func (r sessionRow) Scan(dest ...any) error {
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
