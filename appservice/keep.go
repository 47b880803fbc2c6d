package appservice

import (
	"bytes"
	"context"
	"errors"
	"time"

	"multis/policy"
	"multis/store"
)

// AttachmentLimits limits the stored files.
type AttachmentLimits struct {
	Total int64 // bytes of all files together
	Age   time.Duration
}

// AttachmentStore stores copies of files that contacts send, because the homeserver may delete the files.
type AttachmentStore struct {
	inbox  *Inbox
	hs     *Homeserver
	limits AttachmentLimits
}

// NewAttachmentStore returns an AttachmentStore that downloads the files through hs.
func NewAttachmentStore(inbox *Inbox, hs *Homeserver, limits AttachmentLimits) *AttachmentStore {
	return &AttachmentStore{inbox: inbox, hs: hs, limits: limits}
}

// maxKeptBytes is the maximum size of a file that is stored.
const maxKeptBytes = 16 << 20

// KeepFile downloads the file of a message and stores it, then deletes the files that exceed the total limit. It stores
// nothing if the message was deleted or its chat was switched off. If the file is gone or too large, jobs.IsPermanent
// reports true for the error.
func (k *AttachmentStore) KeepFile(ctx context.Context, message store.MessageID) error {
	m, err := store.MessageByID(ctx, k.inbox.store.DB(), message)
	if errors.Is(err, store.ErrNotFound) || (err == nil && m.Attachment == nil) {
		return nil // the message was deleted, or the file was removed from it
	}
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, k.inbox.store.DB(), m.ChatID)
	if err != nil {
		return err
	}
	if k.inbox.isOff(chat) {
		return nil
	}
	var data bytes.Buffer
	if err := k.hs.Fetch(ctx, policy.AsOwner, *m.Attachment, min(maxKeptBytes, k.limits.Total), &data); err != nil {
		return err
	}
	return k.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.KeepFile(ctx, tx, m.ID, data.Bytes(), k.inbox.now().Add(k.limits.Age)); err != nil {
			return err
		}
		return store.LimitKeptFiles(ctx, tx, k.limits.Total)
	})
}
