package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"multis/config"
	"multis/internal/text"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/policy"
	"multis/store"
)

// statusCmd shows what is set up, what runs and what to do next.
type statusCmd struct {
	JSON bool `help:"Print JSON."`
}

// Run checks the installation as multis doctor does, and changes nothing. It exits with 0 even if something is wrong.
func (sc statusCmd) Run(ctx context.Context, c *cli) error {
	in, closeDB := doctorInput(ctx, c)
	defer closeDB()
	if in.ConfigErr != nil && sc.JSON {
		s := status{Next: "multis doctor, which says how to correct it"}
		s.add("configuration", in.ConfigErr.Error())
		return s.print(os.Stdout, true)
	}
	if in.ConfigErr != nil {
		return printIncomplete(os.Stdout, c.Config, in.ConfigErr, in.Restore)
	}
	status, err := newStatus(ctx, in, doctor.Run(ctx, in))
	if err != nil {
		return err
	}
	return status.print(os.Stdout, sc.JSON)
}

// printIncomplete prints what is missing before multis can run.
func printIncomplete(w io.Writer, file string, err error, restore doctor.Restore) error {
	var b strings.Builder
	switch {
	case restore.Running:
		fmt.Fprintf(&b, "The backup %s is being restored: %v.\n", restore.File, errRestoring)
	case errors.Is(err, config.ErrRestoreInterrupted):
		fmt.Fprintf(&b,
			"The restore of a backup was interrupted: its configuration is in %s, and there is no %s yet.\nNext, the same command again: %s\n",
			config.RestoreCopy(file), file, doctor.AsRoot("multis backup restore FILE"))
	case errors.Is(err, os.ErrPermission) && filepath.Dir(file) != setup.ServiceDir && isOutOfSight(file):
		return fmt.Errorf("whether multis is set up here is not known: %w, because you may not enter its folder; change to another folder, or run sudo multis", errors.Unwrap(err))
	case errors.Is(err, os.ErrPermission):
		fmt.Fprintf(&b, "multis is set up in %s, which only its owner and root may read.\nNext: sudo multis\n", filepath.Dir(absolutePath(file)))
	case errors.Is(err, os.ErrNotExist):
		fmt.Fprintf(&b,
			"There is no %s yet%s.\nSet it up:            multis init\nTry it here first:    multis chat\nIt is elsewhere:      multis -c FILE\n",
			absolutePath(file), noServiceText(file))
	default:
		problem, next := "cannot be used", "Next: correct this; multis config check says when it is right. A running multis continues with what it read before.\n"
		if strings.Contains(err.Error(), config.Placeholder) || strings.Contains(err.Error(), "still the example's") {
			problem, next = "is not complete yet", "Next: correct these lines, then run multis -g (it replaces what still says generate).\nTry it here first, without a homeserver:  multis chat\n"
		}
		fmt.Fprintf(&b, "%s %s:\n\n", file, problem)
		for line := range strings.Lines(err.Error()) {
			b.WriteString("  " + line)
		}
		b.WriteString("\n\n" + next)
	}
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(w, terminalLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// noServiceText continues the sentence that there is no configuration file: without a file named by the user, the
// service's was looked for as well.
func noServiceText(file string) string {
	if file == defaultConfig {
		return ", nor a service in " + setup.ServiceDir
	}
	return ""
}

// isOutOfSight reports whether this user may not even see if a file exists.
func isOutOfSight(file string) bool {
	_, err := os.Lstat(file)
	return errors.Is(err, os.ErrPermission)
}

// status is the state of an installation.
type status struct {
	Lines []statusLine `json:"status"`
	Next  string       `json:"next"` // what to do
}

// statusLine is one part of a status.
type statusLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (s *status) add(name, value string) {
	s.Lines = append(s.Lines, statusLine{name, text.Clean(value)})
}

// newStatus returns the state of an installation whose configuration is complete.
func newStatus(ctx context.Context, in *doctor.Input, r doctor.Report) (status, error) {
	var s status
	var restored policy.Restore
	cfg, found := in.Config, r.Findings()
	running := "no"
	if section, ok := section(r, "appservice"); ok && !has(section.Findings, doctor.MultisStopped) {
		running = "yes, at " + cfg.Appservice.LocalAddr()
	}
	s.add("running", running)
	if section, ok := section(r, "safe mode"); ok && len(section.Findings) > 0 {
		s.add("safe mode", "on; multis doctor says why")
	}
	switch {
	case in.Restore.Running:
		s.add("restore", in.Restore.File+" is being restored")
	case in.Restore.File != "":
		s.add("restore", "that of "+in.Restore.File+" was interrupted")
	}
	s.add("owner", cfg.Owner.String())
	s.add("homeserver", factOf(r, "homeserver", cfg.Homeserver.Address))
	s.add("database", factOf(r, "database", describeDatabase(cfg)))
	s.add("model", cfg.LLM.Model)
	if in.HasSchema && running != "no" {
		s.add("health", newHealthChecker(cfg, in.Database.DB()).Report(ctx).Summary())
	}
	if in.HasSchema {
		chats, err := store.CountChats(ctx, in.Database.DB())
		if err != nil {
			return s, err
		}
		var parts []string
		for _, n := range chats {
			parts = append(parts, fmt.Sprintf("%d on %s", n.Chats, n.Protocol))
		}
		if len(parts) == 0 {
			parts = []string{"none yet"}
		}
		s.add("chats", strings.Join(parts, ", "))
		s.add("backup", factOf(r, "backup", "old or missing"))
		if _, err := store.GetSetting(ctx, in.Database.DB(), store.SettingRestore, &restored); err != nil {
			return s, err
		}
		if restored.OnHold() {
			s.add("on hold", "everything, because a backup was restored: answer yes or no in the admin room; /restored lists what would go out")
		}
	}
	if len(found) == 0 {
		s.add("findings", "none")
	} else {
		s.add("findings", fmt.Sprintf("%d; multis doctor shows all", len(found)))
	}
	s.Next = whatNext(found, restored.OnHold())
	return s, nil
}

// whatNext says what to do: what is broken comes first, then the answer that a restored backup waits for, then the rest.
func whatNext(found []doctor.Finding, onHold bool) string {
	switch {
	case onHold && (len(found) == 0 || found[0].Severity != doctor.Error):
		return "answer yes or no in the admin room, which lists what the restored backup would send."
	case len(found) == 0:
		return "write to the assistant in the admin room. multis --help lists the commands."
	}
	return text.Clean(found[0].Message) + "\n  " + text.Clean(found[0].Fix)
}

// print writes the state as lines or as JSON.
func (s *status) print(w io.Writer, asJSON bool) error {
	var b strings.Builder
	if asJSON {
		raw, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			return fmt.Errorf("write the status: %w", err)
		}
		fmt.Fprintln(&b, string(raw))
	} else {
		for _, line := range s.Lines {
			fmt.Fprintf(&b, "%-12s %s\n", line.Name, line.Value)
		}
		fmt.Fprintf(&b, "\nNext: %s\n", s.Next)
	}
	_, err := io.WriteString(w, policy.Redact(b.String()))
	return err
}

// describeDatabase says which database is configured.
func describeDatabase(cfg *config.Config) string {
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

// factOf returns the fact of a section of a report, or fallback if there is none.
func factOf(r doctor.Report, name, fallback string) string {
	if s, ok := section(r, name); ok && s.Fact != "" {
		return s.Fact
	}
	return fallback
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
