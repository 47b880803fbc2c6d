package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/schedule"
	"multis/store"
	"multis/store/index"
	"multis/text"
)

// request is a message or a reaction in the admin room.
type request struct {
	message store.Message
	room    store.Chat
	now     time.Time
}

// isOwner reports whether the owner wrote it, and not an operator.
func (r request) isOwner() bool { return r.message.Author.IsOwner() }

// scope returns the roles whose data may be shown: everything of the owner's to the owner, public documents to an operator.
func (r request) scope() policy.Scope {
	if r.isOwner() {
		return policy.OwnerScope()
	}
	return policy.ContactScope(r.room.ID)
}

// answer is the result of a request: what is said and what is changed. The zero value does nothing.
type answer struct {
	text         string             // Markdown; empty to write nothing
	question     question           // what the text asks; nil for nothing
	reaction     string             // an emoji on the message; empty for none
	quotes       []store.MessageID  // the messages that the text quotes: when one is deleted, so is the text
	commitmentID store.CommitmentID // the one commitment that the text shows, so that a reaction settles it; zero for none
	// change makes the change, in the transaction that writes the text; nil for none.
	change func(ctx context.Context, tx store.Tx) error
	// changeAndSay is a change whose result decides the text; nil for none.
	changeAndSay func(ctx context.Context, tx store.Tx) (text string, err error)
	kind         outbox.NoticeKind
	reason       string // for /why and the log, when it is not simply a command
	// unsent is the notice that could not be sent, when the text reports that; zero for none.
	unsent uuid.UUID
	// handled says that the message was answered and settled already.
	handled bool
}

// apply makes the changes of an answer and returns the text to say.
func (ans answer) apply(ctx context.Context, tx store.Tx) (string, error) {
	if ans.change != nil {
		if err := ans.change(ctx, tx); err != nil {
			return "", err
		}
	}
	if ans.changeAndSay != nil {
		return ans.changeAndSay(ctx, tx)
	}
	return ans.text, nil
}

// room writes to the admin room and formats times for it. Every topic has it.
type room struct {
	store *store.Store
	box   *outbox.Box
	rules Rules
	now   func() time.Time
}

// notify writes a notice to a room. question, if not nil, can be answered from then on. quotes are the messages that the text quotes.
func (rm *room) notify(ctx context.Context, tx store.Tx, room store.Chat, kind outbox.NoticeKind, markdown string, asks question, about ...store.MessageID) (uuid.UUID, error) {
	return rm.writeAnswer(ctx, tx, room, answer{text: markdown, kind: kind, question: asks, quotes: about}, nil)
}

// writeAnswer writes the text of an answer to a room. The text is deleted when one of the messages in restsOn is deleted.
func (rm *room) writeAnswer(ctx context.Context, tx store.Tx, room store.Chat, ans answer, restsOn []store.MessageID) (uuid.UUID, error) {
	markdown, asks, expires := ans.text, ans.question, rm.now().Add(questionLifetime)
	if q, ok := asks.(longQuestion); ok {
		expires = rm.now().Add(q.lifetime())
	}
	if asks != nil {
		markdown += " Open until " + rm.shortTime(expires) + "."
	}
	message := noticeLetter(room, markdown, ans.kind, asks != nil)
	message.About, message.RestsOn, message.FailedID = ans.quotes, restsOn, ans.unsent
	out, _, err := rm.box.Queue(ctx, tx, message)
	if err != nil || asks == nil {
		return out, err
	}
	payload, err := json.Marshal(asks)
	if err != nil {
		return out, fmt.Errorf("write question: %w", err)
	}
	d := store.Dialog{ChatID: room.ID, Kind: asks.kind(), Payload: payload, OutboxID: out, ExpiresAt: expires}
	if q, ok := asks.(referrer); ok {
		q.refer(&d)
	}
	_, err = store.OpenDialog(ctx, tx, d)
	return out, err
}

// react puts the bot's reaction on a message.
func (rm *room) react(ctx context.Context, tx store.Tx, room store.Chat, to store.Message, emoji string) error {
	_, _, err := rm.box.Queue(ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: emoji, ReactTo: to.EventID})
	return err
}

// completeWithNotice writes a notice to the admin room and completes the job that calls it.
func (rm *room) completeWithNotice(ctx context.Context, kind outbox.NoticeKind, text string) error {
	return rm.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		_, err := rm.notify(ctx, tx, room, kind, text, nil)
		return err
	})
}

// completeInRoom calls tell with the admin room and completes the job in the same transaction, so that nothing is told twice after a
// crash. While there is no admin room, the job is tried again later.
func (rm *room) completeInRoom(ctx context.Context, tell func(tx store.Tx, room store.Chat) error) error {
	return rm.store.InTx(ctx, func(tx store.Tx) error {
		room, err := outbox.AdminRoom(ctx, tx)
		if err != nil {
			return err
		}
		if err := tell(tx, room); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// writtenAt returns when a message was written, in the owner's zone: "in 2h" counts from then, however late it is read.
func (rm *room) writtenAt(r request) time.Time {
	at := r.now
	if r.message.At.Before(at) {
		at = r.message.At
	}
	return at.In(rm.rules.Zone)
}

// fullTime formats a time with its day: "Sat 21 Nov, 09:00".
func (rm *room) fullTime(t time.Time) string { return schedule.FormatTime(t, rm.now(), rm.rules.Zone) }

// shortTime formats a time as the time of day if it is today, with the day otherwise.
func (rm *room) shortTime(t time.Time) string {
	local, now := t.In(rm.rules.Zone), rm.now().In(rm.rules.Zone)
	switch {
	case local.YearDay() == now.YearDay() && local.Year() == now.Year():
		return local.Format("15:04")
	case local.Year() == now.Year():
		return local.Format("Mon 2 Jan, 15:04")
	default:
		return local.Format("Mon 2 Jan 2006, 15:04")
	}
}

// ago formats a time in the past by its distance: "2 h ago".
func (rm *room) ago(t time.Time) string { return text.Ago(t, rm.now(), rm.rules.Zone) }

// question is a question that the room was asked. It is stored with the message that asks it, so it can be answered after a restart as
// well.
type question interface {
	kind() string
	// command names the command that asks it. Who may use the command may answer.
	command() string
	// answer returns the answer to a choice. taken is false when the choice does not fit; the question stays open then.
	answer(ctx context.Context, r request, c choice) (ans answer, taken bool, err error)
	// accepts reports whether a word can be an answer to this question.
	accepts(word string) bool
}

// referrer is a question about a message or a draft.
type referrer interface {
	// refer sets the references of the question's row.
	refer(d *store.Dialog)
}

// longQuestion is a question with a lifetime of its own.
type longQuestion interface{ lifetime() time.Duration }

// refusedTime turns the refusal of a time that was typed into an answer. Any other error is returned.
func refusedTime(err error) (answer, error) {
	if refused, ok := errors.AsType[*schedule.RefusedError](err); ok {
		return answer{text: refused.Error(), reason: "I could not read the time."}, nil
	}
	return answer{}, err
}

// reactionTime reads a reaction to a reminder: done, for which the time is zero, or the time until which it is snoozed. ok is false
// for other reactions.
func (rm *room) reactionTime(r request) (at time.Time, ok bool) {
	local := r.now.In(rm.rules.Zone)
	switch strings.ReplaceAll(r.message.Body, emojiVariation, "") {
	case "✅", "✔", "👍", "☑":
		return time.Time{}, true
	case "➕", "➕️", "+":
		at = r.now.Add(10 * time.Minute)
	case "🕐", "🕑", "⏰", "⏱", "⏲", "🕒":
		at = r.now.Add(time.Hour)
	case "🌅", "🌄", "🌞":
		at = schedule.Instant(time.Date(local.Year(), local.Month(), local.Day()+1, tomorrowHour, 0, 0, 0, time.UTC), rm.rules.Zone)
	default:
		return time.Time{}, false
	}
	return at.Truncate(time.Second), true
}

const (
	// questionLifetime is how long a question can be answered.
	questionLifetime = 15 * time.Minute
	// tomorrowHour is the hour of a reminder that is snoozed until tomorrow.
	tomorrowHour = 9
)

// countDocuments counts the documents in a scope: public ones, and others.
func countDocuments(ctx context.Context, db store.DB, scope policy.Scope) (public, private int, err error) {
	groups, err := index.DocumentGroups(ctx, db, scope)
	for _, g := range groups {
		switch {
		case g.Kind != index.KindKnowledge:
		case g.Role == policy.Public:
			public += g.Documents
		default:
			private += g.Documents
		}
	}
	return public, private, err
}
