// Package desk passes conversations to people. Each escalation has a thread in the admin room: a card with the question,
// what the documents say and a proposal; what the contact and the owner write after it; and the replies of the people
// there, which go to the contact in the owner's name. It also sums up what happened at the desk, and draws a chart of it.
package desk

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
)

// Options are what a Desk works with. Store, Box and Owner must be set.
type Options struct {
	Store *store.Store
	Box   *outbox.Box
	Owner id.UserID
	// Audit records who edited or deleted a reply that was sent to a contact.
	Audit audit.Log
	// Answers finds the owner's answer for "#2" in a thread. If it is nil, "#2" is a text like any other.
	Answers Answers
	// Files downloads the files of contacts, to show them to operators. If it is nil, a thread only says that there is one.
	Files Files
	// Operators are the people who may answer contacts besides the owner.
	Operators []id.UserID
	// OnCall are mentioned by each new card while the business is closed.
	OnCall []id.UserID
	// OwnRoom puts the threads into the room for operators; while there is none, into the admin room.
	OwnRoom bool
	// ClaimWithin is how long an escalation waits for somebody to claim it before people are notified again. Zero means never.
	ClaimWithin time.Duration
	// OwnerPause is how long the assistant stays quiet after a person wrote. After that time an answered escalation ends by itself.
	OwnerPause time.Duration
	// Name is the assistant's name, unless the owner renamed it.
	Name string
	Zone *time.Location
	// Now returns the current time. Defaults to time.Now.
	Now func() time.Time
}

// Desk passes conversations to people. It keeps no state in memory.
type Desk struct {
	Options
}

// New returns a Desk.
func New(o Options) *Desk {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	return &Desk{o}
}

// MayAnswer reports whether the author of a message in an admin room may write to contacts.
func (d *Desk) MayAnswer(m store.Message) bool {
	return m.Author.MayAnswer(slices.Contains(d.Operators, m.Sender))
}

// Case is a conversation that needs a person.
type Case struct {
	Chat      store.Chat
	Messages  []store.Message // the unanswered messages, the oldest first
	Reason    string
	Cause     policy.Cause      // of Reason; empty if a person opens it
	Sources   []store.MessageID // the messages whose words may be in Reason and Proposals
	Proposals []store.Proposal  // answers that a person may send as they stand
	Closed    bool              // the business is closed
	// Tell tells the contact that a person will answer, before the card is posted, which shows a draft of that; nil tells
	// nothing. isTold reports whether the contact was told before.
	Tell func(isTold bool) error
}

// newest returns the newest message of a case.
func (c Case) newest() store.Message { return c.Messages[len(c.Messages)-1] }

// Open opens an escalation with its card, unless one of the chat waits for a person already: then the thread of that one
// shows the messages. first reports whether an escalation was opened.
func (d *Desk) Open(ctx context.Context, tx store.Tx, c Case) (first bool, err error) {
	first, err = store.OpenEscalation(ctx, tx, c.Chat.ID, c.newest().ID, c.Reason, c.Sources)
	if err != nil {
		return false, err
	}
	isTold, err := store.SetEscalationCause(ctx, tx, c.Chat.ID, c.Cause)
	if err != nil {
		return first, err
	}
	if c.Tell != nil {
		if err := c.Tell(isTold); err != nil {
			return first, err
		}
	}
	e, err := store.EscalationOfChat(ctx, tx, c.Chat.ID)
	if err != nil {
		return first, err
	}
	if first {
		e.Proposals = c.Proposals
		if err := d.postCard(ctx, tx, e, c); err != nil {
			return first, err
		}
		if err := jobs.EmitHookEvent(ctx, tx, policy.HookEscalation, hookReference(c.newest().ID)); err != nil {
			return first, err
		}
		if d.ClaimWithin > 0 {
			if err := jobs.Enqueue(ctx, tx, jobs.UpdateEscalationArgs{EscalationID: e.ID, At: d.Now().Add(d.ClaimWithin)}); err != nil {
				return first, err
			}
		}
	}
	return first, enqueueUpdate(ctx, tx, e.ID)
}

// unsetTime is the zero time. AnswerEscalation replaces it by the current time.
var unsetTime time.Time

// ErrNobodyWrote is returned by Claim for a chat in which no contact has written.
var ErrNobodyWrote = errors.New("no contact has written in the chat")

// escapeCode returns a text for use between backticks.
func escapeCode(s string) string { return strings.ReplaceAll(text.OneLine(s), "`", "'") }

// hookReference returns the reference of a message for hooks.
func hookReference(message store.MessageID) string { return strconv.FormatInt(int64(message), 10) }

// enqueueUpdate enqueues the job that brings a thread up to date.
func enqueueUpdate(ctx context.Context, tx store.Tx, escalation store.EscalationID) error {
	return jobs.Enqueue(ctx, tx, jobs.UpdateEscalationArgs{EscalationID: escalation})
}

// PersonName names a person for the people in the room: the owner as such, others by the name in their Matrix id.
func (d *Desk) PersonName(who id.UserID) string {
	switch {
	case who == "":
		return "nobody"
	case who == d.Owner && len(d.Operators) == 0:
		return "you"
	case who == d.Owner:
		return "the owner"
	default:
		return who.Localpart()
	}
}

// isMissing reports whether a row does not exist, and returns any other error.
func isMissing(err error) (bool, error) {
	if errors.Is(err, store.ErrNotFound) {
		return true, nil
	}
	return false, err
}
