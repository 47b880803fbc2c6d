package agent

import (
	"context"
	"slices"
	"strings"

	"multis/bridgebridge"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/knowledge/search"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

// searchArea says what a question of the owner is answered from: from all documents and notes, from the chats and the
// period that it names, and if those do not answer it, from all his chats.
type searchArea struct {
	scope         policy.Scope         // documents, the owner's notes, and the chats that the question names
	wide          policy.Scope         // scope, and every other chat that is not off
	named         []policy.ChatName    // chats that the question names
	unclear       []policy.ChatName    // chats with a name that several chats have
	conversations memory.Conversations // messages of the time that the question is about, in all chats
	time          string               // that time, as people read it; empty if the question names none
	omitMemory    bool                 // a skill leaves notes and chats out
	usedWide      bool                 // whether wide was searched
}

// documentsArea returns an area without notes and chats.
func documentsArea() searchArea {
	return searchArea{scope: policy.OwnerScope(), wide: policy.OwnerScope(), omitMemory: true}
}

// contactScope returns what may be read to answer in a chat: public documents, and the data of all chats of the same person.
func (c *core) contactScope(ctx context.Context, chat store.Chat) (policy.Scope, error) {
	if chat.Person == nil {
		return policy.ContactScope(chat.ID), nil
	}
	own, err := store.LinkedChats(ctx, c.store.DB(), chat.ID)
	return policy.ContactScope(own...), err
}

// searchAreaOf returns where to search for a question. For a question about a period, or about the newest messages, it
// reads the messages of that period in all chats.
func (c *core) searchAreaOf(ctx context.Context, question string) (searchArea, error) {
	chats, err := c.chatNames(ctx)
	if err != nil {
		return searchArea{}, err
	}
	var p searchArea
	p.named, p.unclear = policy.FindChatsInQuestion(question, chats, search.IsCommonWord)
	ids := make([]store.ChatID, len(p.named))
	for i, c := range p.named {
		ids[i] = c.ID
	}
	_, question = c.personas.CutMention(question)
	when := memory.QuestionPeriod(question, c.now().In(c.zone))
	if when.IsZero() && c.memory != nil && !c.memory.NotesOnly {
		when = memory.LatestPeriod(question, c.now())
	}
	if !when.IsZero() && len(p.named)+len(p.unclear) == 0 && c.memory != nil {
		if p.conversations, err = c.memory.ReadConversations(ctx, memory.BriefQuery{Period: when}); err != nil {
			return searchArea{}, err
		}
		p.time, ids = c.timeText(when), p.conversations.ChatIDs()
	}
	p.scope = policy.OwnerScope(ids...)
	others, err := c.searchableChats(ctx, chats)
	p.wide = policy.OwnerScope(append(others, ids...)...)
	return p, err
}

// searchableChats returns those of some chats that are not off.
func (c *core) searchableChats(ctx context.Context, chats []policy.ChatName) ([]store.ChatID, error) {
	ids := make([]store.ChatID, len(chats))
	for i, chat := range chats {
		ids[i] = chat.ID
	}
	byID, err := store.ChatsByID(ctx, c.store.DB(), ids)
	return slices.DeleteFunc(ids, func(id store.ChatID) bool { return byID[id].IsOff(c.defaults) }), err
}

// timeText formats a period for people.
func (c *core) timeText(s schedule.Period) string {
	from := schedule.FormatTime(s.From, c.now(), c.zone)
	if s.Until.IsZero() || s.Until.After(c.now()) {
		return "since " + from
	}
	return from + " to " + schedule.FormatTime(s.Until, c.now(), c.zone)
}

// chatNames returns the names by which the owner may call the chats.
func (c *core) chatNames(ctx context.Context) ([]policy.ChatName, error) {
	chats, err := store.ChatNames(ctx, c.store.DB())
	for i, c := range chats {
		chats[i].Network = bridgebridge.NetworkName(c.Network)
	}
	return chats, err
}

// text tells the owner where multis searched.
func (p searchArea) text() string {
	where := []string{"your documents"}
	for _, c := range p.named {
		where = append(where, text.Escape(c.Name)+" · "+text.Escape(c.Network))
	}
	if p.time != "" {
		where = append(where, "all chats "+p.time)
	}
	if p.usedWide {
		where = append(where, "your notes and chats")
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
	return body + " There are several chats of " + text.Escape(strings.Join(names, ", ")) + ": say " + hint + ", and I look there first."
}

// textIfUnusual is text in a paragraph of its own; empty if the question names no chat and no period.
func (p searchArea) textIfUnusual() string {
	if len(p.named)+len(p.unclear) == 0 && p.time == "" {
		return ""
	}
	return "\n\n" + p.text()
}
