package desk

import (
	"context"
	"errors"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/bridgebridge"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

const (
	// cardWait is the delay of an update while the card is being sent.
	cardWait = time.Second
	// roomWait is the delay of an update while there is no room for its thread.
	roomWait = 10 * time.Second
	// maxLinesPerUpdate is how many lines one update adds to a thread.
	maxLinesPerUpdate = 50
)

// UpdateEscalation brings the thread of an escalation up to date: new and edited messages of the chat, and the state on
// the card. With timed it also runs the timers of the escalation (runTimers). It may be repeated, and returns jobs.Snooze
// while something is still to come.
func (d *Desk) UpdateEscalation(ctx context.Context, escalation store.EscalationID, timed bool) error {
	var wait time.Duration
	err := d.Store.InTx(ctx, func(tx store.Tx) (err error) {
		wait, err = threadUpdate{d}.updateThread(ctx, tx, escalation, timed)
		return err
	})
	if err == nil && wait > 0 {
		return jobs.Snooze(wait)
	}
	return err
}

// threadUpdate brings the thread of an escalation up to date.
type threadUpdate struct{ *Desk }

// updateThread is UpdateEscalation in a transaction. It returns how long to wait for the next update; zero for none.
func (d threadUpdate) updateThread(ctx context.Context, tx store.Tx, escalation store.EscalationID, timed bool) (time.Duration, error) {
	e, chat, err := Lock(ctx, tx, escalation)
	if gone, err := isMissing(err); gone || err != nil {
		return 0, err
	}
	if e.CardID != nil && e.IsOpen() {
		moved, wait, err := d.leaveClosedRoom(ctx, tx, &e)
		if err != nil {
			return 0, err
		}
		if wait > 0 {
			return wait, nil
		}
		if moved {
			return cardWait, d.postMissingCard(ctx, tx, e, chat)
		}
	}
	if e.CardID == nil {
		return cardWait, d.postMissingCard(ctx, tx, e, chat)
	}
	isReplaced, cardDelay, err := d.replaceDeletedCard(ctx, tx, e, chat)
	if err != nil {
		return 0, err
	}
	if isReplaced {
		return cardDelay, nil
	}
	if e.CardEvent == nil {
		return cardWait, giveUpCard(ctx, tx, e)
	}
	var wait time.Duration
	if timed {
		if wait, err = d.runTimers(ctx, tx, &e, chat); err != nil {
			return 0, err
		}
	}
	more, err := d.addLines(ctx, tx, e, chat)
	if err != nil {
		return 0, err
	}
	cardChanged, pending, err := d.changeLines(ctx, tx, e, chat)
	if err != nil {
		return 0, err
	}
	if more || pending {
		wait = cardWait
	}
	return wait, d.refreshCard(ctx, tx, e, chat, cardChanged)
}

// leaveClosedRoom forgets the thread of an escalation if its room is no longer used: another one begins in the room that
// replaced it. wait is how long to wait for that room; zero for not at all.
func (d threadUpdate) leaveClosedRoom(ctx context.Context, tx store.Tx, e *store.Escalation) (left bool, wait time.Duration, err error) {
	room, err := store.ChatByID(ctx, tx, e.CardRoom)
	if err != nil {
		return false, 0, err
	}
	if room.ClosedReason == "" {
		return false, 0, nil
	}
	next := store.AdminChat
	if room.IsOperatorsRoom && d.OwnRoom {
		next = store.OperatorsChat
	}
	if _, err := next(ctx, tx); errors.Is(err, store.ErrNotFound) {
		return false, roomWait, nil
	} else if err != nil {
		return false, 0, err
	}
	e.CardID = nil
	e.CardEvent = nil
	e.CardRoom = 0
	e.CardStatus = ""
	return true, 0, store.DropThread(ctx, tx, e.ID)
}

// replaceDeletedCard posts a new card with what is left of what the contact has written since the card was deleted with a
// message on it: nobody sees a thread that begins with a deleted message. If nothing is left, nobody waits, and the
// escalation ends. If somebody has claimed or answered it, the card is replaced only while its question stands, and what
// is written in the former thread is still sent. done reports whether it did one of them.
func (d threadUpdate) replaceDeletedCard(ctx context.Context, tx store.Tx, e store.Escalation,
	chat store.Chat,
) (done bool, wait time.Duration, err error) {
	if !e.IsOpen() {
		return false, 0, nil
	}
	card, err := store.OutboxMessageByID(ctx, tx, *e.CardID)
	if err != nil {
		return false, 0, err
	}
	if !card.IsErased() {
		return false, 0, nil
	}
	left, err := store.RemainingMessages(ctx, tx, e.ID)
	if err != nil {
		return false, 0, err
	}
	if e.AnsweredAt != nil || e.ClaimedBy != "" {
		asks, err := store.StillAsks(ctx, tx, e.ID)
		if err != nil {
			return false, 0, err
		}
		if !asks {
			return false, 0, nil
		}
	}
	if len(left) == 0 {
		if err := d.dropHolding(ctx, tx, e); err != nil {
			return false, 0, err
		}
		_, err := store.ResolveEscalation(ctx, tx, e.ID, "")
		return true, 0, err
	}
	if err := store.LeaveThread(ctx, tx, e.ID); err != nil {
		return false, 0, err
	}
	e.MessageID = left[len(left)-1].ID
	if err := store.SetEscalationMessage(ctx, tx, e.ID, e.MessageID); err != nil {
		return false, 0, err
	}
	e.CardID = nil
	e.CardEvent = nil
	e.CardRoom = 0
	e.CardStatus = ""
	e.Proposals = nil
	return true, cardWait, d.postCard(ctx, tx, e, Case{Chat: chat, Messages: left})
}

// postMissingCard posts the card of an escalation that has none: an earlier version opened it without one, or the room of
// its card was closed.
func (d threadUpdate) postMissingCard(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat) error {
	m, err := store.MessageByID(ctx, tx, e.MessageID)
	if gone, err := isMissing(err); gone || err != nil {
		return err
	}
	return d.postCard(ctx, tx, e, Case{Chat: chat, Messages: []store.Message{m}})
}

// giveUpCard returns a final error if the card of an escalation will never be sent.
func giveUpCard(ctx context.Context, db store.DB, e store.Escalation) error {
	card, err := store.OutboxMessageByID(ctx, db, *e.CardID)
	if err != nil {
		return err
	}
	if card.State != store.OutboxQueued {
		return jobs.Permanent(errCardUnsent)
	}
	return nil
}

// addLines adds the messages of the chat to the thread that it does not show yet. more reports whether there are others.
func (d threadUpdate) addLines(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat) (more bool, err error) {
	lines, err := store.NewThreadLines(ctx, tx, e.ID, maxLinesPerUpdate)
	if err != nil {
		return false, err
	}
	room, err := d.room(ctx, tx, e)
	if err != nil {
		return false, err
	}
	for _, line := range lines {
		notice := d.lineNotice(e, chat, room, line)
		notice.Thread = *e.CardEvent
		out, _, err := d.Box.Queue(ctx, tx, notice)
		if err != nil {
			return false, err
		}
		if err := d.show(ctx, tx, e.ID, out, line.Message); err != nil {
			return false, err
		}
	}
	return len(lines) == maxLinesPerUpdate, nil
}

// lineNotice returns the notice that shows a message. A line of the contact alerts the operator who has claimed the
// escalation, and one that says danger or pain the owner if nobody has. The owner's clients alert him anyway.
func (d threadUpdate) lineNotice(e store.Escalation, chat, room store.Chat, line store.ThreadLine) outbox.Message {
	kind := outbox.Quiet
	var mention []id.UserID
	if line.Author == policy.AuthorContact && e.ClaimedBy != "" && e.ClaimedBy != d.Owner {
		kind, mention = outbox.Alert, []id.UserID{e.ClaimedBy}
	}
	sign := "💬"
	if line.Author == policy.AuthorContact && policy.IsDanger(line.Body) {
		kind, sign = outbox.Alert, "🚨"
	}
	body := shownLines(text.Clip(shownText(line.Message), maxThreadLine))
	role := "" // contacts choose their names, so that a name alone does not say who speaks
	if line.Author == policy.AuthorContact {
		role = "customer "
	}
	notice := outbox.NewNotice(room, sign+" "+role+"**"+text.Escape(d.speaker(chat, line))+"**:"+body, kind)
	notice.Mention, notice.Quotes = mention, []store.MessageID{line.ID}
	return notice
}

// shownLines returns a message as Markdown, to stand after the name of its author: a single line as it is, several as a
// quote below, so that none of them looks like a message of somebody else.
func shownLines(s string) string {
	if s = strings.TrimSpace(text.Clean(s)); !strings.Contains(s, "\n") {
		return " " + text.Escape(s)
	}
	return "\n\n" + quoteLines(s)
}

// speaker names who wrote a message of a chat.
func (d threadUpdate) speaker(chat store.Chat, line store.ThreadLine) string {
	owner := d.PersonName(d.Owner)
	switch line.Author {
	case policy.AuthorContact:
		return bridgebridge.DisplayName(chat.Name)
	case policy.AuthorOwnerPhone:
		return owner + " (phone)"
	case policy.AuthorMultisOwner:
		if line.Approved {
			return owner
		}
		return d.Name + " (assistant)"
	case policy.AuthorOperator:
		return d.PersonName(line.Sender)
	default:
		return owner
	}
}

// changeLines replaces the lines whose message was edited or transcribed. card reports whether the card quotes one of them, pending whether
// one is still being sent.
func (d threadUpdate) changeLines(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat) (card, pending bool, err error) {
	changed, err := store.ChangedThreadLines(ctx, tx, e.ID)
	if err != nil {
		return false, false, err
	}
	if len(changed) == 0 {
		return false, false, nil
	}
	room, err := d.room(ctx, tx, e)
	if err != nil {
		return false, false, err
	}
	for _, line := range changed {
		switch {
		case *line.ShownBy == *e.CardID:
			card = true
		case line.ShownEvent == nil:
			pending = true
			continue
		default:
			notice := d.lineNotice(e, chat, room, line)
			notice.Kind, notice.Replaces = outbox.Quiet, *line.ShownEvent
			if _, _, err := d.Box.Queue(ctx, tx, notice); err != nil {
				return false, false, err
			}
		}
		if err := d.show(ctx, tx, e.ID, *line.ShownBy, line.Message); err != nil {
			return false, false, err
		}
	}
	return card, pending, nil
}

// refreshCard replaces the card if its state has changed, or if changed says that a message on it has. A card whose
// messages were all deleted is not replaced.
func (d threadUpdate) refreshCard(ctx context.Context, tx store.Tx, e store.Escalation, chat store.Chat, changed bool) error {
	held, err := holdingOf(ctx, tx, e)
	if err != nil {
		return err
	}
	line := d.stateLine(e, chat, held)
	if line == e.CardStatus && !changed {
		return nil
	}
	messages, err := store.CardMessages(ctx, tx, e.ID)
	if err != nil {
		return err
	}
	if len(messages) == 0 {
		return nil
	}
	e.CardStatus = line
	if _, err := d.queueCard(ctx, tx, cardNotice{
		e:        e,
		chat:     chat,
		messages: messages,
		held:     held,
		kind:     outbox.Answer,
	}); err != nil {
		return err
	}
	return store.SetEscalationShown(ctx, tx, e.ID, line)
}
