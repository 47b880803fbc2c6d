package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"multis/policy"
	"multis/store"
)

// explainOutbox explains what multis sent or drafted: the message that it answers, or why it was made.
func (ex *whyCommands) explainOutbox(ctx context.Context, o store.OutboxMessage) (answer, error) {
	m, err := store.NewestMessageAnsweredBy(ctx, ex.store.DB(), firstRow(o))
	switch {
	case err == nil:
		return ex.explain(ctx, 0, m.EventID, 1, unknownEvent)
	case !errors.Is(err, store.ErrNotFound):
		return answer{}, err
	}
	text, err := ex.explainSent(ctx, o)
	return answer{text: text, quotes: slices.Concat(o.Quotes, o.Sources)}, err
}

// explainNotice explains what a notice of the admin room is about: the draft on a card, the question that it answers, or
// the newest message of a contact that it quotes.
func (ex *whyCommands) explainNotice(ctx context.Context, r request, shown store.OutboxMessage) (answer, error) {
	db := ex.store.DB()
	asked, err := store.DialogByEvent(ctx, db, shown.ChatID, *shown.EventID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return answer{}, err
	}
	if err == nil && asked.DraftID != nil {
		draft, err := store.OutboxMessageByID(ctx, db, *asked.DraftID)
		if err != nil {
			return answer{}, err
		}
		return ex.explainOutbox(ctx, draft)
	}
	question, err := store.NewestMessageAnsweredBy(ctx, db, shown.ID)
	if err == nil {
		return ex.explainReceived(ctx, r, question.EventID)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return answer{}, err
	}
	quoted, err := store.MessagesByID(ctx, db, shown.Quotes)
	if err != nil {
		return answer{}, err
	}
	newest := store.Message{}
	for _, m := range quoted {
		if m.Author == policy.AuthorContact && m.ID > newest.ID {
			newest = m
		}
	}
	if newest.ID == 0 {
		return answer{text: "That is a notice of mine. `/why` explains messages to and from your contacts, and answers to your questions."}, nil
	}
	return ex.explain(ctx, 0, newest.EventID, 1, unknownEvent)
}

// explainSent says why a message was sent that answers none, with its words and whether it was delivered.
func (ex *whyCommands) explainSent(ctx context.Context, o store.OutboxMessage) (string, error) {
	chat, err := store.ChatByID(ctx, ex.store.DB(), o.ChatID)
	if err != nil {
		return "", err
	}
	origin, err := ex.originOf(ctx, o)
	if err != nil {
		return "", err
	}
	title := "Why I sent this"
	if o.State == store.OutboxDropped {
		title = "Why I did not send this"
	}
	lines := []string{fmt.Sprintf("**%s** to %s at %s", title, esc(chat.Label()), ex.room.shortTime(o.CreatedAt)), origin}
	lines = append(lines, ex.sentLines(o, maxWholeText)...)
	parts, err := ex.partLines(ctx, o, maxWholeText)
	return strings.Join(append(lines, parts...), "\n"), err
}

// originOf says who or what made a message that answers none.
func (ex *whyCommands) originOf(ctx context.Context, o store.OutboxMessage) (string, error) {
	run, err := store.ExecutionOfMessage(ctx, ex.store.DB(), firstRow(o))
	switch {
	case err == nil:
		return fmt.Sprintf("Job %d was due %s (`/jobs %d`).", run.ScheduleID, ex.room.fullTime(run.DueAt), run.ScheduleID), nil
	case !errors.Is(err, store.ErrNotFound):
		return "", err
	}
	made := o.Purpose
	if o.DraftedAs != "" {
		made = o.DraftedAs
	}
	switch {
	case made == policy.PurposeFollowUp:
		return "The contact had not answered for days (`/followup`).", nil
	case made == policy.PurposeRating:
		return "The conversation had ended, and I ask then whether it helped (config: business.ask_rating).", nil
	case made == policy.PurposeOperator:
		return "You sent it with `/send`.", nil
	case made == policy.PurposeEscalation:
		return "A person has to answer there.", nil
	case o.TaskID != nil:
		return fmt.Sprintf("Task %d wrote it.", *o.TaskID), nil
	case o.SeenID != 0:
		return "It was the draft of an answer.", nil
	case len(o.Quotes) == 0:
		return "You wrote it in place of a draft.", nil
	}
	m, err := store.MessageByID(ctx, ex.store.DB(), o.Quotes[0])
	if errors.Is(err, store.ErrNotFound) {
		return "It was written in the thread of an escalation.", nil
	}
	return esc(ex.desk.PersonName(m.Sender)) + " wrote it in the thread of the escalation.", err
}

// maxUnprompted is how many messages that answer none are listed for a chat.
const maxUnprompted = 3

// unpromptedLines list the newest messages to a chat that answer none of its messages, with their reasons.
func (ex *whyCommands) unpromptedLines(ctx context.Context, chat store.ChatID) ([]string, []store.MessageID, error) {
	sent, err := store.UnpromptedMessages(ctx, ex.store.DB(), chat, maxUnprompted)
	if err != nil {
		return nil, nil, err
	}
	if len(sent) == 0 {
		return nil, nil, nil
	}
	lines := []string{"**Also sent there:**"}
	var about []store.MessageID
	for _, o := range sent {
		origin, err := ex.originOf(ctx, o)
		if err != nil {
			return nil, nil, err
		}
		lines = append(lines, fmt.Sprintf("- %s: %s %s", ex.room.shortTime(o.CreatedAt), quote(o.Text(), maxShortText), origin))
		about = slices.Concat(about, o.Quotes, o.Sources)
	}
	return lines, about, nil
}

// maxWithdrawn is how many withdrawn drafts of one message are shown.
const maxWithdrawn = 3

// withdrawnLines show the drafts of answers to a message that were withdrawn, and why.
func (ex *whyCommands) withdrawnLines(ctx context.Context, m store.Message) ([]string, error) {
	drafts, err := store.WithdrawnDrafts(ctx, ex.store.DB(), m.ID, maxWithdrawn)
	var lines []string
	for _, o := range drafts {
		line := "An earlier draft, " + ex.room.shortTime(o.CreatedAt) + ", was withdrawn: " + esc(o.Reason)
		if words := o.Text(); words != "" {
			line += " It was " + quote(words, maxShortText)
		}
		lines = append(lines, line)
	}
	return lines, err
}
