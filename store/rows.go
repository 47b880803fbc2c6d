package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// one reads the one row of a query as a T, its columns in the order of T's fields. what names it in errors; no row is
// ErrNotFound.
func one[T any](ctx context.Context, db DB, what, sql string, args ...any) (T, error) {
	var none T
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return none, fmt.Errorf("read %s: %w", what, err)
	}
	row, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return none, fmt.Errorf("read %s: %w", what, notFound(err))
	}
	return row, nil
}

// collect reads all rows of a query as Ts. what names them in errors.
func collect[T any](ctx context.Context, db DB, what, sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return all, nil
}

// scalar reads the one value of a query as a T. what names it in errors; no row is ErrNotFound.
func scalar[T any](ctx context.Context, db DB, what, sql string, args ...any) (T, error) {
	var v T
	if err := db.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		return v, fmt.Errorf("read %s: %w", what, notFound(err))
	}
	return v, nil
}

// scalars reads the one column of a query as Ts. what names them in errors.
func scalars[T any](ctx context.Context, db DB, what, sql string, args ...any) ([]T, error) {
	rows, err := db.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return all, nil
}
