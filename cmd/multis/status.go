package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"multis/config"
	"multis/doctor"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// statusCmd shows what is set up, what runs and what to do next.
type statusCmd struct{}

// Run checks the installation as multis doctor does, and changes nothing. It exits with 0 even if something is wrong.
func (statusCmd) Run(ctx context.Context, c *cli) error {
	in, closeDB := doctorInput(ctx, c)
	defer closeDB()
	if in.ConfigErr != nil {
		return printIncomplete(os.Stdout, c.Config, in.ConfigErr)
	}
	return printStatus(ctx, os.Stdout, in, doctor.Run(ctx, in))
}

// printIncomplete prints what is missing before multis can run.
func printIncomplete(w io.Writer, file string, err error) error {
	var b strings.Builder
	if errors.Is(err, os.ErrNotExist) {
		fmt.Fprintf(&b, "There is no %s yet.\nSet it up:            multis init\nTry it here first:    multis chat\n", file)
	} else {
		fmt.Fprintf(&b, "%s is not complete yet:\n\n", file)
		for line := range strings.Lines(err.Error()) {
			fmt.Fprintln(&b, " ", text.Clean(strings.TrimRight(line, "\n")))
		}
		b.WriteString("\nNext: correct these lines, then run multis -g (it replaces what still says generate).\nTry it here first, without a homeserver:  multis chat\n")
	}
	_, err = io.WriteString(w, policy.Redact(b.String()))
	return err
}

// printStatus prints the state of an installation whose configuration is complete.
func printStatus(ctx context.Context, w io.Writer, in *doctor.Input, r doctor.Report) error {
	var b strings.Builder
	cfg, found := in.Config, r.Findings()
	line := func(name, value string) { fmt.Fprintf(&b, "%-12s %s\n", name, text.Clean(value)) }
	running := "no"
	if s, ok := section(r, "appservice"); ok && !has(s.Findings, doctor.MultisStopped) {
		running = "yes, at " + cfg.Appservice.LocalAddr()
	}
	line("running", running)
	if s, ok := section(r, "safe mode"); ok && len(s.Findings) > 0 {
		line("safe mode", "on; multis doctor says why")
	}
	line("owner", cfg.Owner.String())
	line("homeserver", factOf(r, "homeserver", cfg.Homeserver.Address))
	line("database", factOf(r, "database", databaseOf(cfg)))
	line("model", cfg.LLM.Model)
	if in.HasSchema {
		chats, err := store.CountChats(ctx, in.Database.DB())
		if err != nil {
			return err
		}
		var parts []string
		for _, n := range chats {
			parts = append(parts, fmt.Sprintf("%d on %s", n.Chats, n.Protocol))
		}
		if len(parts) == 0 {
			parts = []string{"none yet"}
		}
		line("chats", strings.Join(parts, ", "))
		line("backup", factOf(r, "backup", "old or missing"))
		var restored policy.Restore
		if _, err := store.GetSetting(ctx, in.Database.DB(), store.SettingRestore, &restored); err != nil {
			return err
		}
		if restored.OnHold() {
			line("on hold", "everything, because a backup was restored: answer yes or no in the admin room; /restored lists what would go out")
		}
	}
	switch {
	case len(found) == 0:
		line("findings", "none")
		b.WriteString("\nNext: write to the assistant in the admin room. multis --help lists the commands.\n")
	default:
		line("findings", fmt.Sprintf("%d; multis doctor shows all", len(found)))
		fmt.Fprintf(&b, "\nNext: %s\n  %s\n", text.Clean(found[0].Message), text.Clean(found[0].Fix))
	}
	_, err := io.WriteString(w, policy.Redact(b.String()))
	return err
}

// databaseOf says which database is configured.
func databaseOf(cfg *config.Config) string {
	if cfg.Database.URL == "" {
		return "its own, in " + cfg.Database.DataDir
	}
	return "database.url"
}

// section returns a section of a report.
func section(r doctor.Report, name string) (doctor.Section, bool) {
	for _, s := range r.Sections {
		if s.Name == name {
			return s, true
		}
	}
	return doctor.Section{}, false
}

// factOf returns the fact of a section of a report, or otherwise if there is none.
func factOf(r doctor.Report, name, otherwise string) string {
	if s, ok := section(r, name); ok && s.Fact != "" {
		return s.Fact
	}
	return otherwise
}

func has(found []doctor.Finding, id doctor.ID) bool {
	for _, f := range found {
		if f.ID == id {
			return true
		}
	}
	return false
}

// agentsCmd lists the agents of the configuration.
type agentsCmd struct{}

// Run lists the agents with their models, and the chats in which each answers.
func (agentsCmd) Run(_ context.Context, c *cli) error {
	cfg, err := config.Load(c.Config)
	if err != nil {
		return err
	}
	if err := checkModel(cfg); err != nil {
		return err
	}
	if len(cfg.Agents) == 0 {
		fmt.Printf("No agents are configured, so %s answers everywhere. docs/agents.md shows how to add one.\n", cfg.Name)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		fmt.Println(describeAgent(cfg, name))
	}
	return nil
}

// describeAgent describes an agent in one line.
func describeAgent(cfg *config.Config, name string) string {
	a := cfg.Agents[name]
	model := a.Model
	if model == "" {
		model = cfg.LLM.Model
	}
	var where []string
	for _, list := range [][]string{a.Networks, a.Rooms, a.Senders, a.Spaces, a.Logins} {
		where = append(where, list...)
	}
	for _, mode := range a.Modes {
		where = append(where, string(mode)+" chats")
	}
	if a.Default {
		where = append(where, "everywhere else")
	}
	if len(where) == 0 {
		where = []string{"when called by its name"}
	}
	return text.Clean(fmt.Sprintf("%s  model %s · %s", name, model, strings.Join(where, ", ")))
}
