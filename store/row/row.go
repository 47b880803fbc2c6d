// Package row is what the packages with SQL share: the ids of rows, interfaces to read and write, and functions that read rows into
// structs.
package row

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"multis/policy"
)

// DB runs queries. It is a pool of connections, a transaction or a Reader.
type DB interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Writer runs single statements that read or write. It is a transaction, or writes each statement in a transaction of its own.
type Writer interface {
	DB
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

// Tx is a transaction. A function takes one if what it writes belongs together, or must be committed with something else.
type Tx = pgx.Tx

// ErrNotFound is returned by functions that look for one row when there is none.
var ErrNotFound = errors.New("not found")

// NotFound returns ErrNotFound for pgx.ErrNoRows, and any other error as it is.
func NotFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

// One reads the only row of a query as a T, whose fields have the names of the columns. what names the row in errors. Without a row it
// returns ErrNotFound.
func One[T any](ctx context.Context, db DB, what, sql string, args ...any) (T, error) {
	var row, none T
	err := readOne(ctx, db, what, sql, args, func(r pgx.CollectableRow) (err error) {
		row, err = pgx.RowToStructByName[T](r)
		return err
	})
	if err != nil {
		return none, err
	}
	return row, nil
}

// All reads the rows of a query as Ts, whose fields have the names of the columns. what names the rows in errors.
func All[T any](ctx context.Context, db DB, what, sql string, args ...any) ([]T, error) {
	return rowsTo(ctx, db, what, pgx.RowToStructByName[T], sql, args)
}

// Value reads the only column of the only row of a query. what names it in errors. Without a row it returns ErrNotFound.
func Value[T any](ctx context.Context, db DB, what, sql string, args ...any) (T, error) {
	var v T
	if err := db.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		return v, fmt.Errorf("read %s: %w", what, NotFound(err))
	}
	return v, nil
}

// Values reads the only column of the rows of a query. what names it in errors.
func Values[T any](ctx context.Context, db DB, what, sql string, args ...any) ([]T, error) {
	return rowsTo(ctx, db, what, pgx.RowTo[T], sql, args)
}

func rowsTo[T any](ctx context.Context, db DB, what string, to pgx.RowToFunc[T], sql string, args []any) ([]T, error) {
	all := []T{}
	err := readAll(ctx, db, what, sql, args, func(r pgx.CollectableRow) error {
		row, err := to(r)
		all = append(all, row)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// readOne passes the only row of a query to read. It has no type parameter, and neither has readAll: the compiler would
// make a copy for each of the many types of rows.
func readOne(ctx context.Context, db DB, what, sql string, args []any, read func(pgx.CollectableRow) error) error {
	n := 0
	err := readAll(ctx, db, what, sql, args, func(r pgx.CollectableRow) error {
		if n++; n > 1 {
			return pgx.ErrTooManyRows
		}
		return read(r)
	})
	if err == nil && n == 0 {
		return fmt.Errorf("read %s: %w", what, ErrNotFound)
	}
	return err
}

// readAll passes the rows of a query to read, until that returns an error.
func readAll(ctx context.Context, db DB, what, sql string, args []any, read func(pgx.CollectableRow) error) error {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

// Each passes the rows of a query to fn as Ts, whose fields have the names of the columns, without holding them in
// memory. what names the rows in errors. An error of fn ends it and is returned as it is.
func Each[T any](ctx context.Context, db DB, what, sql string, fn func(T) error, args ...any) error {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	defer rows.Close()
	for rows.Next() {
		v, err := pgx.RowToStructByName[T](rows)
		if err != nil {
			return fmt.Errorf("read %s: %w", what, err)
		}
		if err := fn(v); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read %s: %w", what, err)
	}
	return nil
}

// Exec runs a statement. what says in errors what it does.
func Exec(ctx context.Context, w Writer, what, sql string, args ...any) error {
	_, err := Changed(ctx, w, what, sql, args...)
	return err
}

// Changed runs a statement and returns the number of rows that it changed. what says in errors what it does.
func Changed(ctx context.Context, w Writer, what, sql string, args ...any) (int, error) {
	tag, err := w.Exec(ctx, sql, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", what, err)
	}
	return int(tag.RowsAffected()), nil
}

// Column returns one field of each element, as an array for a query.
func Column[E, T any](list []E, field func(E) T) []T {
	values := make([]T, len(list))
	for i, e := range list {
		values[i] = field(e)
	}
	return values
}

// EmptyIfNil returns an empty slice for a nil one, which a query would take for null.
func EmptyIfNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// SetScope sets the scope of the rest of a transaction: the texts that it can read and write. Use it in a transaction that changes texts
// together with other rows. Code that only reads uses a Reader.
func SetScope(ctx context.Context, tx Tx, scope policy.Scope) error {
	setting, err := scope.Setting()
	if err != nil {
		return err
	}
	return SetScopeSetting(ctx, tx, setting)
}

// SetScopeSetting is SetScope for a scope as Scope.Setting writes it, or for EveryScope.
func SetScopeSetting(ctx context.Context, tx Tx, setting string) error {
	return Exec(ctx, tx, "set scope", ScopeSQL("$1"), setting)
}

// EveryScope is the scope of all roles, for upkeep and for the owner's searches in all chats. The database never grants it to a contact.
const EveryScope = "*"

// ScopeSQL is the statement that sets the scope of the rest of a transaction to value, a parameter or a literal.
func ScopeSQL(value string) string { return "select set_config('multis.scope', " + value + ", true)" }
