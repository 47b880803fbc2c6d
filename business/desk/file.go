package desk

import (
	"context"

	"github.com/google/uuid"

	"multis/jobs"
	"multis/outbox"
	"multis/policy"
	"multis/store"
)

// Files downloads the files of messages.
type Files interface {
	// Download returns the content of a file. It fails if the file is larger than limit bytes, or does not exist any more.
	Download(ctx context.Context, file store.Attachment, limit int64) ([]byte, error)
}

// show stores that an outbox message shows messages in the thread of an escalation. It enqueues a job for each file of
// theirs, which copies the file into the thread, because operators are not in the contact's room. If a file cannot be
// downloaded, the thread shows only the line that names it.
func (d *Desk) show(ctx context.Context, tx store.Tx, escalation store.EscalationID, out uuid.UUID, messages ...store.Message) error {
	if err := store.ShowLines(ctx, tx, escalation, store.IDsOf(messages), out); err != nil {
		return err
	}
	if d.Files == nil || len(d.Operators) == 0 {
		return nil
	}
	for _, m := range messages {
		if m.Attachment == nil {
			continue
		}
		if err := jobs.Enqueue(ctx, tx, jobs.CopyFileArgs{EscalationID: escalation, MessageID: m.ID}); err != nil {
			return err
		}
	}
	return nil
}

// CopyFile copies the file of a message into the thread of an open escalation, unless the thread has it. It may be
// repeated, and returns jobs.Snooze while the card is being sent. If the file is gone or too large, jobs.IsPermanent
// reports true for the error.
func (d *Desk) CopyFile(ctx context.Context, escalation store.EscalationID, message store.MessageID) error {
	e, err := store.EscalationByID(ctx, d.Store.DB(), escalation)
	if gone, err := isMissing(err); gone || err != nil {
		return err
	}
	if e.CardID != nil && e.CardEvent == nil {
		if err := giveUpCard(ctx, d.Store.DB(), e); err != nil {
			return err
		}
		return jobs.Snooze(cardWait)
	}
	m, err := store.FileMissingInThread(ctx, d.Store.DB(), escalation, message)
	if none, err := isMissing(err); none || err != nil {
		return err
	}
	data, err := d.Files.Download(ctx, *m.Attachment, policy.MaxFile)
	if err != nil {
		return err
	}
	return d.Store.InTx(ctx, func(tx store.Tx) error { // another job may have copied it, or the message may have been deleted meanwhile
		e, _, err := Lock(ctx, tx, escalation)
		if gone, err := isMissing(err); gone || err != nil {
			return err
		}
		_, err = store.FileMissingInThread(ctx, tx, escalation, m.ID)
		if none, err := isMissing(err); none || err != nil {
			return err
		}
		room, err := d.room(ctx, tx, e)
		if err != nil {
			return err
		}
		notice := outbox.NewNotice(room, "", outbox.Quiet)
		notice.Text = ""
		notice.HTML = ""
		notice.File = FileOf(m, data)
		notice.Thread, notice.Quotes = *e.CardEvent, []store.MessageID{m.ID}
		_, _, err = d.Box.Queue(ctx, tx, notice)
		return err
	})
}
