package admin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/ops/doctor"
	"multis/store"
)

// Examiner checks the installation. It only reads.
type Examiner interface {
	Examine(ctx context.Context) doctor.Report
}

// doctorCommands shows what is wrong with the installation.
type doctorCommands struct {
	base

	examiner Examiner // nil in a terminal without a homeserver

	mu   sync.Mutex
	last doctor.Report // of the last examination, for the count in /status
}

// commands returns the commands about the installation.
func (d *doctorCommands) commands() []command {
	if d.examiner == nil {
		return nil
	}
	return []command{{
		name: "doctor", args: "[chat, network or topic]", group: groupHealth, run: d.show,
		onChat:   d.showChat,
		chatHint: func(chatPick) string { return " to see what is wrong there" },
		summary:  "find problems and fixes",
		alone:    true,
		help: "I check tokens, connections, bridges, encryption, the database, models, jobs and backups, and change nothing. " +
			"`/doctor whatsapp` shows what concerns a network, `/doctor Ana` a chat, `/doctor database` one part. In a terminal: `multis doctor`.",
	}}
}

// examine checks the installation and remembers the report.
func (d *doctorCommands) examine(ctx context.Context) doctor.Report {
	report := d.examiner.Examine(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = report
	return report
}

// show lists the findings: all, or those about a part, a network or a chat.
func (d *doctorCommands) show(ctx context.Context, _ request, args string) (answer, error) {
	topic := foldName(args)
	if topic == "" {
		return answer{text: findingsText("Everything", d.examine(ctx).Findings())}, nil
	}
	if !isTopic(topic) && !d.isNetwork(ctx, topic) {
		return d.chats.withChat(ctx, args, "doctor", chatPick{})
	}
	report := d.examine(ctx)
	var found []doctor.Finding
	for _, s := range report.Sections {
		for _, f := range s.Findings {
			if strings.EqualFold(s.Name, topic) || strings.HasPrefix(string(f.ID), topic) || isNetworkName(f.Network, topic) {
				found = append(found, f)
			}
		}
	}
	return answer{text: findingsText(text.OneLine(args), found)}, nil
}

// showChat lists the findings about a chat and its network.
func (d *doctorCommands) showChat(ctx context.Context, _ chatPick, chat store.Chat) (answer, error) {
	found := slices.DeleteFunc(d.examine(ctx).Findings(), func(f doctor.Finding) bool {
		return f.Chat != int64(chat.ID) && (f.Chat != 0 || f.Network != chat.Protocol)
	})
	reply := findingsText(chat.Label(), found)
	if why := unsendableReason(chat); why != "" {
		reply += "\nNothing can be sent there: " + why
	}
	return answer{text: reply}, nil
}

// isTopic reports whether a text names a part of the installation or the beginning of a finding's id.
func isTopic(topic string) bool {
	if slices.ContainsFunc(doctor.Checks(), func(c doctor.Check) bool { return strings.EqualFold(c.Name, topic) }) {
		return true
	}
	return slices.ContainsFunc(doctor.IDs(), func(id doctor.ID) bool {
		return string(id) == topic || strings.HasPrefix(string(id), topic+".")
	})
}

// isNetwork reports whether a text names a network that has chats.
func (d *doctorCommands) isNetwork(ctx context.Context, name string) bool {
	bridges, err := store.Bridges(ctx, d.room.store.DB())
	return err == nil && slices.ContainsFunc(bridges, func(b store.Bridge) bool { return isNetworkName(b.Protocol, name) })
}

func isNetworkName(protocol, name string) bool {
	return protocol != "" && (strings.EqualFold(protocol, name) || strings.EqualFold(bridgebridge.NetworkName(protocol), name))
}

// findingsText lists findings as Markdown.
func findingsText(about string, found []doctor.Finding) string {
	if len(found) == 0 {
		return "✅ **" + esc(about) + "**: nothing is wrong."
	}
	lines := []string{"**" + text.Count(len(found), "finding") + "**"}
	for _, f := range found[:min(len(found), pageSize)] {
		mark := "⚠️"
		if f.Severity == doctor.Error {
			mark = "❌"
		}
		lines = append(lines, fmt.Sprintf("%s %s\nFix: %s · %s", mark, esc(f.Message), code(f.Fix), esc(string(f.ID))))
	}
	if more := len(found) - pageSize; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more: `multis doctor` in a terminal shows all", more))
	}
	return strings.Join(lines, "\n")
}

// reportLifetime is how long a report is shown in /status before the installation is checked again.
const reportLifetime = 5 * time.Minute

// statusLine says how many findings there are; empty for none.
func (d *doctorCommands) statusLine(ctx context.Context, r request) (string, error) {
	if d.examiner == nil {
		return "", nil
	}
	d.mu.Lock()
	report := d.last
	d.mu.Unlock()
	if r.now.Sub(report.At).Abs() > reportLifetime {
		report = d.examine(ctx)
	}
	found := report.Findings()
	if len(found) == 0 {
		return "", nil
	}
	mark := "⚠️"
	if found[0].Severity == doctor.Error {
		mark = "❌"
	}
	return fmt.Sprintf("%s %s: `/doctor` says what to do. First: %s", mark, text.Count(len(found), "finding"), esc(found[0].Message)), nil
}
