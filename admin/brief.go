package admin

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"multis/bridgebridge"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/jobs"
	"multis/memory"
	"multis/store"
)

// briefCommands shows summaries of what happened in the chats.
type briefCommands struct {
	base

	memory      *memory.Memory
	commitments *CommitmentCommands
}

// commands returns the commands about briefs.
func (bs *briefCommands) commands() []command {
	return []command{
		{
			name: "brief", args: "[chat or network] [since WHEN]", group: groupMemory, run: bs.show,
			summary: "what happened while you were away",
			help: "The last 24 hours unless you say otherwise: `/brief since monday`, `/brief yesterday`, `/brief whatsapp since 3d`, `/brief Ana since 2026-11-01`. What happened, what waits for an answer, what was promised, " +
				"each with the message it is based on. Without a model you see who wrote last, and who waits for you.",
		},
	}
}

const (
	// defaultBriefSpan is the length of the period of a brief by default.
	defaultBriefSpan = 24 * time.Hour
	// briefDueSpan is the time within which a commitment must be due to be listed in a brief.
	briefDueSpan = 7 * 24 * time.Hour
)

// show summarizes what happened.
func (bs *briefCommands) show(ctx context.Context, r request, args string) (answer, error) {
	span, where, refused := parseBriefArgs(args, r.now.In(bs.settings.Zone))
	if refused != "" {
		return answer{text: refused}, nil
	}
	q := memory.BriefQuery{Period: span, Room: r.room.ID}
	title, refused, err := bs.setScope(ctx, &q, where)
	if err != nil {
		return answer{text: refused}, err
	}
	if refused != "" {
		return answer{text: refused}, nil
	}
	b, err := bs.memory.Brief(ctx, q)
	if err != nil {
		return answer{}, err
	}
	due, err := bs.dueCommitments(ctx, q, b)
	if err != nil {
		return answer{}, err
	}
	places, err := bs.commitments.places(ctx, due)
	if err != nil {
		return answer{}, err
	}
	about := b.MessageIDs
	var commitments []string
	for _, c := range due {
		commitments = append(commitments, bs.commitments.line(c, places))
		about = append(about, c.MessageID)
	}
	granted, err := bs.grantedLine(ctx, q)
	if err != nil {
		return answer{}, err
	}
	return answer{
		text:   bs.text(title, q, b, commitments) + granted,
		quotes: about,
		change: func(ctx context.Context, tx store.Tx) error { return checkNotDeleted(ctx, tx, b.MessageIDs) },
	}, nil
}

// grantedLine counts the calls that were made without asking, because the owner allowed them for some hours. It is empty
// if there were none, and in a brief about one chat or network.
func (bs *briefCommands) grantedLine(ctx context.Context, q memory.BriefQuery) (string, error) {
	if q.Chat != 0 || q.Protocol != "" {
		return "", nil
	}
	use, err := store.CountGranted(ctx, bs.store.DB(), q.From, q.Until)
	if err != nil {
		return "", err
	}
	if use.Calls == 0 {
		return "", nil
	}
	return fmt.Sprintf("\n\n⏱️ %s without asking, as you allowed for some hours. `/approvals` lists them.",
		text.Count(use.Calls, "tool call")), nil
}

// checkNotDeleted returns jobs.Snooze if one of the messages of a brief was deleted while a model read them, so that the
// brief is made again.
func checkNotDeleted(ctx context.Context, tx store.Tx, messages []store.MessageID) error {
	_, err := store.LockUnchanged(ctx, tx, messages, nil)
	if errors.Is(err, store.ErrChanged) {
		return jobs.Snooze(0)
	}
	return err
}

var sincePattern = regexp.MustCompile(`(?i)^(?:(.*?)\s+)?(?:since|seit)\s+(.+)$`)

// parseBriefArgs reads the period of a brief and the name of its chat or network. refused is the reply if the arguments cannot be read.
func parseBriefArgs(args string, now time.Time) (span schedule.Period, where, refused string) {
	args = strings.Join(strings.Fields(args), " ")
	if found, ok := schedule.ParsePast(args, now); ok {
		return found.Period, found.Rest, ""
	}
	last := lastWord(args)
	if found, ok := schedule.ParsePast("since "+last, now); ok && found.Rest == "" && unicode.IsDigit([]rune(last)[0]) { // "24h"
		return found.Period, strings.TrimSpace(strings.TrimSuffix(args, last)), ""
	}
	m := sincePattern.FindStringSubmatch(args)
	if m == nil {
		return schedule.Period{From: now.Add(-defaultBriefSpan)}, args, ""
	}
	since := m[2]
	return schedule.Period{}, "", "I don't know since when *" + esc(text.Clip(since, 40)) +
		"* is. Try `/brief since monday`, `since yesterday`, `since 3d`, `since 2026-11-01`."
}

func lastWord(s string) string { return s[strings.LastIndexByte(s, ' ')+1:] }

// setScope limits a brief to the chat or network with a name, and returns its title. refused is the reply if there is no
// such chat or network.
func (bs *briefCommands) setScope(ctx context.Context, q *memory.BriefQuery, where string) (title, refused string, err error) {
	if where == "" {
		return "", "", nil
	}
	chats, err := store.ListChats(ctx, bs.store.DB(), "", maxChats, 0)
	if err != nil {
		return "", "", err
	}
	for _, c := range chats {
		if network := bridgebridge.NetworkName(c.Protocol); foldName(network) == foldName(where) || foldName(c.Protocol) == foldName(where) {
			q.Protocol = c.Protocol
			return network, "", nil
		}
	}
	chat, problem, err := bs.chats.oneChat(ctx, where, "/brief %s")
	if err != nil {
		return "", problem, err
	}
	if problem != "" {
		return "", problem, nil
	}
	q.Chat = chat.ID
	return chat.Label(), "", nil
}

// dueCommitments returns the commitments that are due soon and that the brief itself does not mention.
func (bs *briefCommands) dueCommitments(ctx context.Context, q memory.BriefQuery, b memory.Brief) ([]store.Commitment, error) {
	var chats []store.ChatID
	if q.Chat != 0 {
		chats = []store.ChatID{q.Chat}
	}
	open, err := store.OpenCommitments(ctx, bs.store.DB(), chats, maxShownCommitments)
	if err != nil {
		return nil, err
	}
	in, err := store.ChatsByID(ctx, bs.store.DB(), chatsOf(open))
	if err != nil {
		return nil, err
	}
	named := map[store.MessageID]bool{}
	for _, l := range b.Bullets {
		for _, m := range l.Sources {
			named[m.ID] = named[m.ID] || l.Kind == memory.BriefCommitment
		}
	}
	return slices.DeleteFunc(open, func(c store.Commitment) bool {
		later := c.DueAt == nil || c.DueAt.After(bs.room.now().Add(briefDueSpan))
		return later || named[c.MessageID] || (q.Protocol != "" && in[c.ChatID].Protocol != q.Protocol)
	}), nil
}

// chatsOf returns the chats of commitments.
func chatsOf(commitments []store.Commitment) []store.ChatID {
	chats := make([]store.ChatID, len(commitments))
	for i, c := range commitments {
		chats[i] = c.ChatID
	}
	return chats
}

// text formats a brief.
func (bs *briefCommands) text(title string, q memory.BriefQuery, b memory.Brief, commitments []string) string {
	head := "**Since " + bs.room.fullTime(q.From) + "**"
	if !q.Until.IsZero() && q.Until.Before(bs.room.now()) {
		head = "**" + bs.room.fullTime(q.From) + " to " + bs.room.fullTime(q.Until) + "**"
	}
	if title != "" {
		head += " · " + esc(title)
	}
	if b.Messages == 0 {
		head += ": nobody wrote anything."
		if q.Chat != 0 {
			head += " `/messages NAME` shows the last ones."
		}
	} else {
		head += " · " + text.Count(b.Messages, "message")
		if q.Chat == 0 {
			head += " in " + text.Count(b.Chats, "chat")
		}
	}
	parts := []string{head}
	if b.NoModelReason != "" && b.Messages > 0 {
		parts[0] += "\n" + b.NoModelReason
	}
	lines := map[memory.BriefKind][]string{memory.BriefCommitment: commitments}
	for i := range slices.Backward(b.Bullets) {
		l := b.Bullets[i]
		lines[l.Kind] = append([]string{bs.bulletLine(l, b)}, lines[l.Kind]...)
	}
	titles := map[memory.BriefKind]string{
		memory.BriefHappened: "What happened", memory.BriefQuestion: "Waits for an answer",
		memory.BriefCommitment: "Promised",
	}
	if b.NoModelReason != "" {
		titles[memory.BriefHappened] = "Wrote last"
	}
	for _, kind := range []memory.BriefKind{memory.BriefHappened, memory.BriefQuestion, memory.BriefCommitment} {
		if len(lines[kind]) > 0 {
			parts = append(parts, "**"+titles[kind]+"**\n- "+strings.Join(lines[kind], "\n- "))
		}
	}
	if b.Messages > 0 && len(parts) == 1 {
		parts = append(parts, "Nothing of it matters, as far as I can tell.")
	}
	if b.SkippedChats > 0 {
		parts = append(parts, fmt.Sprintf("I did not read %s more; `/brief` with a network or a name does.", text.Count(b.SkippedChats, "chat")))
	}
	return strings.Join(parts, "\n\n")
}

// bulletLine formats one entry, with links to its messages.
func (bs *briefCommands) bulletLine(l memory.Bullet, b memory.Brief) string {
	text := esc(l.Text)
	if b.NoModelReason != "" { // without a model the message itself is quoted
		text = quote(l.Text, len(l.Text))
	}
	first := l.Sources[0]
	text += " · " + esc(memory.MessageSource(b.ChatsByID[first.ChatID], first, bs.settings.Zone, bs.room.now()))
	var links []string
	for _, m := range l.Sources[:min(len(l.Sources), 3)] {
		if link := memory.MessageLink(b.ChatsByID[m.ChatID], m.EventID); link != "" {
			links = append(links, fmt.Sprintf("[%d](%s)", len(links)+1, link))
		}
	}
	if len(links) == 1 {
		return text + " ([message](" + memory.MessageLink(b.ChatsByID[first.ChatID], first.EventID) + "))"
	}
	if len(links) > 1 {
		text += " (messages " + strings.Join(links, " ") + ")"
	}
	return text
}
