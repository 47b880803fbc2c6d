package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/term"

	"multis/appservice"
	"multis/config"
	"multis/internal/text"
	"multis/migrations"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/policy"
	"multis/store"
	"multis/store/pgserver"
)

// doctorCmd checks the installation.
type doctorCmd struct {
	JSON    bool    `help:"Print the report as JSON."`
	Fix     *string `placeholder:"ID" help:"Repair the finding with this id, if that is safe. A changed file is backed up."`
	Synapse *string `placeholder:"FILE" help:"Synapse's homeserver.yaml, where it is not found automatically."`
}

// statusError makes the program exit with a status, without a message.
type statusError int

// Error returns the status.
func (e statusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// Run checks the installation, or repairs one finding. It exits with 0 without findings, 1 with warnings and 2 with errors.
func (d doctorCmd) Run(ctx context.Context, c *cli) error {
	in, closeDB := doctorInput(ctx, c)
	defer closeDB()
	if d.Synapse != nil {
		domain := ""
		if in.Config != nil {
			domain = in.Config.Homeserver.Domain
		}
		var err error
		if in.Synapse, err = (setup.Machine{}).ReadForDoctor(*d.Synapse, domain, in.Paths.Registration); err != nil {
			printError(os.Stderr, "--synapse: "+err.Error())
			return statusError(2) // status 1 would mean that all checks ran
		}
	}
	if d.Fix != nil {
		done, err := doctor.Fix(ctx, in, doctor.ID(strings.ToLower(*d.Fix)))
		if err != nil {
			return err
		}
		fmt.Println(done)
		return nil
	}
	report := doctor.Run(ctx, in)
	var err error
	if d.JSON {
		err = writeReport(os.Stdout, report)
	} else {
		err = printReport(os.Stdout, report, term.IsTerminal(int(os.Stdout.Fd())))
	}
	if code := report.ExitCode(); err == nil && code != 0 {
		return statusError(code)
	}
	return err
}

// doctorInput opens what the checks examine. It starts no Postgres and migrates nothing.
func doctorInput(ctx context.Context, c *cli) (in *doctor.Input, closeDB func()) {
	in = &doctor.Input{
		Now:       time.Now,
		FreeBytes: doctor.FreeBytes,
		Paths:     doctorPaths(c.Config, c.Registration),
		Start:     startCommand(c.Config, true),
		Compose:   setup.Machine{}.InContainer(),
	}
	closeDB = func() {}
	if in.Config, in.ConfigErr = config.Load(c.Config); in.ConfigErr != nil {
		if left, err := config.Load(config.RestoreCopy(c.Config)); errors.Is(in.ConfigErr, config.ErrRestoreInterrupted) && err == nil {
			in.Restore = restoreOf(left.Database)
		}
		in.ConfigErr = setup.ExplainUnreadable(c.Config, in.ConfigErr)
		return in, closeDB
	}
	hideSecrets(in.Config)
	in.Defaults = chatDefaults(in.Config)
	in.Synapse = setup.Machine{}.SynapseOfDomain(in.Config.Homeserver.Domain, in.Paths.Registration)
	in.TestSandbox = func(ctx context.Context) (string, error) { return testSandbox(ctx, in.Config, c.Config) }
	in.IsStarting = func(ctx context.Context) bool {
		file, err := filepath.Abs(c.Config)
		return err == nil && setup.Machine{}.IsStarting(ctx, file)
	}
	in.StopReason = func(ctx context.Context) string {
		file, err := filepath.Abs(c.Config)
		if err != nil {
			return ""
		}
		return setup.Machine{}.LastError(ctx, file)
	}
	in.CheckStart = func(ctx context.Context) error {
		w, err := setup.RunUserOf(ctx, c.Config, in.Config)
		if err != nil {
			return err
		}
		return errors.Join(checkRules(in.Config), w.CheckStart(ctx, setup.RunningConfig(ctx, in.Config), in.Config))
	}
	in.Homeserver = appservice.NewInspector(doctor.AccessOf(in.Config))
	if models, err := newModels(in.Config, nil); err == nil {
		in.Models = models
	}
	in.Restore = restoreOf(in.Config.Database)
	in.Postgres = postgresOf(in.Config.Database, in.Start)
	if in.Restore.File != "" {
		return in, closeDB // the database is empty, or incomplete
	}
	dsn := in.Config.Database.URL.Value()
	if dsn == "" {
		folder := filepath.Join(in.Config.Database.DataDir, "postgres")
		server, running := pgserver.Running(ctx, folder)
		if !running { // another check reports that multis does not run
			_, in.ProgramsErr = pgserver.Find(folder)
			return in, closeDB
		}
		dsn = server.DSN("multis", "multis")
	}
	in.Database, in.DatabaseErr = store.OpenInspector(ctx, dsn)
	if in.DatabaseErr != nil {
		return in, closeDB
	}
	state, err := in.Database.Schema(ctx)
	in.HasSchema = err == nil && state == migrations.StateCurrent
	return in, in.Database.Close
}

// postgresOf returns how the server of the database is administered. start is the line that starts or restarts multis.
func postgresOf(db config.Database, start string) doctor.Postgres {
	if dsn := db.URL.Value(); dsn != "" {
		server := doctor.PostgresAt(dsn)
		server.Unit = setup.Machine{}.PostgresUnit()
		server.Connections = db.Connections
		return server
	}
	server := doctor.OwnPostgres(pgserver.Socket(absolutePath(filepath.Join(db.DataDir, "postgres"))), start)
	server.Connections = db.Connections
	return server
}

// doctorPaths returns the files of the installation. A registration that is only a file name is in the folder of the configuration.
func doctorPaths(file, registration string) doctor.Paths {
	if filepath.Base(registration) == registration {
		registration = filepath.Join(filepath.Dir(file), registration)
	}
	if absolute, err := filepath.Abs(registration); err == nil {
		registration = absolute // it is part of lines that are run in another folder
	}
	return doctor.Paths{Config: file, Registration: registration}
}

// reportJSON is the report that doctor --json prints.
type reportJSON struct {
	doctor.Report
	Findings []doctor.Finding `json:"findings"`
	Exit     int              `json:"exit"`
}

func writeReport(w io.Writer, r doctor.Report) error {
	found := r.Findings()
	if found == nil {
		found = []doctor.Finding{} // a list also if it is empty
	}
	raw, err := json.MarshalIndent(reportJSON{r, found, r.ExitCode()}, "", "  ")
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	_, err = fmt.Fprintln(w, policy.Redact(string(raw)))
	return err
}

// The colours of a terminal.
const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
	plain  = "\x1b[0m"
)

// printReport prints one line for each check that passed, and two lines for each finding.
func printReport(w io.Writer, r doctor.Report, colour bool) error {
	paint := func(mark, code string) string {
		if !colour {
			return mark
		}
		return code + mark + plain
	}
	var b strings.Builder
	var skipped []string
	const width = 14
	for i, s := range r.Sections {
		switch {
		case s.Skipped != "" && i+1 < len(r.Sections) && r.Sections[i+1].Skipped == s.Skipped:
			skipped = append(skipped, s.Name) // they are printed on one line
		case s.Skipped != "":
			fmt.Fprintf(&b, "- not checked: %s: %s\n", strings.Join(append(skipped, s.Name), ", "), s.Skipped)
			skipped = nil
		case len(s.Findings) == 0:
			fmt.Fprintf(&b, "%s %-*s %s\n", paint("✓", green), width, s.Name, s.Fact)
		}
		for _, f := range s.Findings {
			mark := paint("!", yellow)
			if f.Severity == doctor.Error {
				mark = paint("✗", red)
			}
			fmt.Fprintf(&b, "%s %-*s %s  [%s]\n  %-*s fix: %s\n", mark, width, s.Name, text.Clean(f.Message), f.ID, width, "", text.Clean(f.Fix))
		}
	}
	found := len(r.Findings())
	if found == 0 {
		b.WriteString("\nNothing is wrong.\n")
	} else {
		fmt.Fprintf(&b, "\n%s. More about each: docs/troubleshooting.md\n", text.Count(found, "finding"))
	}
	_, err := io.WriteString(w, policy.Redact(b.String()))
	return err
}
