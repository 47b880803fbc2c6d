package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"multis/config"
	"multis/internal/text"
	"multis/migrations"
	"multis/policy"
	"multis/store"
	"multis/store/pgserver"
)

// open loads a configuration file and opens its database. It also works while multis run uses the database.
func open(ctx context.Context, file string) (*config.Config, *store.Store, func(), error) {
	cfg, err := load(file)
	if err != nil {
		return nil, nil, nil, err
	}
	st, closeDB, err := openStore(ctx, file, cfg, shared)
	return cfg, st, closeDB, err
}

// The values of the parameter share: whether it may use multis' own Postgres server although another process runs it.
const (
	exclusive = false // not allowed, because that server stops with the other process
	shared    = true
)

// openStore connects to the database of the configuration in file, or starts multis' own, and migrates it. Before a
// database with data changes, it makes a backup unless there is a recent one.
func openStore(ctx context.Context, file string, cfg *config.Config, share bool) (*store.Store, func(), error) {
	return openAndMigrate(ctx, cfg.Database, share, func(ctx context.Context, dsn string) error {
		return backUpBeforeUpgrade(ctx, file, cfg, dsn)
	})
}

// openAndMigrate connects to a database, or starts multis' own, and migrates it. It calls backUp before a database with data changes.
func openAndMigrate(ctx context.Context, db config.Database, share bool,
	backUp func(ctx context.Context, dsn string) error,
) (*store.Store, func(), error) {
	switch r := restoreOf(db); {
	case r.Running:
		return nil, nil, fmt.Errorf("the backup %s is being restored: %w", r.File, errRestoring)
	case r.File != "":
		return nil, nil,
			fmt.Errorf("the restore of a backup was interrupted: multis backup restore %s begins again; or remove %s to continue without it",
				text.ShellWord(r.File), restoreMark(db))
	}
	at, stop, err := startDatabase(ctx, db, share)
	if err != nil {
		return nil, nil, err
	}
	if err := migrations.RunAfter(ctx, at.direct, func(ctx context.Context) error { return backUp(ctx, at.direct) }); err != nil {
		stop()
		return nil, nil, store.Unreachable(err)
	}
	st, err := at.open(ctx)
	if err != nil {
		stop()
		return nil, nil, err
	}
	return st, func() { st.Close(); stop() }, nil
}

// backUpBeforeUpgrade makes a backup unless there is a recent one. Its error says how to go on.
func backUpBeforeUpgrade(ctx context.Context, file string, cfg *config.Config, dsn string) error {
	st, err := store.Open(ctx, dsn)
	if err != nil {
		return err
	}
	defer st.Close()
	if err := periodicBackup(cfg, file, st).EnsureRecent(ctx); err != nil {
		return fmt.Errorf("this multis changes the database, and needs a backup of the last 24 hours first: %w. Make one:\n  %s\nOr continue without one:\n  %s",
			err, stoppedCommand(file, "backup create"), stoppedCommand(file, "migrate --no-backup"))
	}
	return nil
}

// withoutBackup is for a database that is migrated without a backup.
func withoutBackup(context.Context, string) error { return nil }

// address is where a database is.
type address struct {
	url     string
	direct  string // of Postgres itself; url, unless that is a pooler's
	options store.Options
}

// open opens the database, which must have been migrated.
func (a address) open(ctx context.Context) (*store.Store, error) {
	return store.OpenWith(ctx, a.url, a.options)
}

// startDatabase returns the address of the configured database. If none is configured, it starts multis' own Postgres
// server, which stop ends.
func startDatabase(ctx context.Context, db config.Database, share bool) (at address, stop func(), err error) {
	if err := makeDataFolder(db); err != nil {
		return address{}, nil, err
	}
	options := store.Options{Direct: db.Direct.Value(), Connections: db.Connections}
	if dsn := db.URL.Value(); dsn != "" {
		return address{dsn, cmp.Or(options.Direct, dsn), options}, func() {}, nil
	}
	server, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(db.DataDir, "postgres"), Share: share})
	if err != nil {
		return address{}, nil, err
	}
	stop = func() {
		if err := server.Stop(); err != nil {
			zerolog.Ctx(ctx).Err(err).Msg("Cannot stop the database")
		}
	}
	dsn, err := server.EnsureDatabase(ctx, "multis", "multis")
	if err != nil {
		stop()
		return address{}, nil, err
	}
	return address{dsn, dsn, store.Options{Connections: db.Connections}}, stop, nil
}

// makeDataFolder makes database.data_dir unless it exists.
func makeDataFolder(db config.Database) error {
	if err := os.MkdirAll(db.DataDir, 0o711); err != nil { //nolint:gosec // the user that Postgres runs as must be able to enter it
		return fmt.Errorf("database.data_dir: %w; choose a folder that multis can make and write to", err)
	}
	return nil
}

// chatsNamed returns the chats with the given names or numbers, one for each; without any, all chats.
func chatsNamed(ctx context.Context, st *store.Store, names []string) ([]store.Chat, error) {
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
		var matches []store.Chat
		for _, c := range all {
			if strings.EqualFold(c.Name, name) || strconv.FormatInt(int64(c.ID), 10) == name {
				matches = append(matches, c)
			}
		}
		switch len(matches) {
		case 0:
			return nil, fmt.Errorf("there is no chat %q: write its name or number as /mode shows it", name)
		case 1:
			found = append(found, matches[0])
		default:
			numbers := make([]string, len(matches))
			for i, c := range matches {
				numbers[i] = fmt.Sprintf("%d (%s)", c.ID, c.Protocol)
			}
			return nil, fmt.Errorf("several chats are called %q: write its number instead, %s", name, strings.Join(numbers, " or "))
		}
	}
	return found, nil
}
