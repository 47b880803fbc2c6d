package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"multis/internal/text"
	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// report records all findings as judged, and notifies the owner of those that the verdict selects. The same transaction
// ends the task, unless it is nil.
func (c *check) report(ctx context.Context, task *store.Task, v verdict) (note string, err error) {
	reported := 0
	var sources []store.MessageID
	err = c.checker.Store.InTx(ctx, func(tx store.Tx) error {
		if task != nil {
			ended, err := store.EndTask(ctx, tx, *task)
			if err != nil {
				return err
			}
			if ended.Forgotten { // messages were deleted meanwhile: the next check finds what is left
				return nil
			}
			sources = ended.Sources
		}
		lines, about, err := c.record(ctx, tx, v, sources)
		reported = len(lines)
		if err != nil {
			return err
		}
		if reported == 0 {
			return nil
		}
		notice := outbox.NewNotice(c.room, noticeText(lines), outbox.Alert)
		notice.Quotes = about
		notice.Sources = sources
		notice.Profile = c.persona.Profile()
		if task != nil {
			notice.TaskID = task.ID
		}
		_, _, err = c.checker.Box.Queue(ctx, tx, notice)
		return err
	})
	if errors.Is(err, store.ErrTaskLost) {
		return "looked", nil
	}
	if reported == 0 {
		return "nothing that matters", err
	}
	return fmt.Sprintf("told %d", reported), err
}

// record stores all findings as judged. It returns a line about each finding to report, and the messages that the lines quote.
func (c *check) record(ctx context.Context, tx store.Tx, v verdict,
	sources []store.MessageID,
) (lines []string, about []store.MessageID, err error) {
	for _, m := range c.findings {
		sentence, report := v.textFor(m.Key)
		first, err := store.RecordJudgement(ctx, tx, store.Judgement{
			Agent:    c.config.Agent,
			Finding:  m.Key,
			ChatID:   m.ChatID,
			Notified: report,
			At:       c.at,
		})
		if err != nil {
			return nil, nil, err
		}
		if !first || !report {
			continue
		}
		lines = append(lines, c.line(m, sentence))
		about = append(about, m.sourceMessages()...)
		if err := c.draft(ctx, tx, m, v.draft(m.Key), sources); err != nil {
			return nil, nil, err
		}
	}
	for i, item := range c.items {
		sentence, report := v.textFor(itemKey(i))
		if !report || sentence == "" {
			continue
		}
		key := fmt.Sprintf("item:%08x:%s", hash(item), c.day())
		first, err := store.RecordJudgement(ctx, tx, store.Judgement{Agent: c.config.Agent, Finding: key, Notified: true, At: c.at})
		if err != nil {
			return nil, nil, err
		}
		if first { // once a day, whatever the model finds
			lines = append(lines, fmt.Sprintf("- %s (you want me to look at: %s)", text.Escape(sentence), text.Escape(text.Clip(item, 100))))
		}
	}
	return lines, about, nil
}

// draft queues a draft to the contact that a finding is about. An empty message queues nothing.
func (c *check) draft(ctx context.Context, tx store.Tx, m finding, message string, sources []store.MessageID) error {
	if !c.config.Drafts || message == "" || m.chat.Kind == policy.KindAdmin {
		return nil
	}
	_, _, err := c.checker.Box.Queue(ctx, tx, outbox.Message{
		Chat:    m.chat,
		Purpose: policy.PurposeDraft,
		Text:    message,
		Draft:   true,
		Sources: sources,
	})
	return err
}

// line returns the line about one finding, with the model's sentence unless that is empty.
func (c *check) line(m finding, sentence string) string {
	line := "- " + text.Escape(c.describe(m)) + ": “" + text.Escape(text.Clip(text.CollapseSpaces(m.Text), 150)) + "”"
	if sentence != "" {
		line += " " + text.Escape(sentence)
	}
	if link := memory.MessageLink(m.chat, m.EventID); link != "" && m.chat.Kind != policy.KindAdmin {
		line += " · [message](" + link + ")"
	}
	return line
}

// maxLines is how many findings one notice lists.
const maxLines = 10

// noticeText returns the notice to the admin room.
func noticeText(lines []string) string {
	head := "🔔 **This may need you**"
	if len(lines) > 1 {
		head = fmt.Sprintf("🔔 **%d things may need you**", len(lines))
	}
	if more := len(lines) - maxLines; more > 0 {
		lines = append(lines[:maxLines:maxLines], fmt.Sprintf("- and %d more: `/status`", more))
	}
	return head + "\n\n" + strings.Join(lines, "\n")
}

// hash returns a short hash of an item, which stays the same across executions.
func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}
