package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"multis/migrations"
	"multis/store"
	"multis/store/index"
	"multis/store/pgserver"
)

// database is a private Postgres server on a socket. close removes it unless it is kept.
type database struct {
	*store.Store

	dir    string
	kept   bool // not removed at the end
	server *pgserver.Server
}

// options configure openDatabase. The zero value is a new database with fsync that close removes.
type options struct {
	dir       string // the folder of a database to keep; one that is there already is opened
	throwaway bool   // disables fsync
	settings  map[string]string
}

// openDatabase starts the server with the given settings and migrates the database.
func openDatabase(ctx context.Context, o options) (_ *database, err error) {
	db := &database{dir: o.dir, kept: o.dir != ""}
	if db.kept {
		err = os.MkdirAll(db.dir, 0o755) //nolint:gosec // the server runs as another user
	} else {
		db.dir, err = os.MkdirTemp("", "multis-bench")
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder: %w", err)
	}
	defer func() {
		if err != nil {
			db.close()
		}
	}()
	if err := os.Chmod(db.dir, 0o755); err != nil { //nolint:gosec // the server runs as another user
		return nil, fmt.Errorf("open the folder: %w", err)
	}
	server := pgserver.Options{Dir: db.dir + "/pg", Throwaway: o.throwaway}
	if db.server, err = pgserver.Start(ctx, server); err != nil {
		return nil, err
	}
	if len(o.settings) > 0 {
		if err := db.configure(ctx, o.settings); err != nil {
			return nil, err
		}
		if err := db.server.Stop(); err != nil {
			return nil, err
		}
		if db.server, err = pgserver.Start(ctx, server); err != nil {
			return nil, err
		}
	}
	dsn, err := db.server.EnsureDatabase(ctx, "multis", "multis")
	if err != nil {
		return nil, err
	}
	if err := migrations.Run(ctx, dsn); err != nil {
		return nil, err
	}
	db.Store, err = store.Open(ctx, dsn)
	return db, err
}

func (db *database) configure(ctx context.Context, settings map[string]string) error {
	conn, err := pgx.Connect(ctx, db.server.SuperDSN("postgres"))
	if err != nil {
		return fmt.Errorf("connect to Postgres: %w", err)
	}
	defer conn.Close(ctx)
	for name, value := range settings {
		if _, err := conn.Exec(ctx, "alter system set "+name+" = '"+value+"'"); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}

func (db *database) close() {
	if db.Store != nil {
		db.Store.Close()
	}
	if db.server != nil {
		if err := db.server.Stop(); err != nil {
			progress("%v", err)
		}
	}
	if !db.kept {
		os.RemoveAll(db.dir)
	}
}

// write stores a document with its chunks.
func (db *database) write(ctx context.Context, doc index.Document, chunks []index.Chunk) error {
	return db.AsOwner(ctx, scopeOf(doc.Role), func(tx store.Tx) error {
		_, err := index.AddDocument(ctx, tx, doc, chunks)
		return err
	})
}
