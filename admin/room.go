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
	"multis/text"
)

// request is one message, or one reaction, from the admin room.
type request struct {
	message store.Message
	room    store.Chat
	now     time.Time
}

// isOwner tells the owner from an operator.
func (r request) isOwner() bool { return r.message.Author.IsOwner() }

// scope is what the one who asks may read: the owner what is his and what is public, an operator what is public.
func (r request) scope() policy.Scope {
	if r.isOwner() {
		return policy.OwnerScope()
	}
	return policy.ContactScope(r.room.ID)
}

// answer is what a request leads to. Its zero value is silence.
type answer struct {
	text         string   // Markdown; empty says nothing
	question     question // what the text asks; nil for nothing
	reaction     string   // an emoji on the message that was answered
	quotes       []int64  // the messages that the text quotes: when one is deleted, so is the text
	commitmentID int64    // the promise that the text shows by itself; 0 for none
	// change is what changes, in the transaction that says so; nil for nothing.
	change func(ctx context.Context, tx store.Tx) error
	// changeAndSay is do where what there is to say depends on what came of it; nil for nothing.
	changeAndSay func(ctx context.Context, tx store.Tx) (text string, err error)
	kind         outbox.NoticeKind
	reason       string // for the record, where it is not plain
	// unsent is the notice that could not be sent and that this one tells; zero for none.
	unsent uuid.UUID
	// handled: it was answered and settled already.
	handled bool
}

// apply does what an answer leads to, and returns what there is to say.
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

// room is what every topic is given: the ways to write into the admin room, and how times are shown there.
type room struct {
	store *store.Store
	box   *outbox.Box
	rules Rules
	now   func() time.Time
}

// notify puts a notice into the admin room. asks, unless nil, waits for an answer from then on; about are the messages it quotes.
func (rm *room) notify(ctx context.Context, tx store.Tx, room store.Chat, kind outbox.NoticeKind, markdown string, asks question, about ...int64) (uuid.UUID, error) {
	return rm.writeAnswer(ctx, tx, room, answer{text: markdown, kind: kind, question: asks, quotes: about}, nil)
}

// writeAnswer puts what there is to say into a room. The text is not kept when one of the messages that it rests on is deleted.
func (rm *room) writeAnswer(ctx context.Context, tx store.Tx, room store.Chat, ans answer, restsOn []int64) (uuid.UUID, error) {
	markdown, asks, expires := ans.text, ans.question, rm.now().Add(questionLifetime)
	if q, ok := asks.(longQuestion); ok {
		expires = rm.now().Add(q.lifetime())
	}
	if asks != nil {
		markdown += " Open until " + rm.shortTime(expires) + "."
	}
	letter := noticeLetter(room, markdown, ans.kind, asks != nil)
	letter.About, letter.RestsOn, letter.FailedID = ans.quotes, restsOn, ans.unsent
	out, _, err := rm.box.Queue(ctx, tx, letter)
	if err != nil || asks == nil {
		return out, err
	}
	payload, err := json.Marshal(asks)
	if err != nil {
		return out, fmt.Errorf("write question: %w", err)
	}
	_, err = store.OpenDialog(ctx, tx, store.Dialog{ChatID: room.ID, Kind: asks.kind(), Payload: payload, OutboxID: out, ExpiresAt: expires})
	return out, err
}

func (rm *room) react(ctx context.Context, tx store.Tx, room store.Chat, to store.Message, emoji string) error {
	_, _, err := rm.box.Queue(ctx, tx, outbox.Message{Chat: room, Purpose: policy.PurposeNotice, Text: emoji, ReactTo: to.EventID})
	return err
}

// completeWithNotice says something in the admin room, once there is one.
func (rm *room) completeWithNotice(ctx context.Context, kind outbox.NoticeKind, text string) error {
	return rm.completeInRoom(ctx, func(tx store.Tx, room store.Chat) error {
		_, err := rm.notify(ctx, tx, room, kind, text, nil)
		return err
	})
}

// completeInRoom has a job tell something in the admin room, once there is one, and ends the job in the same transaction: what was told is not
// told again after a crash.
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

// writtenAt is when the message was written, in the owner's zone: "in 2h" counts from then, however late it is read.
func (rm *room) writtenAt(r request) time.Time {
	at := r.now
	if r.message.At.Before(at) {
		at = r.message.At
	}
	return at.In(rm.rules.Zone)
}

// fullTime writes when something happens, always with its day.
func (rm *room) fullTime(t time.Time) string { return schedule.Text(t, rm.now(), rm.rules.Zone) }

// shortTime says when something was or will be: the time of day today, with the day otherwise.
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

// ago says how long ago something was, in the owner's time zone.
func (rm *room) ago(t time.Time) string { return text.Ago(t, rm.now(), rm.rules.Zone) }

// question is something the room was asked. It is stored with the message that asks it, so that it can be answered by a
// number, a word or a reaction, by the next process as well as by this one.
type question interface {
	kind() string
	// command is the command that asks it: who may give that one may answer.
	command() string
	// answer gives what a choice leads to. The question stays open when it says that the choice is none of its own.
	answer(ctx context.Context, r request, c choice) (ans answer, taken bool, err error)
	// accepts tells whether a word is meant for this question.
	accepts(word string) bool
}

// longQuestion is a question that can be answered longer than others.
type longQuestion interface{ lifetime() time.Duration }

// refusedTime turns the refusal of a time into an answer.
func refusedTime(err error) (answer, error) {
	if refused, ok := errors.AsType[*schedule.RefusedError](err); ok {
		return answer{text: refused.Error(), reason: "I could not read the time."}, nil
	}
	return answer{}, err
}

// reactionTime reads a reaction to what was reminded of: done, which is the zero time, or put off. False: it is none of these.
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
	// tomorrowHour is when what is put off until tomorrow comes.
	tomorrowHour = 9
)

// countDocuments counts the documents that a scope may see: public ones, and others.
func countDocuments(ctx context.Context, db store.DB, scope policy.Scope) (public, private int, err error) {
	groups, err := store.DocumentGroups(ctx, db, scope)
	for _, g := range groups {
		switch {
		case g.Kind != store.KindKnowledge:
		case g.Role == policy.Public:
			public += g.Documents
		default:
			private += g.Documents
		}
	}
	return public, private, err
}
