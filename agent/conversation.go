package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"multis/agent/run"
	"multis/policy"
	"multis/store"
)

// conversation is what was said in a chat, as a model reads it: a summary, then the last messages word for word.
type conversation struct {
	summary store.Summary
	stored  store.Summary // as it is in the database; summary is empty if the notes cover it
	said    []store.Message
	about   []store.MessageID // more messages whose words may be in it
}

// messages returns the messages whose words may be in the conversation.
func (c conversation) messages() []store.MessageID {
	return slices.Concat(idsOf(c.said), c.summary.About, c.about)
}

// windowFrom returns when the part of a chat's conversation begins that the notes do not cover. The zero time means that they cover none.
func (a *Agent) windowFrom(ctx context.Context, chat store.Chat) (time.Time, error) {
	kept, err := store.MemoryOf(ctx, a.Store.DB(), chat.ID)
	if errors.Is(err, store.ErrNotFound) || (err == nil && kept.WindowFrom == nil) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return *kept.WindowFrom, nil
}

// readConversation reads the conversation before the messages that are answered, with the rights of db, and decides whether it is to be summarised
// before the next answer would cut it.
func (r *attempt) readConversation(ctx context.Context, db store.DB, chat store.Chat, answered []store.MessageID) (conversation, error) {
	since, err := r.agent.windowFrom(ctx, chat)
	if err != nil {
		return conversation{}, err
	}
	c, err := r.agent.conversation(ctx, db, chat, since, answered, r.run.Limits.Window)
	r.summarise = r.run.Limits.SummariseCount(c.said, len(answered)) > 0
	return c, err
}

// conversation reads at most limit messages of a chat since a time, without those that are being answered. db has the rights of
// the person who is answered.
func (a *Agent) conversation(ctx context.Context, db store.DB, chat store.Chat, since time.Time, answered []store.MessageID, limit int) (conversation, error) {
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
	without := slices.Concat(answered, c.summary.About)
	if chat.Kind != policy.KindAdmin {
		c.said, err = store.RecentMessages(ctx, db, chat.ID, since, without, limit)
		return c, err
	}
	asked, err := store.AnsweredQuestions(ctx, db, chat.ID, since, without, limit/2)
	for _, q := range asked {
		c.said = append(c.said,
			store.Message{ID: q.Message, ChatID: chat.ID, EventID: q.EventID, Author: policy.AuthorOwnerClient, At: q.At, Body: q.Question},
			store.Message{ID: q.Message, ChatID: chat.ID, EventID: q.EventID, Author: policy.AuthorMultisBot, At: q.At, Body: run.VisibleText(q.Answer)})
		c.about = append(c.about, q.About...)
	}
	return c, err
}
