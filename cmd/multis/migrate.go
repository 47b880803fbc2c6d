package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"multis/internal/text"
	"multis/migrations"
	"multis/store"
)

// migrateCmd migrates the database.
type migrateCmd struct {
	DryRun   bool `help:"Say what would be changed, with the locks and an estimate of the time, and change nothing."`
	NoBackup bool `help:"Do not make sure that there is a backup of the last 24 hours."`
}

// Run migrates and exits.
func (m migrateCmd) Run(ctx context.Context, global *cli) error {
	if m.DryRun {
		return m.plan(ctx, global.Config)
	}
	cfg, err := load(global.Config)
	if err != nil {
		return err
	}
	backUp := func(ctx context.Context, dsn string) error {
		fmt.Println("Making sure that there is a backup of the last 24 hours ...")
		return backUpBeforeUpgrade(ctx, global.Config, cfg, dsn)
	}
	if m.NoBackup {
		backUp = withoutBackup
	}
	_, closeDB, err := openAndMigrate(ctx, cfg.Database, shared, backUp)
	if err != nil {
		return err
	}
	closeDB()
	fmt.Println("The database is up to date. Next:", startCommand(global.Config, true))
	return nil
}

// plan prints what a migration would do.
func (migrateCmd) plan(ctx context.Context, file string) error {
	cfg, err := load(file)
	if err != nil {
		return err
	}
	at, stop, err := startDatabase(ctx, cfg.Database, shared)
	if err != nil {
		return err
	}
	defer stop()
	steps, err := migrations.Plan(ctx, at.direct)
	if err != nil {
		return store.Unreachable(err)
	}
	printPlan(os.Stdout, steps)
	return nil
}

// printPlan prints the steps of a migration, one paragraph per file.
func printPlan(w io.Writer, steps []migrations.Step) {
	if len(steps) == 0 {
		fmt.Fprintln(w, "Nothing to do: the database is up to date.")
		return
	}
	const maxStatement = 100
	var total time.Duration
	file := ""
	for _, s := range steps {
		if s.Migration != file {
			file = s.Migration
			fmt.Fprintf(w, "%s\n", file)
		}
		fmt.Fprintf(w, "  %s\n", text.Clip(s.Statement, maxStatement))
		if s.Lock != "" {
			fmt.Fprintf(w, "      lock: %s", s.Lock)
			if s.Table != "" {
				fmt.Fprintf(w, " on %s, about %s, %s", s.Table, text.Count(int(s.Rows), "row"), text.Duration(s.Estimate))
			}
			fmt.Fprintln(w)
		}
		total += s.Estimate
	}
	fmt.Fprintf(w, "\nAbout %s on a small server; nothing was changed. A backup is made first, unless there is one of the last 24 hours.\n",
		text.Duration(max(total, time.Second)))
}
