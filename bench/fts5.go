package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	_ "github.com/mattn/go-sqlite3" // the driver
)

// fts holds the same passages in SQLite's FTS5.
type fts struct {
	db *sql.DB
}

// ftsRow is a passage; scope is the role that owns it.
type ftsRow struct {
	id          int64
	scope, body string
}

// openFTS opens or creates the index in a file, with a page cache of the size of a server's.
func openFTS(path string) (*fts, error) {
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=WAL&_synchronous=NORMAL&_cache_size=-500000")
	if err != nil {
		return nil, fmt.Errorf("open SQLite: %w", err)
	}
	if _, err := db.Exec("pragma mmap_size=4000000000; create virtual table if not exists f using fts5(scope unindexed, body, tokenize='porter unicode61')"); err != nil {
		db.Close()
		return nil, fmt.Errorf("make the FTS5 table (build with -tags sqlite_fts5): %w", err)
	}
	return &fts{db}, nil
}

func (f *fts) close() { f.db.Close() }

// last returns the number of the newest passage.
func (f *fts) last(ctx context.Context) (id int64, err error) {
	if err := f.db.QueryRowContext(ctx, "select coalesce(max(rowid), 0) from f").Scan(&id); err != nil {
		return 0, fmt.Errorf("read from SQLite: %w", err)
	}
	return id, nil
}

func (f *fts) add(ctx context.Context, rows []ftsRow) (err error) {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin in SQLite: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	insert, err := tx.PrepareContext(ctx, "insert into f (rowid, scope, body) values (?, ?, ?)")
	if err != nil {
		return fmt.Errorf("prepare in SQLite: %w", err)
	}
	defer insert.Close()
	for _, r := range rows {
		if _, err := insert.ExecContext(ctx, r.id, r.scope, r.body); err != nil {
			return fmt.Errorf("insert into SQLite: %w", err)
		}
	}
	return tx.Commit()
}

// find returns the ten best passages that contain one of the words. Without scopes it searches all.
func (f *fts) find(ctx context.Context, words, scopes []string) ([]int64, error) {
	if len(words) == 0 {
		return nil, nil
	}
	query, args := "select rowid, body from f where f match ?", []any{`"` + strings.Join(words, `" OR "`) + `"`}
	if len(scopes) > 0 {
		query += " and scope in (?" + strings.Repeat(", ?", len(scopes)-1) + ")"
		for _, s := range scopes {
			args = append(args, s)
		}
	}
	rows, err := f.db.QueryContext(ctx, query+" order by rank limit 10", args...)
	if err != nil {
		return nil, fmt.Errorf("search in SQLite: %w", err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		var body string
		if err := rows.Scan(&id, &body); err != nil {
			return nil, fmt.Errorf("read from SQLite: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
