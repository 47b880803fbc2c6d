package desk

import (
	"context"
	"errors"

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

// maxFilesPerUpdate is how many files one update adds to a thread.
const maxFilesPerUpdate = 20

// addFiles copies the files of the messages that the thread of an escalation shows into the thread, because operators are not in the contact's room.
// Of a file that cannot be downloaded the thread has only the line that names it.
func (d *Desk) addFiles(ctx context.Context, escalation store.EscalationID) error {
	if d.Files == nil || len(d.Operators) == 0 {
		return nil
	}
	missing, err := store.FilesMissingInThread(ctx, d.Store.DB(), escalation, 0, maxFilesPerUpdate)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range missing {
		data, err := d.Files.Download(ctx, *m.Attachment, policy.MaxFile)
		switch {
		case jobs.IsPermanent(err):
			continue
		case err == nil:
			err = d.Store.InTx(ctx, func(tx store.Tx) error { return d.addFile(ctx, tx, escalation, m, data) })
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addFile posts the file of a message in the thread of an escalation, unless another job has done so or the message was deleted meanwhile.
func (d *Desk) addFile(ctx context.Context, tx store.Tx, escalation store.EscalationID, m store.Message, data []byte) error {
	e, err := store.LockEscalation(ctx, tx, escalation)
	if gone, err := isMissing(err); gone || err != nil {
		return err
	}
	missing, err := store.FilesMissingInThread(ctx, tx, escalation, m.ID, 1)
	if err != nil || len(missing) == 0 {
		return err
	}
	room, err := d.room(ctx, tx, e)
	if err != nil {
		return err
	}
	notice := outbox.NewNotice(room, "", outbox.Quiet)
	notice.Text, notice.HTML, notice.File = "", "", FileOf(m, data)
	notice.Thread, notice.About = *e.CardEvent, []store.MessageID{m.ID}
	_, _, err = d.Box.Queue(ctx, tx, notice)
	return err
}
