package main

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"

	"multis/migrations"
	"multis/store"
	"multis/store/pgserver"
)

// database is a Postgres of our own, on a socket, gone after close.
type database struct {
	*store.Store

	dir    string
	server *pgserver.Server
}

// openDatabase starts the server with the given settings, all others at their defaults, and migrates an empty database.
// A throwaway one does not wait for the disk.
func openDatabase(ctx context.Context, throwaway bool, settings map[string]string) (_ *database, err error) {
	db := &database{}
	if db.dir, err = os.MkdirTemp("", "multis-bench"); err != nil {
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
	options := pgserver.Options{Dir: db.dir + "/pg", Throwaway: throwaway}
	if db.server, err = pgserver.Start(ctx, options); err != nil {
		return nil, err
	}
	if len(settings) > 0 {
		if err := db.configure(ctx, settings); err != nil {
			return nil, err
		}
		if err := db.server.Stop(); err != nil {
			return nil, err
		}
		if db.server, err = pgserver.Start(ctx, options); err != nil {
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
	os.RemoveAll(db.dir)
}

// write puts a document with its chunks in place.
func (db *database) write(ctx context.Context, doc store.Document, chunks []store.Chunk) error {
	return db.AsOwner(ctx, scopeOf(doc.Role), func(tx store.Tx) error {
		_, err := store.ReplaceDocument(ctx, tx, doc, chunks)
		return err
	})
}
