package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/rs/zerolog"

	"multis/agent/run"
	"multis/outbox"
	"multis/policy"
	"multis/schedule"
	"multis/store"
	"multis/text"
)

// ownerReply is what is said to the owner in the admin room.
type ownerReply struct {
	room    store.Chat
	message store.MessageID // that it answers; zero for none
	task    *store.Task     // that ends with it; nil for none
	live    *outbox.Live    // the message that showed progress, which the reply replaces
	by      *outbox.Profile
	sourcedText
	scope policy.Scope // in which the passages were found
	// also is done in the same transaction; nil for nothing. It returns what to add to the reply.
	also      func(ctx context.Context, tx store.Tx) (addition string, err error)
	summarise bool // the conversation is long enough to be summarised
}

// agentID returns the agent that made the reply; empty for the assistant itself.
func (r *ownerReply) agentID() string {
	if r.task == nil {
		return ""
	}
	return r.task.Agent
}

// errSettled rolls back a reply to a message that another attempt has answered.
var errSettled = errors.New("the message was settled before")

// say queues a reply in the admin room, ends its task, and marks the message that asked as answered, in one transaction.
func (a *Agent) say(ctx context.Context, r *ownerReply) error {
	markdown, restsOn := r.markdown, run.SourceMessages(r.used)
	err := a.Store.InTx(ctx, func(tx store.Tx) error {
		if r.task != nil {
			ended, err := store.EndTask(ctx, tx, *r.task)
			if err != nil {
				return err
			}
			if restsOn = ended.RestsOn; ended.Forgotten {
				markdown, r.used, r.spans = text.Escape(run.ForgottenText()), nil, nil
			}
		}
		if r.also != nil {
			addition, err := r.also(ctx, tx)
			if err != nil {
				return err
			}
			if addition != "" {
				markdown += "\n\n" + addition
			}
		}
		body, err := a.withHeading(ctx, tx, r.task, markdown)
		if err != nil {
			return err
		}
		letter := outbox.Notice(r.room, body, outbox.Answer)
		letter.Replaces, letter.Profile, letter.About, letter.RestsOn = r.live.Event(), r.by, run.SourceMessages(r.used), restsOn
		letter.Spans = r.spans
		if r.task != nil {
			letter.TaskID = r.task.ID
		}
		out, _, err := a.Box.Queue(ctx, tx, letter)
		if err != nil {
			return err
		}
		if err := enqueueSummary(ctx, tx, r.room.ID, r.agentID(), r.summarise); err != nil {
			return err
		}
		return a.settleQuestion(ctx, tx, r, &out)
	})
	switch {
	case errors.Is(err, errSettled), errors.Is(err, store.ErrTaskLost):
		return nil
	case err != nil:
		return err
	}
	a.recordAccess(ctx, r.scope, r.used)
	return nil
}

// settleQuestion marks the message that asked as answered. One that was settled when its task was parked stays so.
func (a *Agent) settleQuestion(ctx context.Context, tx store.Tx, r *ownerReply, out *uuid.UUID) error {
	if r.message == 0 {
		return nil
	}
	settled, err := store.MarkAnswered(ctx, tx, []store.MessageID{r.message}, out, policy.CodeCommand, policy.CodeCommand.Sentence())
	if err == nil && settled == 0 && r.task == nil {
		return errSettled
	}
	return err
}

// settleParked settles the message of a parked task, which is answered later.
func (a *Agent) settleParked(ctx context.Context, message store.MessageID, task store.TaskID) error {
	if message == 0 {
		return nil
	}
	return a.Store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.MarkAnswered(ctx, tx, []store.MessageID{message}, nil, policy.CodeCommand, fmt.Sprintf("Task %d was put aside: it waits, and goes on by itself.", task))
		return err
	})
}

// maxTitle is how much of what a schedule asks, or of a plan's goal, is its heading, in characters.
const maxTitle = 80

// withHeading puts above the answer to a schedule what it asked, and how late the answer is.
func (a *Agent) withHeading(ctx context.Context, db store.DB, task *store.Task, markdown string) (string, error) {
	if task == nil || task.Kind != store.TaskClock {
		return markdown, nil
	}
	head := "⏰ **" + text.Escape(text.Clip(text.CollapseSpaces(task.Input), maxTitle)) + "**"
	var run store.Run
	if task.RunID != nil {
		var err error
		if run, err = store.RunByID(ctx, db, *task.RunID); err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	if late := schedule.LateNotice(run.DueAt, run.StartedAt, 0, a.Zone); late != "" {
		head += "\n" + text.Escape(late)
	}
	return head + "\n\n" + markdown, nil
}

// footer tells what an answer took if it took tools or money, and notes the cost in done.
func (r *attempt) footer(ctx context.Context, done *store.Task) string {
	var parts []string
	if n := len(r.run.Used); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, text.Plural(n, "tool", "tools")))
	}
	cost, err := r.run.Cost(ctx)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot tell what a task cost")
	}
	done.Cost = cost
	if cost > 0 {
		parts = append(parts, text.ExactMoney(cost, r.agent.Currency))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("\n\n_task %d · %s_", r.run.Task.ID, strings.Join(parts, " · "))
}

// paragraph returns s, escaped, in a paragraph of its own; empty for an empty one.
func paragraph(s string) string {
	if s == "" {
		return ""
	}
	return "\n\n" + text.Escape(s)
}

// effects tells, in a paragraph, what a task that did not complete has changed all the same.
func (a *Agent) effects(ctx context.Context, task store.TaskID) string {
	return paragraph(run.EffectsText(ctx, a.Store, task))
}

// escapeLines escapes each line of a text, and keeps the line ends.
func escapeLines(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, text.Escape(strings.TrimSpace(line)))
	}
	return strings.Join(lines, "  \n")
}
