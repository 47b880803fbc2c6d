package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/rs/zerolog"

	"multis/config"
	"multis/migrations"
	"multis/policy"
	"multis/store"
	"multis/store/pgserver"
)

// open loads a configuration file and opens its database, also while multis run uses it.
func open(ctx context.Context, file string) (*config.Config, *store.Store, func(), error) {
	cfg, err := load(file)
	if err != nil {
		return nil, nil, nil, err
	}
	st, closeDB, err := openStore(ctx, cfg.Database, beside)
	return cfg, st, closeDB, err
}

// What a program does with a Postgres of our own that another program already runs.
const (
	alone  = false // it is an error: this program runs long, and that Postgres ends with the other one
	beside = true  // it is used
)

// openStore connects to the database, or starts our own, and migrates it.
func openStore(ctx context.Context, db config.Database, share bool) (*store.Store, func(), error) {
	if err := os.MkdirAll(db.DataDir, 0o711); err != nil { //nolint:gosec // the user that Postgres runs as must get through
		return nil, nil, fmt.Errorf("database.data_dir: %w; choose a folder that multis can make and write to", err)
	}
	dsn, stop := db.URL.Value(), func() {}
	if dsn == "" {
		server, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(db.DataDir, "postgres"), Share: share})
		if err != nil {
			return nil, nil, err
		}
		stop = func() {
			if err := server.Stop(); err != nil {
				zerolog.Ctx(ctx).Err(err).Msg("Cannot stop the database")
			}
		}
		if dsn, err = server.EnsureDatabase(ctx, "multis", "multis"); err != nil {
			stop()
			return nil, nil, err
		}
	}
	if err := migrations.Run(ctx, dsn); err != nil {
		stop()
		return nil, nil, unreachable(err)
	}
	st, err := store.Open(ctx, dsn)
	if err != nil {
		stop()
		return nil, nil, err
	}
	return st, func() { st.Close(); stop() }, nil
}

// unreachable returns one line that says why the database cannot be reached. pgx reports each address that it tried; the last is the plainest.
func unreachable(err error) error {
	var failed *pgconn.ConnectError
	if !errors.As(err, &failed) {
		return err
	}
	causes := strings.Split(failed.Unwrap().Error(), "\n")
	return fmt.Errorf("no database at %s: %s; check database.url", net.JoinHostPort(failed.Config.Host, strconv.Itoa(int(failed.Config.Port))), causes[len(causes)-1])
}

// chatsCalled returns the chat with each of the given names or numbers; without any, all chats.
func chatsCalled(ctx context.Context, st *store.Store, names []string) ([]store.Chat, error) {
	ids, err := store.AllChats(ctx, st.DB())
	if err != nil {
		return nil, err
	}
	known, err := store.ChatsByID(ctx, st.DB(), ids)
	if err != nil {
		return nil, err
	}
	var all []store.Chat
	for _, id := range ids {
		if known[id].Kind != policy.KindSpace {
			all = append(all, known[id])
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	var found []store.Chat
	for _, name := range names {
		var fits []store.Chat
		for _, c := range all {
			if strings.EqualFold(c.Name, name) || strconv.FormatInt(int64(c.ID), 10) == name {
				fits = append(fits, c)
			}
		}
		switch len(fits) {
		case 0:
			return nil, fmt.Errorf("there is no chat %q: write its name or number as /mode shows it", name)
		case 1:
			found = append(found, fits[0])
		default:
			numbers := make([]string, len(fits))
			for i, c := range fits {
				numbers[i] = fmt.Sprintf("%d (%s)", c.ID, c.Protocol)
			}
			return nil, fmt.Errorf("several chats are called %q: say %s", name, strings.Join(numbers, " or "))
		}
	}
	return found, nil
}

// migrateCmd migrates the database.
type migrateCmd struct{}

// Run migrates and exits.
func (migrateCmd) Run(ctx context.Context, c *cli) error {
	_, _, closeDB, err := open(ctx, c.Config)
	if err != nil {
		return err
	}
	closeDB()
	fmt.Println("The database is up to date.")
	return nil
}
