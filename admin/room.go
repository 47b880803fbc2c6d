package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/clock/schedule"
	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// request is a message or a reaction in the admin room.
type request struct {
	message store.Message
	// read is the message as it was read, and still has to be when the answer is committed; nil for a request with a grant.
	read *store.Message
	room store.Chat
	now  time.Time
	// mayAnswer says that the sender may write to contacts from the threads of escalations.
	mayAnswer bool
	// grant is the PIN that was entered for the request, which is then handled again; nil for none. dialog is the question that a request
	// with a grant answers; zero if the question is still to be found.
	grant  *pinGrant
	dialog int64
}

// isOwner reports whether the owner made the request, and not an operator.
func (r request) isOwner() bool { return r.message.Author.MayCommandAsOwner() }

// scope returns the roles whose data may be shown: everything of the owner's to the owner, public documents to an operator.
func (r request) scope() policy.Scope {
	if r.isOwner() {
		return policy.OwnerScope()
	}
	return policy.ContactScope(r.room.ID)
}

// answer is the reply to a request and the change that it makes. The zero value does nothing.
type answer struct {
	text         string             // Markdown; empty to write nothing
	question     question           // the question that the text asks; nil for none
	reaction     string             // an emoji on the message; empty for none
	quotes       []store.MessageID  // the messages that the text quotes; it is deleted when one of them is
	commitmentID store.CommitmentID // the commitment that a reaction to the text closes; zero for none
	// change makes the change, in the transaction that writes the text; nil for none.
	change func(ctx context.Context, tx store.Tx) error
	// changeWithText is a change that also returns the text; nil for none.
	changeWithText func(ctx context.Context, tx store.Tx) (text string, err error)
	// undo is the command that takes the change back; empty if there is none. keepsUndo says that the change only answers a
	// question, so that the change before it can still be taken back.
	undo      string
	keepsUndo bool
	reason    string // for /why; empty means that the message is a command
	outcome   string // for the audit log; empty means that it was answered
	// thread is the root event of the thread in which the text is written; empty for the thread of the request, if any.
	thread id.EventID
	// pin is the action for which the PIN must be entered before the answer takes effect; nil for none. dialog is the
	// question that the request answered.
	pin    *pinNeed
	dialog int64
	// handled says that the message is already answered and marked as such.
	handled bool
}

// notice is a text for a room.
type notice struct {
	text     string // Markdown
	kind     outbox.NoticeKind
	question question          // the question that the text asks; nil for none
	quotes   []store.MessageID // the messages that the text quotes
	sources  []store.MessageID // the messages that it was made from; it is deleted when one of them is
	thread   id.EventID        // the root event of the thread in which it is written; empty for none
	replaces id.EventID        // the message that it replaces by an edit; empty for none
	failed   uuid.UUID         // the notice whose failure it reports; zero for none
}

// apply makes the changes of an answer and returns its text.
func (ans answer) apply(ctx context.Context, tx store.Tx) (string, error) {
	if ans.change != nil {
		if err := ans.change(ctx, tx); err != nil {
			return "", err
		}
	}
	if ans.changeWithText != nil {
		return ans.changeWithText(ctx, tx)
	}
	return ans.text, nil
}

// room writes to the admin room and formats times for it. Every topic has it.
type room struct {
	store    *store.Store
	box      *outbox.Box
	settings Settings
	now      func() time.Time
}

// notify writes a notice to a room. q is the question that the notice asks; nil for none. quotes are the messages that the text quotes.
func (rm *room) notify(ctx context.Context, tx store.Tx, room store.Chat, kind outbox.NoticeKind, markdown string, q question,
	quotes ...store.MessageID,
) (uuid.UUID, error) {
	return rm.write(ctx, tx, room, notice{
		text:     markdown,
		kind:     kind,
		question: q,
		quotes:   quotes,
	})
}

// quoteLocked returns a text and the messages that it quotes, as write returns them once these messages are locked: what
// was deleted by then is not in it, and a deletion that comes later waits, and finds the notice. write is called twice,
// and reads what it quotes each time.
func quoteLocked(ctx context.Context, tx store.Tx,
	write func() (markdown string, quotes []store.MessageID, err error),
) (markdown string, quotes []store.MessageID, err error) {
	if _, quotes, err = write(); err == nil {
		_, err = store.LockMessages(ctx, tx, quotes)
	}
	if err != nil {
		return "", nil, err
	}
	return write()
}

// write writes a notice to a room, and opens the question that it asks.
func (rm *room) write(ctx context.Context, tx store.Tx, room store.Chat, n notice) (uuid.UUID, error) {
	markdown := n.text
	expires := rm.now().Add(lifetimeOf(n.question))
	if n.question != nil {
		markdown += " Open until " + rm.shortTime(expires) + "."
	}
	message := noticeMessage(room, markdown, n.kind, n.question != nil)
	message.Quotes = n.quotes
	message.Sources = n.sources
	message.FailedID = n.failed
	message.Replaces = n.replaces
	message.Thread = n.thread
	out, _, err := rm.box.Queue(ctx, tx, message)
	if err != nil {
		return out, err
	}
	if n.question == nil {
		return out, nil
	}
	dialog, err := openDialog(ctx, tx, room, n.question, out, expires)
	if err != nil {
		return out, err
	}
	if n.question.traits().draft != uuid.Nil || rm.settings.Terminal { // a draft ends its card itself
		return out, nil
	}
	return out, jobs.Enqueue(ctx, tx, jobs.EndQuestionArgs{DialogID: dialog, At: expires})
}

// openDialog stores a question that an outbox message asks, and returns its number.
func openDialog(ctx context.Context, tx store.Tx, room store.Chat, q question, out uuid.UUID, expires time.Time) (int64, error) {
	payload, err := json.Marshal(q)
	if err != nil {
		return 0, fmt.Errorf("write question: %w", err)
	}
	about := q.traits()
	d := store.Dialog{
		ChatID:    room.ID,
		Kind:      about.kind,
		Payload:   payload,
		OutboxID:  out,
		ExpiresAt: expires,
	}
	if about.draft != uuid.Nil {
		d.DraftID = &about.draft
	}
	if about.message != 0 {
		d.MessageID = &about.message
	}
	return store.OpenDialog(ctx, tx, d)
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

// completeInRoom calls write with the admin room and completes the job in the same transaction, so that a crash causes no
// second notice. While there is no admin room, it returns jobs.Snooze.
func (rm *room) completeInRoom(ctx context.Context, write func(tx store.Tx, room store.Chat) error) error {
	return rm.store.InTx(ctx, func(tx store.Tx) error {
		room, err := outbox.AdminRoom(ctx, tx)
		if err != nil {
			return err
		}
		if err := write(tx, room); err != nil {
			return err
		}
		return jobs.Complete(ctx, tx)
	})
}

// writtenAt returns when a message was written, in the owner's zone. Times such as "in 2h" count from then, not from when
// the message is read.
func (rm *room) writtenAt(r request) time.Time {
	at := r.now
	if r.message.At.Before(at) {
		at = r.message.At
	}
	return at.In(rm.settings.Zone)
}

// fullTime formats a time with its day: "Sat 21 Nov, 09:00".
func (rm *room) fullTime(t time.Time) string {
	return schedule.FormatTime(t, rm.now(), rm.settings.Zone)
}

// shortTime formats a time as the time of day if it is today, with the day otherwise.
func (rm *room) shortTime(t time.Time) string {
	local, now := t.In(rm.settings.Zone), rm.now().In(rm.settings.Zone)
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
func (rm *room) ago(t time.Time) string { return text.Ago(t, rm.now(), rm.settings.Zone) }

// timeErrorAnswer returns the reply for a time that cannot be read. It returns any other error unchanged.
func timeErrorAnswer(err error) (answer, error) {
	if refused, ok := errors.AsType[*schedule.RefusedError](err); ok {
		return answer{text: refused.Error(), reason: "I could not read the time."}, nil
	}
	return answer{}, err
}

// reactionTime reads a reaction to a reminder: the time until which it is snoozed, or the zero time if it is done. ok is
// false for other reactions.
func (rm *room) reactionTime(r request) (at time.Time, ok bool) {
	local := r.now.In(rm.settings.Zone)
	switch policy.PlainEmoji(r.message.Body) {
	case "✅", "✔", "👍", "☑":
		return time.Time{}, true
	case "➕", "➕️", "+":
		at = r.now.Add(10 * time.Minute)
	case "🕐", "🕑", "⏰", "⏱", "⏲", "🕒":
		at = r.now.Add(time.Hour)
	case "🌅", "🌄", "🌞":
		at = schedule.InZone(time.Date(local.Year(), local.Month(), local.Day()+1, tomorrowHour, 0, 0, 0, time.UTC), rm.settings.Zone)
	default:
		return time.Time{}, false
	}
	return at.Truncate(time.Second), true
}

// tomorrowHour is the hour of a reminder that is snoozed until tomorrow.
const tomorrowHour = 9

// countDocuments counts the documents in a scope: public ones, and others.
func countDocuments(ctx context.Context, db store.DB, scope policy.Scope) (public, private int, err error) {
	groups, err := index.DocumentGroups(ctx, db, scope)
	for _, g := range groups {
		switch {
		case g.Kind != index.KindKnowledge:
		case g.Role == policy.RolePublic:
			public += g.Documents
		default:
			private += g.Documents
		}
	}
	return public, private, err
}
