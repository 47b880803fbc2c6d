package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/clock/schedule"
	"multis/internal/text"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// ownerReply is a reply to the owner in the admin room.
type ownerReply struct {
	room    store.Chat
	message store.MessageID     // the message that it answers; zero for none
	task    *store.Task         // the task that ends with it; nil for none
	live    *outbox.LiveMessage // the message that showed progress, which the reply replaces
	profile *outbox.Profile
	sourcedText
	scope policy.Scope // the scope in which the passages were found
	// inSameTx runs in the transaction of the reply; nil for nothing. It returns a text to add to the reply.
	inSameTx  func(ctx context.Context, tx store.Tx) (addition string, err error)
	summarise bool // the conversation is long enough to be summarised
}

// agentID returns the id of the agent that made the reply; empty for the assistant itself.
func (r *ownerReply) agentID() string {
	if r.task == nil {
		return ""
	}
	return r.task.Agent
}

// errAlreadyAnswered rolls back a reply to a message that another attempt has answered.
var errAlreadyAnswered = errors.New("the message was settled before")

// queueReply queues a reply in the admin room, ends its task, and marks the message that asked as answered, in one transaction.
func (c *core) queueReply(ctx context.Context, r *ownerReply) error {
	err := c.store.InTx(ctx, func(tx store.Tx) error {
		markdown, sources := r.markdown, run.SourceMessages(r.used)
		if r.task != nil {
			ended, err := store.EndTask(ctx, tx, *r.task)
			if err != nil {
				return err
			}
			if sources = ended.Sources; ended.Forgotten {
				markdown = text.Escape(run.ForgottenText())
				r.used = nil
				r.citations = nil
			}
		}
		if r.inSameTx != nil {
			addition, err := r.inSameTx(ctx, tx)
			if err != nil {
				return err
			}
			if addition != "" {
				markdown += "\n\n" + addition
			}
		}
		body, err := c.withHeading(ctx, tx, r.task, markdown)
		if err != nil {
			return err
		}
		message := outbox.NewNotice(r.room, body, outbox.Answer)
		message.Replaces = r.live.Event()
		message.Profile = r.profile
		message.Quotes = run.SourceMessages(r.used)
		message.Sources = sources
		message.Citations = r.citations
		if r.task != nil {
			message.TaskID = r.task.ID
		}
		out, _, err := c.box.Queue(ctx, tx, message)
		if err != nil {
			return err
		}
		if err := enqueueSummary(ctx, tx, r.room.ID, r.agentID(), r.summarise); err != nil {
			return err
		}
		return c.markAnswered(ctx, tx, r, &out)
	})
	switch {
	case errors.Is(err, errAlreadyAnswered), errors.Is(err, store.ErrTaskLost):
		return nil
	case err != nil:
		return err
	}
	c.recordAccess(ctx, r.scope, r.used)
	return nil
}

// markAnswered marks the message with the question as answered. It returns errAlreadyAnswered if another attempt did.
func (c *core) markAnswered(ctx context.Context, tx store.Tx, r *ownerReply, out *uuid.UUID) error {
	if r.message == 0 {
		return nil
	}
	settled, err := store.MarkAnswered(ctx, tx, []store.MessageID{r.message}, out, policy.CodeCommand, policy.CodeCommand.Sentence())
	if err == nil && settled == 0 && r.task == nil {
		return errAlreadyAnswered
	}
	return err
}

// markParked marks the message of a parked task as answered, because the task answers by itself later.
func (c *core) markParked(ctx context.Context, message store.MessageID, task store.TaskID) error {
	if message == 0 {
		return nil
	}
	return c.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.MarkAnswered(ctx, tx, []store.MessageID{message}, nil, policy.CodeCommand,
			fmt.Sprintf("Task %d was put aside: it waits, and continues automatically.", task))
		return err
	})
}

// maxTitle is the maximum length of a heading, in characters: the text of a schedule or the goal of a plan.
const maxTitle = 80

// withHeading adds a heading to the answer of a schedule: the schedule's text, and how late the answer is.
func (c *core) withHeading(ctx context.Context, db store.DB, task *store.Task, markdown string) (string, error) {
	if task == nil || task.Kind != store.TaskSchedule {
		return markdown, nil
	}
	head := "⏰ **" + text.Escape(text.Clip(text.CollapseSpaces(task.Input), maxTitle)) + "**"
	var run store.Execution
	if task.ExecutionID != nil {
		var err error
		if run, err = store.ExecutionByID(ctx, db, *task.ExecutionID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	if late := schedule.LateNotice(run.DueAt, run.StartedAt, 0, c.zone); late != "" {
		head += "\n" + text.Escape(late)
	}
	return head + "\n\n" + markdown, nil
}

// footer returns a line with the tools and the money that an answer took; empty if none. It stores the cost in done.
func (r *attempt) footer(ctx context.Context, done *store.Task) string {
	var parts []string
	if n := len(r.run.CallLines); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, text.Plural(n, "tool", "tools")))
	}
	cost, err := r.run.Cost(ctx)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot tell what a task cost")
	}
	done.Cost = cost
	if cost > 0 {
		parts = append(parts, text.ExactMoney(cost, r.core.currency))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("\n\n_task %d · %s_", r.run.Task.ID, strings.Join(parts, " · "))
}

// paragraph returns s, escaped, as a paragraph of its own. An empty s gives an empty string.
func paragraph(s string) string {
	if s == "" {
		return ""
	}
	return "\n\n" + text.Escape(s)
}

// effectsText returns a paragraph about the side effects of a task that did not complete; empty if there are none.
func (c *core) effectsText(ctx context.Context, task store.TaskID) string {
	return paragraph(run.EffectsText(ctx, c.store, task))
}

// escapeLines escapes a text and keeps its line breaks.
func escapeLines(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, text.Escape(strings.TrimSpace(line)))
	}
	return strings.Join(lines, "  \n")
}
