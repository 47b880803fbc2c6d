package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"multis/config"
	"multis/ops/diagnose"
	"multis/ops/doctor"
	"multis/ops/metrics"
	"multis/store"
)

// diagnoseCmd writes a zip for a bug report.
type diagnoseCmd struct {
	Out string `short:"o" default:"multis-diagnose.zip" placeholder:"FILE" help:"The zip to write. It must not exist."`
}

// Run collects what there is. It changes nothing, and works without a running multis.
func (d diagnoseCmd) Run(ctx context.Context, c *cli) error {
	in, closeDB := doctorInput(ctx, c)
	defer closeDB()
	b := diagnose.Bundle{Doctor: doctor.Run(ctx, in)}
	b.Versions = []string{
		"multis " + versionOf(debug.ReadBuildInfo),
		fmt.Sprintf("%s %s/%s, %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
	}
	if err := readForReport(ctx, c, in, &b); err != nil {
		return err
	}
	file, err := os.OpenFile(d.Out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; move it, or write another with --out", d.Out)
	}
	if err != nil {
		return fmt.Errorf("write the zip: %w", err)
	}
	if err := errors.Join(b.Write(file), file.Close()); err != nil {
		return err
	}
	fmt.Printf("Wrote %s. It has no secrets, and nothing by or about contacts; look into it before you send it.\n", d.Out)
	return nil
}

// readForReport reads the log, the configuration and the database, as far as they can be read.
func readForReport(ctx context.Context, c *cli, in *doctor.Input, b *diagnose.Bundle) (err error) {
	if in.Config == nil {
		return nil
	}
	if b.Log, err = lastLog(in.Config.Logging.File); err != nil {
		return err
	}
	values, err := config.Values(c.Config, nil)
	if err != nil {
		return err
	}
	for _, v := range values {
		b.Config = append(b.Config, fmt.Sprintf("%s: %s (%s)", v.Key, v.Value, v.Source))
	}
	if in.Database == nil || !in.HasSchema {
		return nil
	}
	return readDatabaseForReport(ctx, in, b)
}

// lastLog returns the last lines of the log file; nothing if there is none.
func lastLog(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("logging.file: %w", err)
	}
	defer file.Close()
	const maxRead = 16 << 20
	if info, err := file.Stat(); err == nil && info.Size() > maxRead {
		if _, err := file.Seek(-maxRead, io.SeekEnd); err != nil {
			return nil, fmt.Errorf("logging.file: %w", err)
		}
	}
	return diagnose.LastLines(file)
}

// readDatabaseForReport reads the schema, the plans of slow statements and the metrics.
func readDatabaseForReport(ctx context.Context, in *doctor.Input, b *diagnose.Bundle) (err error) {
	db := in.Database.DB()
	if b.Hidden, err = store.ContactWords(ctx, db); err != nil {
		return err
	}
	server, err := in.Database.Server(ctx)
	if err != nil {
		return err
	}
	b.Versions = append(b.Versions, fmt.Sprintf("Postgres %d, pgvector %q", server.Version, server.Vector))
	if b.Schema, err = store.DescribeTables(ctx, db); err != nil {
		return err
	}
	plans, counted, err := store.SlowPlans(ctx, db)
	if err != nil {
		return err
	}
	if b.Plans = plans; !counted {
		b.Plans = []string{"The server does not count statements: it needs Postgres 16 and the extension pg_stat_statements."}
	}
	var text bytes.Buffer
	err = metrics.New(metrics.Options{
		DB:       db,
		Health:   newHealthChecker(in.Config, db),
		Zone:     in.Config.TimeZone,
		DayCap:   int64(in.Config.Budget.PerDay),
		ToolName: ownToolName,
		Version:  version,
		Now:      time.Now,
	}).Write(&text)
	b.Metrics = text.Bytes()
	return err
}

// ownToolName returns the name of one of multis' own tools, and "other" for every other.
func ownToolName(name string) string {
	for _, tool := range new(assistant).ownTools() {
		if tool.Spec().Name == name {
			return name
		}
	}
	return "other"
}
