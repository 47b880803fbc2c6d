package heartbeat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"multis/clock/schedule"
	"multis/llm"
	"multis/memory"
	"multis/policy"
	"multis/store"
)

const (
	// Something is reported only if it is older than minWait and younger than maxAge.
	minWait = time.Hour
	maxAge  = 48 * time.Hour
	// repeatAfter is the time after which a contact who wrote again, and still has no answer, is reported again.
	repeatAfter = 24 * time.Hour
	// maxDelivery is how long a message may take to arrive. A message that was written less than this before the last check
	// may have arrived after that check.
	maxDelivery = 15 * time.Minute
)

// finding is something that may need the owner's attention, with the chat that it is about.
type finding struct {
	store.Finding
	chat store.Chat
}

// sourceMessages returns the messages whose words the finding may contain.
func (m finding) sourceMessages() []store.MessageID {
	if m.Message == 0 {
		return m.Sources
	}
	return append(slices.Clone(m.Sources), m.Message)
}

// describe returns the text about a finding that is shown without a model.
func (c *check) describe(m finding) string {
	when, chat := schedule.FormatTime(m.At, c.at, c.checker.Zone), m.chat.Label()
	switch m.Kind {
	case store.FindingUnanswered:
		return chat + " has no answer since " + when
	case store.FindingEscalation:
		return chat + " has been waiting for you since " + when
	case store.FindingDue:
		return "promised in " + chat + " and not settled, due " + when
	default:
		return fmt.Sprintf("task %d has been stuck or failed since %s", m.Ref, when)
	}
}

// find reads the findings and items that are new since the last check.
func (c *check) find(ctx context.Context) error {
	db := c.checker.Store.DB()
	found, err := store.NewFindings(ctx, db, store.FindingFilter{
		Agent:                  c.config.Agent,
		WaitingSince:           c.at.Add(-minWait),
		NotBefore:              c.at.Add(-maxAge),
		RepeatIfNotifiedBefore: c.at.Add(-repeatAfter),
		Tasks:                  c.config.Tasks,
	})
	if err != nil {
		return err
	}
	for _, f := range found {
		chat, err := store.ChatByID(ctx, db, f.ChatID)
		if err != nil {
			return err
		}
		relevant, err := c.isRelevant(ctx, &f, chat)
		if err != nil {
			return err
		}
		if relevant {
			c.findings = append(c.findings, finding{f, chat})
		}
	}
	return c.findItems(ctx)
}

// isRelevant reports whether a finding matters in the mode of its chat. For a chat without an answer it sets the
// finding's message to the last one that needs an answer.
func (c *check) isRelevant(ctx context.Context, m *store.Finding, chat store.Chat) (bool, error) {
	mode := chat.ModeIn(c.checker.Defaults)
	switch m.Kind {
	case store.FindingTask:
		return true, nil
	case store.FindingUnanswered:
		if mode != policy.ModeBusiness {
			return false, nil
		}
		unanswered, err := store.UnansweredMessages(ctx, c.checker.Store.DB(), m.ChatID, c.at.Add(-maxAge))
		if err != nil {
			return false, err
		}
		last, ok := memory.LastMessageToAnswer(unanswered, true)
		m.Message = last.ID
		m.EventID = last.EventID
		m.At = last.At
		m.Text = last.Body
		return ok, nil
	default:
		return mode != policy.ModeOff, nil
	}
}

// findItems sets c.items if a model is to check them now: only if there are new messages, and at most ItemChecks times a day.
func (c *check) findItems(ctx context.Context) error {
	items := append(slices.Clone(c.config.Items), c.persona.HeartbeatItems()...)
	if len(items) == 0 || c.config.ItemChecks < 1 || c.model.Name() == (llm.None{}).Name() {
		return nil
	}
	db, mem := c.checker.Store.DB(), c.checker.Memory
	last, checks, err := store.LastCheck(ctx, db, c.config.Agent, c.day())
	if err != nil {
		return err
	}
	if checks >= c.config.ItemChecks || c.at.Sub(last) < c.config.Active/time.Duration(c.config.ItemChecks) {
		return nil
	}
	hasNew, err := store.HasMessageSince(ctx, db, last)
	if err != nil {
		return err
	}
	if !hasNew {
		return nil
	}
	c.items = items
	if mem == nil {
		return nil
	}
	from := last.Add(-maxDelivery)
	if oldest := c.at.Add(-maxAge); from.Before(oldest) {
		from = oldest
	}
	c.conversations, err = mem.ReadConversations(ctx, memory.BriefQuery{Period: schedule.Period{From: from}})
	if !slices.ContainsFunc(c.conversations.Messages, func(m store.Message) bool { return m.ReceivedAt.After(last) }) {
		c.items, c.conversations = nil, memory.Conversations{} // only older messages arrived: the history of a bridge
	}
	return err
}
