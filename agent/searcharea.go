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

// searchArea are the chats and the period from which a question of the owner is answered, beside all documents.
type searchArea struct {
	scope         policy.Scope
	named         []policy.ChatName    // chats that the question names
	unclear       []policy.ChatName    // chats with a name that several chats have
	conversations memory.Conversations // messages of the time that the question is about, in all chats
	time          string               // that time, as people read it; empty if the question names none
}

// contactScope returns what may be read to answer in a chat: public documents, and the data of all chats of the same person.
func (c *core) contactScope(ctx context.Context, chat store.Chat) (policy.Scope, error) {
	if chat.Person == nil {
		return policy.ContactScope(chat.ID), nil
	}
	own, err := store.LinkedChats(ctx, c.store.DB(), chat.ID)
	return policy.ContactScope(own...), err
}

// searchAreaOf returns where to search for a question: in all documents, and in the chats that it names. For a question
// about a period, or about the newest messages, it also reads the messages of that period in all chats. Other chats are
// not read.
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
	return p, nil
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
func (p searchArea) textIfUnusual() string {
	if len(p.named)+len(p.unclear) == 0 && p.time == "" {
		return ""
	}
	return "\n\n" + p.text()
}
