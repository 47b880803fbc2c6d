package heartbeat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"multis/bridgebridge"
	"multis/llm"
	"multis/memory"
	"multis/policy"
	"multis/schedule"
	"multis/store"
)

const (
	// minWait is how long something waits before it is a matter, maxAge how old a matter may be.
	minWait = time.Hour
	maxAge  = 48 * time.Hour
	// repeatAfter is when a contact who still has no answer, and wrote again, is a new matter.
	repeatAfter = 24 * time.Hour
	// lateArrival is how long before the last check a message may have been written that arrived after it.
	lateArrival = 15 * time.Minute
)

// matter is something that may need the owner, with the chat that it is about.
type matter struct {
	store.Matter
	chat store.Chat
}

// restsOn returns the messages whose words may be in the matter.
func (m matter) restsOn() []store.MessageID {
	if m.Message == 0 {
		return m.RestsOn
	}
	return append(slices.Clone(m.RestsOn), m.Message)
}

// facts tells what a matter is, without a model.
func (c *check) facts(m matter) string {
	when, chat := schedule.FormatTime(m.At, c.at, c.checker.Zone), bridgebridge.DisplayName(m.chat.Name)+" · "+bridgebridge.NetworkName(m.chat.Protocol)
	if m.chat.Namesake {
		chat = fmt.Sprintf("%s #%d", chat, m.chat.ID)
	}
	switch m.Kind {
	case store.MatterUnanswered:
		return chat + " has no answer since " + when
	case store.MatterEscalation:
		return chat + " waits for you since " + when
	case store.MatterDue:
		return "promised in " + chat + " and not settled, due " + when
	default:
		return fmt.Sprintf("task %d stands still or failed, since %s", m.Ref, when)
	}
}

// find reads what is new since the last check.
func (c *check) find(ctx context.Context) error {
	db := c.checker.Store.DB()
	found, err := store.NewMatters(ctx, db, store.MatterFilter{
		Agent: c.config.Agent, WaitingSince: c.at.Add(-minWait), NotBefore: c.at.Add(-maxAge), Again: c.at.Add(-repeatAfter), Tasks: c.config.Tasks,
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
			c.matters = append(c.matters, matter{f, chat})
		}
	}
	return c.findItems(ctx)
}

// isRelevant reports whether a matter is one in the mode of its chat. A chat without an answer gets as its message the last one that wants one.
func (c *check) isRelevant(ctx context.Context, m *store.Matter, chat store.Chat) (bool, error) {
	mode := chat.ModeIn(c.checker.Defaults)
	switch m.Kind {
	case store.MatterTask:
		return true, nil
	case store.MatterUnanswered:
		if mode != policy.ModeBusiness {
			return false, nil
		}
		said, err := store.Unanswered(ctx, c.checker.Store.DB(), m.ChatID, c.at.Add(-maxAge))
		if err != nil {
			return false, err
		}
		last, ok := memory.LastMeaningful(said, true)
		m.Message, m.EventID, m.At, m.Text = last.ID, last.EventID, last.At, last.Body
		return ok, nil
	default:
		return mode != policy.ModeOff, nil
	}
}

// findItems sets the items if a model is to check them now: not too often, and only after new messages.
func (c *check) findItems(ctx context.Context) error {
	items := append(slices.Clone(c.config.Items), c.persona.HeartbeatItems()...)
	if len(items) == 0 || c.config.ItemChecks < 1 || c.model.Name() == (llm.None{}).Name() {
		return nil
	}
	db, mem := c.checker.Store.DB(), c.checker.Memory
	last, checks, err := store.LastCheck(ctx, db, c.config.Agent, c.day())
	if err != nil || checks >= c.config.ItemChecks || c.at.Sub(last) < c.config.Active/time.Duration(c.config.ItemChecks) {
		return err
	}
	said, err := store.HasMessageSince(ctx, db, last)
	if err != nil || !said {
		return err
	}
	c.items = items
	if mem == nil {
		return nil
	}
	from := last.Add(-lateArrival)
	if oldest := c.at.Add(-maxAge); from.Before(oldest) {
		from = oldest
	}
	c.heard, err = mem.ReadConversations(ctx, memory.BriefQuery{Period: schedule.Period{From: from}})
	if !slices.ContainsFunc(c.heard.Messages, func(m store.Message) bool { return m.ReceivedAt.After(last) }) {
		c.items, c.heard = nil, memory.Conversations{} // what arrived is older: history from a bridge
	}
	return err
}
