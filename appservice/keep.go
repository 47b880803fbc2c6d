package appservice

import (
	"bytes"
	"context"
	"errors"
	"time"

	"multis/policy"
	"multis/store"
)

// KeepLimits bound what is kept.
type KeepLimits struct {
	Total int64 // bytes of all files together
	Age   time.Duration
}

// Keeper keeps files of contacts.
type Keeper struct {
	inbox  *Inbox
	hs     *Homeserver
	limits KeepLimits
}

// NewKeeper makes a keeper.
func NewKeeper(inbox *Inbox, hs *Homeserver, limits KeepLimits) *Keeper {
	return &Keeper{inbox: inbox, hs: hs, limits: limits}
}

// maxKeptBytes is the size of the biggest file that is kept, in bytes.
const maxKeptBytes = 16 << 20

// KeepFile fetches the file of a message and keeps it. One that cannot be had, or is too large, is not kept; nor is one of a chat that
// was switched off meanwhile.
func (k *Keeper) KeepFile(ctx context.Context, message int64) error {
	m, err := store.MessageByID(ctx, k.inbox.store.DB(), message)
	if errors.Is(err, store.ErrNotFound) || (err == nil && m.Attachment == nil) {
		return nil // deleted
	}
	if err != nil {
		return err
	}
	chat, err := store.ChatByID(ctx, k.inbox.store.DB(), m.ChatID)
	if err != nil || k.inbox.mode(chat) == policy.ModeOff {
		return err
	}
	var data bytes.Buffer
	if err := k.hs.Fetch(ctx, policy.AsOwner, *m.Attachment, min(maxKeptBytes, k.limits.Total), &data); err != nil {
		return err
	}
	return k.inbox.store.InTx(ctx, func(tx store.Tx) error {
		if err := store.KeepFile(ctx, tx, m.ID, data.Bytes(), k.inbox.now().Add(k.limits.Age)); err != nil {
			return err
		}
		return store.BoundFiles(ctx, tx, k.limits.Total)
	})
}
