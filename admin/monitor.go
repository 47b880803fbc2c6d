package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/internal/text"
	"multis/jobs"
	"multis/store"
)

// Monitor is a monitor of the configuration, as the admin room shows it.
type Monitor struct {
	Name   string
	Target string // the program, or the address without what may be a key
	Every  time.Duration
}

// monitorCommands lists the monitors of the configuration, and pauses and resumes them.
type monitorCommands struct {
	base
}

// commands returns the commands about monitors.
func (mc *monitorCommands) commands() []command {
	return []command{
		{
			name: "monitors", args: "[pause|resume NAME]", group: groupHealth, run: mc.run,
			summary: "servers and commands that I check",
			aliases: []string{"monitor"},
			alone:   true,
			help: "`/monitors` lists them with the result of the last check. `/monitors pause shop` ends the checks of one, `/monitors resume shop` starts them again. " +
				"They are in config.yaml under `monitors:`. `/watch` is for pages whose text changes.",
		},
	}
}

// noMonitorsText says how to configure a monitor.
const noMonitorsText = "I check nothing. Add monitors in config.yaml: under `monitors:`, each with a `url` or a `command`. " +
	"To be told when a page changes: `/watch https://example.com every 30m`."

// run lists the monitors, or pauses or resumes one.
func (mc *monitorCommands) run(ctx context.Context, _ request, args string) (answer, error) {
	all, err := store.Monitors(ctx, mc.store.DB())
	if err != nil {
		return answer{}, err
	}
	verb, name, _ := strings.Cut(args, " ")
	name = strings.TrimSpace(name)
	i := slices.IndexFunc(all, func(m store.Monitor) bool { return strings.EqualFold(m.Name, name) })
	switch verb = strings.ToLower(verb); {
	case len(all) == 0:
		return answer{text: noMonitorsText}, nil
	case verb == "" || verb == "list" || verb == "status":
		return answer{text: mc.list(all)}, nil
	case verb != "pause" && verb != "resume":
		return answer{text: fmt.Sprintf("Try `/monitors`, `/monitors pause %s`, `/monitors resume %[1]s`.", all[0].Name)}, nil
	case i < 0:
		var names []string
		for _, m := range all {
			names = append(names, m.Name)
		}
		return answer{text: "There's no monitor " + code(name) + ", only " + esc(text.List(names)) + "."}, nil
	case verb == "pause":
		return pauseMonitor(all[i]), nil
	default:
		return resumeMonitor(all[i]), nil
	}
}

func pauseMonitor(m store.Monitor) answer {
	if m.Paused {
		return answer{text: "**" + esc(m.Name) + "** is paused already."}
	}
	return answer{
		text:   fmt.Sprintf("⏸ **%s** is paused. Undo: `/monitors resume %s`", esc(m.Name), m.Name),
		change: func(ctx context.Context, tx store.Tx) error { return store.PauseMonitor(ctx, tx, m.ID) },
	}
}

func resumeMonitor(m store.Monitor) answer {
	if !m.Paused {
		return answer{text: "**" + esc(m.Name) + "** is not paused."}
	}
	return answer{
		text: fmt.Sprintf("I'm checking **%s** again. Undo: `/monitors pause %s`", esc(m.Name), m.Name),
		change: func(ctx context.Context, tx store.Tx) error {
			if err := store.ResumeMonitor(ctx, tx, m.ID); err != nil {
				return err
			}
			return jobs.Enqueue(ctx, tx, jobs.CheckMonitorArgs{MonitorID: m.ID})
		},
	}
}

// list shows the monitors, one a line.
func (mc *monitorCommands) list(all []store.Monitor) string {
	lines := []string{"**Monitors**"}
	for _, m := range all {
		target := ""
		for _, configured := range mc.settings.Monitors {
			if configured.Name == m.Name {
				target = " — " + esc(configured.Target) + ", every " + text.Duration(configured.Every)
			}
		}
		lines = append(lines, mc.line(m, target))
	}
	return strings.Join(append(lines, "`/monitors pause "+all[0].Name+"` ends the checks of one."), "\n")
}

// line shows a monitor and its state.
func (mc *monitorCommands) line(m store.Monitor, target string) string {
	switch {
	case m.Paused:
		return fmt.Sprintf("⏸ **%s**%s · paused", esc(m.Name), target)
	case m.IsFailing():
		return fmt.Sprintf("🔴 **%s**%s · %s since %s: %s", esc(m.Name), target, text.Count(m.Failures, "failed check"),
			mc.room.shortTime(*m.FailingSince), esc(m.Error))
	case m.CheckedAt == nil:
		return fmt.Sprintf("⏳ **%s**%s · not checked yet", esc(m.Name), target)
	default:
		return fmt.Sprintf("✅ **%s**%s · good, checked %s", esc(m.Name), target, mc.room.ago(*m.CheckedAt))
	}
}

// statusLine says in /status which monitors fail; empty if none does.
func (mc *monitorCommands) statusLine(ctx context.Context, _ request) (string, error) {
	all, err := store.Monitors(ctx, mc.store.DB())
	if err != nil {
		return "", err
	}
	var failing []string
	for _, m := range all {
		if m.IsFailing() {
			failing = append(failing, m.Name)
		}
	}
	if len(failing) == 0 {
		return "", nil
	}
	return fmt.Sprintf("🔴 %s %s: `/monitors` says why.", esc(text.List(failing)), text.Plural(len(failing), "fails", "fail")), nil
}
