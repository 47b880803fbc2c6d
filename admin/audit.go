package admin

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"multis/clock/schedule"
	"multis/safety/audit"
	"multis/store"
)

// auditCommands shows and checks the audit log.
type auditCommands struct {
	base
}

// maxAuditLines is how many entries of the audit log an answer shows.
const maxAuditLines = 20

// commands returns the command about the audit log.
func (au *auditCommands) commands() []command {
	return []command{{
		name: "audit", args: "[task, chat or day]", group: groupHealth, run: au.audit,
		onChat:   au.onChat,
		chatHint: auditHint,
		summary:  "what I did, and what I refused",
		aliases:  []string{"log", "logs"},
		hint:     "`/audit` lists what was done, `/why Ana` explains what I did in a chat, `/replay 12` goes through a task again.",
		takes:    func(words []string) bool { return len(words) == 1 },
		help: "`/audit` shows the newest entries of the audit log, `/audit Ana` those of a chat, `/audit 12` those of a task, `/audit 2026-11-23` those of a day. What I sent into rooms like this one is left out of the first and the last, unless it failed: `/audit all` and `/audit all 2026-11-23` show it as well. " +
			"`/audit injection` shows the messages of the last 7 days that looked like attempts to give me orders (`/audit injection 30` of 30 days, `/audit injection Ana` of a chat), " +
			"`/audit injection lift Ana` lets models answer there again. `/audit verify` checks that nobody changed the log; with a link that I posted (`/audit verify 812 53a6cc19b5ea8138`) also that it is still this log. It holds ids and no texts; on the server, `multis audit export` writes all of it.",
	}}
}

func (au *auditCommands) audit(ctx context.Context, r request, args string) (answer, error) {
	words := strings.Fields(args)
	all := false
	if len(words) > 0 && words[0] == "all" {
		rest := strings.Join(words[1:], " ")
		if _, isDay := parseDay(rest, r.now, au.settings.Zone); rest == "" || isDay { // else it is the name of a chat
			all = true
			words = words[1:]
			args = rest
		}
	}
	switch {
	case len(words) == 0:
		return au.list(ctx, store.AuditFilter{WithoutNotices: !all}, "Newest entries of the audit log")
	case words[0] == "verify" && (len(words) == 1 || parseNumber(words[1]) > 0): // else it is the name of a chat
		return au.verify(ctx, words[1:])
	case words[0] == "injection":
		return au.injection(ctx, r, words[1:])
	}
	if n := parseNumber(strings.TrimPrefix(args, "task ")); n > 0 {
		return au.list(ctx, store.AuditFilter{Task: store.TaskID(n)}, fmt.Sprintf("Task %d", n))
	}
	if day, ok := parseDay(args, r.now, au.settings.Zone); ok {
		return au.list(ctx, store.AuditFilter{From: day, To: day.AddDate(0, 0, 1), WithoutNotices: !all}, day.Format("Mon 2 Jan 2006"))
	}
	if strings.Trim(args, "0123456789-") == "" {
		return answer{text: code(args) + " is neither a day nor the number of a task. A day is written like `2026-11-23`."}, nil
	}
	return au.chats.withChat(ctx, args, "audit", chatPick{})
}

// parseDay reads a day: 2026-11-23, today or yesterday.
func parseDay(s string, now time.Time, zone *time.Location) (time.Time, bool) {
	today := now.In(zone)
	today = schedule.DayStart(today.Year(), today.Month(), today.Day(), zone)
	switch strings.ToLower(s) {
	case "today":
		return today, true
	case "yesterday":
		return today.AddDate(0, 0, -1), true
	}
	day, err := time.ParseInLocation(time.DateOnly, s, zone)
	return day, err == nil
}

// onChat shows the audit entries or the injection scores of a chat, or ends its model hold, as pick.Audit says.
func (au *auditCommands) onChat(ctx context.Context, pick chatPick, chat store.Chat) (answer, error) {
	switch pick.Audit {
	case pickInjection:
		return au.injectionScores(ctx, chat, au.room.now().AddDate(0, 0, -maxInjectionDays))
	case pickLift:
		return au.liftHold(ctx, chat)
	default:
		return au.ofChat(ctx, chat)
	}
}

// ofChat lists the newest entries of a chat.
func (au *auditCommands) ofChat(ctx context.Context, chat store.Chat) (answer, error) {
	return au.list(ctx, store.AuditFilter{Chat: chat.ID}, chat.Label())
}

// list shows the newest entries that fit a filter.
func (au *auditCommands) list(ctx context.Context, f store.AuditFilter, title string) (answer, error) {
	f.Limit = maxAuditLines
	links, err := store.ListAudit(ctx, au.store.DB(), f)
	if err != nil {
		return answer{}, err
	}
	if len(links) == 0 {
		return answer{text: "**" + esc(title) + "**: the audit log has no entry."}, nil
	}
	ids := make([]store.ChatID, len(links))
	for i, l := range links {
		ids[i] = l.ChatID
	}
	chats, err := store.ChatsByID(ctx, au.store.DB(), ids)
	if err != nil {
		return answer{}, err
	}
	lines := []string{"**" + esc(title) + "** (newest first)"}
	for _, l := range links {
		var name string
		if chat, ok := chats[l.ChatID]; ok {
			name = chat.Label()
		}
		lines = append(lines, "- "+esc(audit.FormatEntry(l, name, au.settings.Zone)))
	}
	if len(links) == maxAuditLines {
		lines = append(lines, "These are the newest "+strconv.Itoa(maxAuditLines)+". `multis audit show --limit 500` on the server shows more.")
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// verify checks the chain of the audit log, and compares it with a link that was posted, if one is given.
func (au *auditCommands) verify(ctx context.Context, link []string) (answer, error) {
	var saved store.AuditPoint
	if len(link) > 0 {
		var err error
		if saved, err = audit.ParsePoint(link[0], strings.Join(link[1:], " ")); err != nil {
			return answer{text: "⚠️ " + esc(err.Error()) + "."}, nil
		}
	}
	report, err := au.settings.Audit.VerifyAgainst(ctx, au.store, saved)
	if errors.Is(err, audit.ErrPruned) {
		return answer{text: "⚠️ " + esc(err.Error()) + "."}, nil
	}
	if errors.Is(err, audit.ErrBroken) {
		return answer{text: "⚠️ **" + esc(err.Error()) +
			"**\nSomebody with access to the database did that. Compare with your backups, and change the passwords of the server."}, nil
	}
	if err != nil {
		return answer{}, err
	}
	return answer{text: esc(audit.VerifiedText(report, saved, au.settings.Zone))}, nil
}
