package search

import (
	"context"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/language"
	"multis/policy"
	"multis/store"
)

// indexBatch is how many messages are indexed in one transaction.
const indexBatch = 500

// IndexMessages makes the messages searchable that came in, or were changed, since it was called last. One call takes as
// many as a transaction should hold; more says that there are others. A message that is changed or deleted leaves the index
// by itself, at once. zone is the owner's, by which days are told apart.
func IndexMessages(ctx context.Context, st *store.Store, zone *time.Location) (more bool, err error) {
	err = st.InTx(ctx, func(tx store.Tx) error {
		messages, err := store.UnindexedMessages(ctx, tx, indexBatch)
		if err != nil || len(messages) == 0 {
			return err
		}
		more = len(messages) == indexBatch
		in := make([]int64, len(messages))
		for i, m := range messages {
			in[i] = m.ChatID
		}
		chats, err := store.ChatsByID(ctx, tx, in)
		if err != nil {
			return err
		}
		list := make([]store.ArchivedMessage, len(messages))
		for i, m := range messages {
			list[i] = newIndexEntry(m, chats[m.ChatID], zone)
		}
		return store.IndexMessages(ctx, tx, list)
	})
	return more, err
}

// archived is a message of a chat as it is searched.
func newIndexEntry(m store.Message, chat store.Chat, zone *time.Location) store.ArchivedMessage {
	a := store.ArchivedMessage{
		ID: m.ID, Language: language.OrOf(m.Body, language.Unknown), IsQuestion: IsQuestion(m.Body), Day: dayOf(m.At.In(zone)),
		Author: strings.Join(Words(authorOf(m, chat)), " "),
	}
	if isSearchable(m) {
		a.Words = IndexText("", "", m.Body)
	}
	return a
}

// authorOf names who wrote a message; empty in a group, whose members' names are not kept.
func authorOf(m store.Message, chat store.Chat) string {
	switch {
	case m.Author.IsOwner() || m.Author == policy.AuthorMultisOwner:
		return chat.OwnerName
	case m.Author == policy.AuthorContact && chat.Kind == policy.KindDM:
		return chat.Name
	default:
		return ""
	}
}

// dayStart is the hour after midnight until which people are still in the day before.
const dayStart = 4 * time.Hour

// dayOf numbers the day of a time in its zone.
func dayOf(t time.Time) int {
	year, month, day := t.Add(-dayStart).Date()
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// said tells whether a message is somebody's words.
func isSearchable(m store.Message) bool {
	switch bridgebridge.MessageKind(m.Kind) {
	case bridgebridge.Reaction, bridgebridge.Sticker, bridgebridge.Call, bridgebridge.Encrypted, bridgebridge.Other:
		return false
	default:
		return m.RedactedAt == nil && m.Code != policy.CodeEdited && m.Author != policy.AuthorMultisBot && m.Author != policy.AuthorBridgeBot
	}
}
