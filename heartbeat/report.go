package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"multis/memory"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/text"
)

// report notes every matter as judged and tells the owner those that the verdict selects, in one transaction that also ends the task, if there is one.
func (c *check) report(ctx context.Context, task *store.Task, said verdict) (note string, err error) {
	reported := 0
	var restsOn []store.MessageID
	err = c.checker.Store.InTx(ctx, func(tx store.Tx) error {
		if task != nil {
			ended, err := store.EndTask(ctx, tx, *task)
			if err != nil || ended.Forgotten { // the next check finds what is left of it
				return err
			}
			restsOn = ended.RestsOn
		}
		lines, about, err := c.settle(ctx, tx, said, restsOn)
		if reported = len(lines); err != nil || reported == 0 {
			return err
		}
		letter := outbox.Notice(c.room, noticeText(lines), outbox.Alert)
		letter.About, letter.RestsOn, letter.Profile = about, restsOn, c.persona.Profile()
		if task != nil {
			letter.TaskID = task.ID
		}
		_, _, err = c.checker.Box.Queue(ctx, tx, letter)
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

// settle notes every matter as judged, and returns a line about each that is to be told, with the messages that they quote.
func (c *check) settle(ctx context.Context, tx store.Tx, said verdict, restsOn []store.MessageID) (lines []string, about []store.MessageID, err error) {
	for _, m := range c.matters {
		words, report := said.of(m.Key)
		first, err := store.RecordJudgement(ctx, tx, store.Judgement{Agent: c.config.Agent, Matter: m.Key, ChatID: m.ChatID, Told: report, At: c.at})
		if err != nil {
			return nil, nil, err
		}
		if !first || !report {
			continue
		}
		lines = append(lines, c.line(m, words))
		about = append(about, m.restsOn()...)
		if err := c.draft(ctx, tx, m, said.draft(m.Key), restsOn); err != nil {
			return nil, nil, err
		}
	}
	for i, item := range c.items {
		words, report := said.of(itemKey(i))
		if !report || words == "" {
			continue
		}
		key := fmt.Sprintf("item:%08x:%s", hash(item), c.day())
		first, err := store.RecordJudgement(ctx, tx, store.Judgement{Agent: c.config.Agent, Matter: key, Told: true, At: c.at})
		if err != nil {
			return nil, nil, err
		}
		if first { // once a day, whatever the model finds
			lines = append(lines, fmt.Sprintf("- %s (you want me to look at: %s)", text.Escape(words), text.Escape(text.Clip(item, 100))))
		}
	}
	return lines, about, nil
}

// draft drafts a message to the contact that a matter is about.
func (c *check) draft(ctx context.Context, tx store.Tx, m matter, message string, restsOn []store.MessageID) error {
	if !c.config.Drafts || message == "" || m.chat.Kind == policy.KindAdmin {
		return nil
	}
	_, _, err := c.checker.Box.Queue(ctx, tx, outbox.Message{Chat: m.chat, Purpose: policy.PurposeDraft, Text: message, Draft: true, RestsOn: restsOn})
	return err
}

// line tells the owner about one matter, with the model's words if there are any.
func (c *check) line(m matter, words string) string {
	line := "- " + text.Escape(c.facts(m)) + ": “" + text.Escape(text.Clip(text.CollapseSpaces(m.Text), 150)) + "”"
	if words != "" {
		line += " " + text.Escape(words)
	}
	if link := memory.MessageLink(m.chat, m.EventID); link != "" && m.chat.Kind != policy.KindAdmin {
		line += " · [message](" + link + ")"
	}
	return line
}

// maxLines is how many matters one notice lists.
const maxLines = 10

// noticeText is the notice in the admin room.
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

func hash(s string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // it never fails
	return h.Sum32()
}
