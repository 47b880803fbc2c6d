package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"multis/agent/run"
	"multis/policy"
	"multis/store"
)

// conversation is the earlier conversation in a chat as a model reads it: a summary, then the last messages.
type conversation struct {
	summary  store.Summary
	stored   store.Summary // the stored summary, even if the notes cover it and summary is empty
	messages []store.Message
	answered []store.AnsweredQuestion // in the owner's room: the questions and answers that messages has
}

// first returns the conversation as it was after its first n messages.
func (c conversation) first(n int) conversation {
	kept := store.IDsOf(c.messages[:n])
	c.messages = c.messages[:n]
	c.answered = slices.DeleteFunc(slices.Clone(c.answered), func(q store.AnsweredQuestion) bool {
		return !slices.Contains(kept, q.Message)
	})
	return c
}

// messageIDs returns the messages whose words may be in the conversation.
func (c conversation) messageIDs() []store.MessageID {
	ids := slices.Concat(store.IDsOf(c.messages), c.summary.Sources)
	for _, q := range c.answered {
		ids = append(ids, q.Sources...)
	}
	return ids
}

// isTainted reports whether the conversation in an owner's room may repeat text of others.
func (c conversation) isTainted() bool {
	isTainted := func(q store.AnsweredQuestion) bool { return q.Tainted }
	return (c.summary.Body != "" && c.summary.Tainted) || slices.ContainsFunc(c.answered, isTainted)
}

// sources returns the messages of messageIDs, each once and in order.
func (c conversation) sources() []store.MessageID {
	ids := c.messageIDs()
	slices.Sort(ids)
	return slices.Compact(ids)
}

// windowStart returns the time up to which notes cover a chat's conversation. The zero time means that there are none.
func (co *core) windowStart(ctx context.Context, chat store.Chat) (time.Time, error) {
	kept, err := store.CaptureStateOf(ctx, co.store.DB(), chat.ID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && kept.WindowFrom == nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return *kept.WindowFrom, nil
}

// readConversation reads the conversation before the messages that are answered, with the rights of db. It sets summarise
// if the next answer would no longer have room for all of it.
func (r *attempt) readConversation(ctx context.Context, db store.DB, chat store.Chat, answered []store.MessageID) (conversation, error) {
	since, err := r.core.windowStart(ctx, chat)
	if err != nil {
		return conversation{}, err
	}
	c, err := r.core.conversation(ctx, db, chat, since, answered, r.run.Limits.Window)
	r.summarise = r.run.Limits.SummariseCount(c.messages, len(answered)) > 0
	return c, err
}

// conversation reads at most limit messages of a chat since a time, without those that are being answered. db must have the rights of
// the person who is answered.
func (co *core) conversation(ctx context.Context, db store.DB, chat store.Chat, since time.Time, answered []store.MessageID,
	limit int,
) (conversation, error) {
	var c conversation
	var err error
	c.summary, err = store.SummaryOf(ctx, db, chat.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return conversation{}, err
	}
	c.stored = c.summary
	if c.summary.Until.Before(since) {
		c.summary = store.Summary{}
	} else {
		since = c.summary.Until
	}
	if chat.Kind != policy.KindAdmin {
		without := slices.Concat(answered, c.summary.Sources)
		c.messages, err = store.RecentMessages(ctx, db, chat.ID, since, without, limit)
		if err == nil && co.injection.Enabled {
			c.messages, err = store.WithoutBlocked(ctx, co.store.DB(), c.messages)
		}
		return c, err
	}
	c.answered, err = store.AnsweredQuestions(ctx, db, store.AnsweredFilter{
		Room:     chat.ID,
		Since:    since,
		Before:   c.summary.Sources,
		Excluded: answered,
		Limit:    limit / 2,
	})
	for _, q := range c.answered {
		said := run.VisibleText(q.Answer)
		if said == "" {
			continue // an answer that nobody could read
		}
		c.messages = append(c.messages,
			store.Message{
				ID:      q.Message,
				ChatID:  chat.ID,
				EventID: q.EventID,
				Author:  policy.AuthorOwnerClient,
				At:      q.At,
				Body:    q.Question,
			},
			store.Message{
				ID:      q.Message,
				ChatID:  chat.ID,
				EventID: q.EventID,
				Author:  policy.AuthorMultisBot,
				At:      q.At,
				Body:    said,
			})
	}
	return c, err
}

// whoAnswered returns which people answered last and until when, for the answer that follows; empty if the assistant has
// answered since.
func (co *core) whoAnswered(messages []store.Message) string {
	var who []string
	var until time.Time
	for _, m := range messages {
		switch m.Author {
		case policy.AuthorOwnerClient, policy.AuthorOwnerPhone, policy.AuthorOperator:
			if name := "the " + run.Speaker(m.Author); !slices.Contains(who, name) {
				who = append(who, name)
			}
			until = m.At
		case policy.AuthorMultisOwner, policy.AuthorMultisBot:
			who = nil
		case policy.AuthorContact, policy.AuthorBridgeBot, policy.AuthorOtherBot:
		}
	}
	if len(who) == 0 {
		return ""
	}
	return "Until " + until.In(co.zone).Format("Mon 2 Jan 2006, 15:04") + " " + strings.Join(who, " and ") +
		" answered here, not you. Since then you answer again."
}

// maxSaidBefore is how many earlier messages of a contact a follow-up is read with, if no model reads them.
const maxSaidBefore = 3

// saidBefore returns what a contact asked before in the conversation, the oldest first.
func (t *Turns) saidBefore(ctx context.Context, chat store.ChatID, waiting []store.Message) (said []string, err error) {
	const limit = 4 * maxSaidBefore // answers stand between them
	since := t.now().Add(-policy.ConversationGap)
	messages, err := store.RecentMessages(ctx, t.store.DB(), chat, since, store.IDsOf(waiting), limit)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if m.Author == policy.AuthorContact && m.Body != "" && !policy.IsAcknowledgement(m.Body) && !policy.IsGreeting(m.Body) {
			said = append(said, m.Body)
		}
	}
	return said[max(len(said)-maxSaidBefore, 0):], nil
}
