package desk

import (
	"context"
	"errors"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// errCardUnsent is returned for an escalation whose card was dropped or could not be sent. The owner was told that when it happened.
var errCardUnsent = errors.New("the card of the escalation was not sent")

// The stages in which people are notified that nobody has claimed an escalation.
const (
	stageOperators = 1
	stageOwner     = 2
	stageWebhook   = 3
)

// runTimers does what is due by the clock: it notifies the next people if nobody has claimed an escalation, and ends an
// answered one. It returns how long to wait until the next time; zero for none.
func (d *Desk) runTimers(ctx context.Context, tx store.Tx, e *store.Escalation, chat store.Chat) (time.Duration, error) {
	switch {
	case !e.IsOpen():
		return 0, nil
	case e.AnsweredAt != nil:
		return d.endAnswered(ctx, tx, e, chat)
	case e.ClaimedBy != "" || d.ClaimWithin <= 0 || e.PageCount >= stageWebhook: // several jobs may run for one escalation
		return 0, nil
	}
	skipped := 0
	if len(d.Operators) == 0 {
		skipped = stageOperators
	}
	called := max(e.PageCount, skipped)
	due := e.OpenedAt.Add(time.Duration(called-skipped+1) * d.ClaimWithin)
	if wait := due.Sub(d.Now()); wait > 0 {
		return wait, nil
	}
	called++
	if err := d.notifyStage(ctx, tx, *e, chat, called); err != nil {
		return 0, err
	}
	e.PageCount = called
	if err := store.SetPageCount(ctx, tx, e.ID, called); err != nil {
		return 0, err
	}
	if called >= stageWebhook {
		return 0, nil
	}
	return d.ClaimWithin, nil
}

// notifyStage tells one stage that nobody has claimed an escalation: the operators, the owner, or the webhooks.
func (d *Desk) notifyStage(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, stage int) error {
	if stage == stageWebhook {
		return jobs.EmitHookEvent(ctx, tx, policy.HookUnclaimed, hookReference(e.MessageID))
	}
	who := d.Operators
	if stage == stageOwner {
		who = []id.UserID{d.Owner}
	}
	return d.notifyInThread(ctx, tx, e, who, "🔔 **"+text.Escape(chat.Label())+" has been waiting since "+
		clock(e.OpenedAt, d.Now(), d.Zone)+"** and nobody has claimed it. React ✋ on the card.")
}

// notifyInThread writes an alert into the thread and mentions people.
func (d *Desk) notifyInThread(ctx context.Context, tx store.Tx, e store.Escalation, who []id.UserID, markdown string) error {
	room, err := d.room(ctx, tx, e)
	if err != nil {
		return err
	}
	notice := outbox.NewNotice(room, markdown, outbox.Alert)
	notice.Thread, notice.Mention = *e.CardEvent, who
	_, _, err = d.Box.Queue(ctx, tx, notice)
	return err
}

// endAnswered ends an escalation when no person has written for OwnerPause. If the contact has the last word, it waits for a person again.
func (d *Desk) endAnswered(ctx context.Context, tx store.Tx, e *store.Escalation, chat store.Chat) (time.Duration, error) {
	if chat.PausedUntil != nil && chat.PausedUntil.After(d.Now()) {
		return 0, nil // until somebody resolves it
	}
	quiet := e.AnsweredAt.Add(d.OwnerPause)
	if chat.OwnerWroteAt != nil && chat.OwnerWroteAt.Add(d.OwnerPause).After(quiet) {
		quiet = chat.OwnerWroteAt.Add(d.OwnerPause)
	}
	if wait := quiet.Sub(d.Now()); wait > 0 {
		return wait, nil
	}
	last, err := store.NewestMessage(ctx, tx, e.ChatID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	now := d.Now()
	if err == nil && last.Author == policy.AuthorContact && last.At.After(*e.AnsweredAt) && !policy.IsAcknowledgement(last.Body, d.Name) {
		who := e.ClaimedBy
		if who == "" {
			who = d.Owner
		}
		err := d.notifyInThread(ctx, tx, *e, []id.UserID{who},
			"🔔 **"+text.Escape(chat.Label())+" is waiting again**, since "+clock(last.At, d.Now(), d.Zone)+
				". React ✋ on the card.")
		if err != nil {
			return 0, err
		}
		e.AnsweredAt = nil
		e.ClaimedBy = ""
		e.ClaimedAt = nil
		e.PageCount = 0
		return d.ClaimWithin, store.MarkWaitingAgain(ctx, tx, e.ID, now)
	}
	_, err = store.ResolveEscalation(ctx, tx, e.ID, "")
	e.ClosedAt = &now
	return 0, err
}
