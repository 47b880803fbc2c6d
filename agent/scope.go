package agent

import (
	"context"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/bridgebridge"
	"multis/memory"
	"multis/policy"
	"multis/schedule"
	"multis/search"
	"multis/store"
	"multis/text"
)

// places are where a question of the owner's is answered from.
type places struct {
	scope   policy.Scope
	named   []policy.ChatName // chats that he named
	unclear []policy.ChatName // chats of a name that several have
	heard   memory.Heard      // what was said in the time that the question is about, in all chats
	time    string            // that time, as people read it; empty: the question is about none
}

// contactScope is what may be read to answer in a chat: what is public, the chat's own, and that of the person's other chats.
func (a *Agent) contactScope(ctx context.Context, chat store.Chat) (policy.Scope, error) {
	if chat.Person == nil {
		return policy.ContactScope(chat.ID), nil
	}
	own, err := store.LinkedChats(ctx, a.Store.DB(), chat.ID)
	return policy.ContactScope(own...), err
}

// placesOf are the owner's documents and the public ones, and the chats that the question names, or those in which something was said in
// the time that it is about, lately when it asks for what was said last: what was said in other chats has no part in an answer unless it is asked for.
func (a *Agent) placesOf(ctx context.Context, question string) (places, error) {
	chats, err := a.chatNames(ctx)
	if err != nil {
		return places{}, err
	}
	var p places
	p.named, p.unclear = policy.Mentioned(question, chats, search.IsCommonWord)
	ids := make([]int64, len(p.named))
	for i, c := range p.named {
		ids[i] = c.ID
	}
	_, question = mention(a.Personas, question)
	when := memory.AskedTime(question, a.now().In(a.Zone))
	if when.IsZero() && a.Memory != nil && !a.Memory.NotesOnly {
		when = memory.AskedNewest(question, a.now())
	}
	if !when.IsZero() && len(p.named)+len(p.unclear) == 0 && a.Memory != nil {
		if p.heard, err = a.Memory.Hear(ctx, memory.Missed{Period: when}); err != nil {
			return places{}, err
		}
		p.time, ids = a.timeText(when), p.heard.Chats()
	}
	p.scope = policy.OwnerScope(ids...)
	return p, nil
}

// timeText writes a stretch of time as people read it.
func (a *Agent) timeText(s schedule.Period) string {
	from := schedule.Text(s.From, a.now(), a.Zone)
	if s.Until.IsZero() || s.Until.After(a.now()) {
		return "since " + from
	}
	return from + " to " + schedule.Text(s.Until, a.now(), a.Zone)
}

// chatNames are what the owner may call the chats.
func (a *Agent) chatNames(ctx context.Context) ([]policy.ChatName, error) {
	chats, err := store.ChatNames(ctx, a.Store.DB())
	for i, c := range chats {
		chats[i].Network = bridgebridge.NetworkName(c.Network)
	}
	return chats, err
}

// looked says where was looked.
func (p places) looked() string {
	where := []string{"your documents"}
	for _, c := range p.named {
		where = append(where, text.Escape(c.Name)+" · "+text.Escape(c.Network))
	}
	if p.time != "" {
		where = append(where, "all chats "+p.time)
	}
	body := "Looked in: " + strings.Join(where, ", ") + "."
	var names, networks []string
	for _, c := range p.unclear {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
		if network := text.Escape(c.Network); !slices.Contains(networks, network) {
			networks = append(networks, network)
		}
	}
	if len(names) == 0 {
		return body
	}
	hint := "the whole name"
	if len(networks) > 1 {
		hint = "the network (" + strings.Join(networks, ", ") + ")"
	}
	return body + " Not in the chats of " + text.Escape(strings.Join(names, ", ")) + ": there are several; say " + hint + ", and I look there."
}

// lookedIfNamed says it below an answer, if it is anything but the usual.
func (p places) lookedIfNamed() string {
	if len(p.named)+len(p.unclear) == 0 && p.time == "" {
		return ""
	}
	return "\n\n" + p.looked()
}

// span holds a sentence against the passage it names, and counts what a model made up.
func (r *run) span(s sentence) (store.Span, bool) {
	span, ok := r.check(s)
	if !ok && (s.Source != 0 || strings.TrimSpace(s.Quote) != "") {
		r.invented++
	}
	return span, ok
}

// unlinked is what a model says with the addresses broken that stand in nothing it was given.
func (r *run) unlinked(said string) string { return policy.Unlinked(said, r.given...) }

// countInvented notes how many citations were made up.
func (r *run) countInvented(ctx context.Context) {
	if r.invented == 0 {
		return
	}
	if err := store.CountInvented(context.WithoutCancel(ctx), r.Store.DB(), r.invented); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot count what was made up")
	}
	r.invented = 0
}
