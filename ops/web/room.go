package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// Room is the admin room: what the page changes is changed as its commands do. A method that returns refused says why
// nothing was done, as a sentence; it is empty if the change was made.
type Room interface {
	// SignedIn tells the owner, in the transaction in which a session begins.
	SignedIn(ctx context.Context, tx store.Tx, s store.WebSession) error
	// SignedOut records that a session was ended on the page, or all if it is zero.
	SignedOut(ctx context.Context, tx store.Tx, person id.UserID, session store.WebSessionID) error
	// SendDraft, DropDraft and ChangeDraft carry out what the owner decided about a draft, as the admin room does. They report whether it was
	// done: a draft that is no longer open, or may not be sent, is left as it is.
	SendDraft(ctx context.Context, s store.WebSession, draft uuid.UUID) (done bool, err error)
	DropDraft(ctx context.Context, s store.WebSession, draft uuid.UUID) (done bool, err error)
	ChangeDraft(ctx context.Context, s store.WebSession, draft uuid.UUID, words string) (done bool, err error)
	// DecideCalls approves or declines tool calls, or a plan.
	DecideCalls(ctx context.Context, s store.WebSession, d CallDecision) (refused string, err error)
	// ActOnEscalation answers an escalation, or claims, resolves or pauses it.
	ActOnEscalation(ctx context.Context, s store.WebSession, a EscalationAction) (refused string, err error)
	// ExplainMode says what a mode means in a chat, and whether it needs the PIN now. SetMode sets it.
	ExplainMode(ctx context.Context, chat store.Chat, to policy.Mode) (effect string, needsPIN bool, err error)
	SetMode(ctx context.Context, s store.WebSession, c ModeChange) (refused string, err error)
	DocumentActions
}

// DocumentActions are what the admin room does with documents.
type DocumentActions interface {
	// AddDocument indexes a file, and returns what was read and what was not.
	AddDocument(ctx context.Context, s store.WebSession, u Upload) (report string, added bool, err error)
	// Preview answers a question as if a customer had asked it. Nothing is sent, and no chat changes.
	Preview(ctx context.Context, s store.WebSession, question string) (p Preview, refused string, err error)
}

// Questions are those of the admin room that wait by themselves.
type Questions interface {
	// Questions returns the open ones that a button answers, without those about tool calls, plans and drafts.
	Questions(ctx context.Context) ([]Question, error)
	// AnswerQuestion answers one as the admin room does. refused says why nothing was done.
	AnswerQuestion(ctx context.Context, s store.WebSession, a QuestionAnswer) (refused string, err error)
}

// Found is what a search found, the best first.
type Found struct {
	Documents []Passage
	Memory    []Passage // of chats and notes
}

// Passage is a text that was found.
type Passage struct {
	Source  string // its citation
	Path    string // of its page; empty for none
	Private bool   // contacts never see it
	// Before and After surround the words that match best, Match: all three are the passage.
	Before, Match, After string
}

// ModeChange is what a form says about the mode of a chat.
type ModeChange struct {
	Chat    store.ChatID
	Was, To policy.Mode // Was is the mode that the form showed
	PIN     string
}

// Preview is what a customer would get for a question.
type Preview struct {
	Text      string // what the customer would read; empty for nothing
	Citations []store.Citation
	Why       string // why it is this answer, or why there is none
	Escalates bool   // a person would have to answer
}

// Upload is a file that becomes a document.
type Upload struct {
	Name string
	Data []byte
	Role policy.Role
}

// Memory is what the owner may find and has noted. A method that returns refused says why nothing was done.
type Memory interface {
	// Search finds passages of documents, as /search does, and of chats and notes.
	Search(ctx context.Context, words string) (Found, error)
	// Notes returns the notes of a chat, the newest first, and what they said before they were changed, by the present notes.
	Notes(ctx context.Context, chat store.Chat) (notes []store.Note, former map[store.NoteID]store.Note, err error)
	// ChangeNote gives a note other words, and UndoNote its former ones. ForgetNote deletes the rows that a form showed.
	ChangeNote(ctx context.Context, s store.WebSession, note store.NoteID, words string) (refused string, err error)
	UndoNote(ctx context.Context, s store.WebSession, note store.NoteID) (refused string, err error)
	ForgetNote(ctx context.Context, s store.WebSession, note store.NoteID, version string) (refused string, err error)
}

// CallDecision is what a form decided about the tool calls on a card, or about a plan.
type CallDecision struct {
	Card    int64  // the first approval on the card
	Version string // of the calls that the form showed: CallsVersion
	Allow   bool
	Numbers []int  // the calls that may be made, from 1; empty for all
	ForHour bool   // further calls like them may be made for an hour
	Why     string // the reason of a no, for the agent
	PIN     string
}

// EscalationStep is what a person does with an escalation.
type EscalationStep string

// The steps.
const (
	StepClaim   EscalationStep = "claim"
	StepResolve EscalationStep = "resolve"
	StepPause   EscalationStep = "pause"
	StepSuggest EscalationStep = "suggest" // send a suggestion
	StepReply   EscalationStep = "reply"   // send the text
)

// EscalationAction is what a form decided about an escalation.
type EscalationAction struct {
	Escalation store.EscalationID
	Version    string // of what the form showed: EscalationVersion
	Step       EscalationStep
	Suggestion int // from 1, for StepSuggest
	Text       string
}

// CallsVersion identifies tool calls as they are now: it changes when one is decided, asked about again, or added.
func CallsVersion(calls []store.Approval) string {
	var parts []any
	for _, a := range calls {
		parts = append(parts, a.ID, a.Binding, a.Tool, a.Arguments, a.ExpiresAt.UnixMicro(), a.Allowed)
	}
	return versionOf(parts...)
}

// EscalationVersion identifies an escalation as it is now: it changes when somebody writes in its chat, or claims, answers or ends it.
func EscalationVersion(e store.Escalation, c store.Chat) string {
	return versionOf(e.ID, e.ClaimedBy, microsOf(e.AnsweredAt), microsOf(e.ClosedAt), e.Picked, len(e.Proposals), microsOf(c.LastMessageAt))
}

// DeletionVersion identifies the rows that are to be deleted: it changes when there are others.
func DeletionVersion(d store.DeletionSet) string { return versionOf(d.Messages, d.Notes) }

func microsOf(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMicro()
}

// versionOf returns a short hash of values.
func versionOf(values ...any) string {
	data, err := json.Marshal(values)
	if err != nil {
		panic(fmt.Sprintf("write a version: %v", err)) // its values are numbers and texts
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
