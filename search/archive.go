package search

import (
	"context"
	"errors"
	"strings"

	"multis/bridgebridge"
	"multis/language"
	"multis/policy"
	"multis/store"
)

// archiveBatch is how many messages are indexed in one transaction.
const archiveBatch = 500

// IndexMessages makes the messages searchable that came in, or were changed, since it was called last. One call takes as
// many as a transaction should hold; more says that there are others. A message that is changed or deleted leaves the index
// by itself, at once.
func IndexMessages(ctx context.Context, st *store.Store) (more bool, err error) {
	err = st.InTx(ctx, func(tx store.Tx) error {
		messages, err := store.UnindexedMessages(ctx, tx, archiveBatch)
		if err != nil || len(messages) == 0 {
			return err
		}
		more = len(messages) == archiveBatch
		names := map[int64]string{} // of the contacts of chats
		list := make([]store.ArchivedMessage, len(messages))
		for i, m := range messages {
			name, known := names[m.ChatID]
			if !known {
				chat, err := store.ChatByID(ctx, tx, m.ChatID)
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					return err
				}
				if chat.Kind == policy.KindDM {
					name = strings.Join(Words(chat.Name), " ")
				}
				names[m.ChatID] = name
			}
			list[i] = archived(m, name)
		}
		return store.IndexMessages(ctx, tx, list)
	})
	return more, err
}

// archived is a message as it is searched. contact is the name of who writes in its chat, where that is one person.
func archived(m store.Message, contact string) store.ArchivedMessage {
	a := store.ArchivedMessage{ID: m.ID, Language: language.OrOf(m.Body, language.Unknown), IsQuestion: IsQuestion(m.Body)}
	if m.Author == policy.AuthorContact {
		a.Author = contact
	}
	if said(m) {
		a.Words = IndexText("", "", m.Body)
	}
	return a
}

// said tells whether a message is somebody's words.
func said(m store.Message) bool {
	switch bridgebridge.MessageKind(m.Kind) {
	case bridgebridge.Reaction, bridgebridge.Sticker, bridgebridge.Call, bridgebridge.Encrypted, bridgebridge.Other:
		return false
	default:
		return m.RedactedAt == nil && m.Code != policy.CodeEdited && m.Author != policy.AuthorMultisBot && m.Author != policy.AuthorBridgeBot
	}
}
