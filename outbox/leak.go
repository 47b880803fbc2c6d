package outbox

import (
	"context"
	"fmt"

	"multis/policy"
	"multis/store"
	"multis/text"
)

// leaksSecret reports whether a message to a contact holds a secret of the configuration.
func (m Message) leaksSecret() bool {
	if m.Purpose == policy.PurposeNotice {
		return false // secrets are masked there
	}
	return policy.LeaksSecret(m.Text) || policy.LeaksSecret(m.HTML) || m.File != nil && m.File.leaksSecret()
}

func (f File) leaksSecret() bool {
	return policy.LeaksSecret(f.Name) || policy.LeaksSecret(f.MIME) || policy.LeaksSecret(string(f.Data))
}

// fileLeaksSecret reports whether the file of a row to a contact holds a secret that is in the configuration now.
func fileLeaksSecret(ctx context.Context, db store.DB, o store.OutboxMessage, c content) (bool, error) {
	if o.Purpose == policy.PurposeNotice || c.FileName == "" || o.Replaces != "" {
		return false, nil
	}
	file := File{Name: c.FileName}
	if c.Info != nil {
		file.MIME = c.Info.MIME
	}
	var err error
	if file.Data, err = store.OutboxFile(ctx, db, o.ID); err != nil {
		return false, err
	}
	return file.leaksSecret(), nil
}

// withoutText returns the message with a mark in place of its text and of its file. It is stored in place of one that leaks a secret.
func (m Message) withoutText() Message {
	m.Text, m.HTML, m.File = policy.Mask, "", nil
	return m
}

// dropLeak drops a row that holds a secret, and notifies the owner.
func (b *Box) dropLeak(ctx context.Context, tx store.Tx, o store.OutboxMessage, chat store.Chat, d policy.Decision) error {
	if err := b.NotifyOwner(ctx, tx, Alert, fmt.Sprintf("⚠️ **Not sent to %s**: %s `/why` shows when.", text.Escape(chat.Label()), d.Why)); err != nil {
		return err
	}
	return b.drop(ctx, tx, o, d.Code, d.Why)
}
