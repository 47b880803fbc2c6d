package agent

import (
	"context"
	"slices"
	"strings"

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
	named   []policy.ChatName    // chats that the question names
	unclear []policy.ChatName    // chats whose name several have
	heard   memory.Conversations // messages of the time that the question is about, in all chats
	time    string               // that time, as people read it; empty if the question is about none
}

// contactScope is what may be read to answer in a chat: public documents, the chat's own data, and that of the person's other chats.
func (a *Agent) contactScope(ctx context.Context, chat store.Chat) (policy.Scope, error) {
	if chat.Person == nil {
		return policy.ContactScope(chat.ID), nil
	}
	own, err := store.LinkedChats(ctx, a.Store.DB(), chat.ID)
	return policy.ContactScope(own...), err
}

// placesOf returns where to look for a question: in all documents, and in the chats that it names. A question about a time, or about what was said
// last, also reads the messages of that time in all chats. Other chats have no part in an answer.
func (a *Agent) placesOf(ctx context.Context, question string) (places, error) {
	chats, err := a.chatNames(ctx)
	if err != nil {
		return places{}, err
	}
	var p places
	p.named, p.unclear = policy.FindMentioned(question, chats, search.IsCommonWord)
	ids := make([]store.ChatID, len(p.named))
	for i, c := range p.named {
		ids[i] = c.ID
	}
	_, question = a.Personas.CutMention(question)
	when := memory.AskedTime(question, a.now().In(a.Zone))
	if when.IsZero() && a.Memory != nil && !a.Memory.NotesOnly {
		when = memory.AskedNewest(question, a.now())
	}
	if !when.IsZero() && len(p.named)+len(p.unclear) == 0 && a.Memory != nil {
		if p.heard, err = a.Memory.ReadConversations(ctx, memory.BriefQuery{Period: when}); err != nil {
			return places{}, err
		}
		p.time, ids = a.timeText(when), p.heard.ChatIDs()
	}
	p.scope = policy.OwnerScope(ids...)
	return p, nil
}

// timeText writes a span of time as people read it.
func (a *Agent) timeText(s schedule.Period) string {
	from := schedule.FormatTime(s.From, a.now(), a.Zone)
	if s.Until.IsZero() || s.Until.After(a.now()) {
		return "since " + from
	}
	return from + " to " + schedule.FormatTime(s.Until, a.now(), a.Zone)
}

// chatNames returns the names by which the owner may call the chats.
func (a *Agent) chatNames(ctx context.Context) ([]policy.ChatName, error) {
	chats, err := store.ChatNames(ctx, a.Store.DB())
	for i, c := range chats {
		chats[i].Network = bridgebridge.NetworkName(c.Network)
	}
	return chats, err
}

// text tells the owner where was looked.
func (p places) text() string {
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

// textIfUnusual is text in a paragraph of its own; empty if only documents were searched.
func (p places) textIfUnusual() string {
	if len(p.named)+len(p.unclear) == 0 && p.time == "" {
		return ""
	}
	return "\n\n" + p.text()
}
