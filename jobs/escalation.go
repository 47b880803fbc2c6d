package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// UpdateEscalationArgs asks to bring the thread of an escalation up to date: its card, and the lines that the contact
// wrote. It also notifies whoever is to be notified.
type UpdateEscalationArgs struct {
	EscalationID store.EscalationID `json:"escalation"`
	// At is when somebody is to be notified, or when the escalation ends by itself. Zero means that only the thread is brought up to date.
	At time.Time `json:"at,omitzero"`
}

// Kind names the job.
func (UpdateEscalationArgs) Kind() string { return "update_escalation" }

// InsertOpts sets the queue, the attempts and the time.
func (a UpdateEscalationArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 60, ScheduledAt: a.At}
}

// EscalationUpdater brings the thread of an escalation up to date. With timed it also does what is due by the clock.
type EscalationUpdater interface {
	UpdateEscalation(ctx context.Context, escalation store.EscalationID, timed bool) error
}

// CopyFileArgs asks to copy the file of a message into the thread of an escalation.
type CopyFileArgs struct {
	EscalationID store.EscalationID `json:"escalation"`
	MessageID    store.MessageID    `json:"message"`
}

// Kind names the job.
func (CopyFileArgs) Kind() string { return "copy_file" }

// InsertOpts sets the queue, in which it goes before files that are only kept, and the attempts.
func (CopyFileArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueIndex, MaxAttempts: 10, Priority: 2}
}

// FileCopier copies the file of a message into the thread of an escalation.
type FileCopier interface {
	CopyFile(ctx context.Context, escalation store.EscalationID, message store.MessageID) error
}

// ChangeReplyArgs asks to edit or delete in the contact's room what a message in a thread sent there, because the message
// was edited or marked as a note.
type ChangeReplyArgs struct {
	MessageID store.MessageID `json:"message"`
}

// Kind names the job.
func (ChangeReplyArgs) Kind() string { return "change_reply" }

// InsertOpts sets the queue and the attempts.
func (ChangeReplyArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueAdmin, MaxAttempts: 60}
}

// ReplyChanger edits or deletes in the contact's room what a message in a thread sent there.
type ReplyChanger interface {
	ChangeReply(ctx context.Context, message store.MessageID) error
}
