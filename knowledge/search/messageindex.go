package search

import (
	"context"
	"strings"
	"time"

	"multis/bridgebridge"
	"multis/internal/language"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// indexBatch is the number of messages that are indexed in one transaction.
const indexBatch = 500

// IndexMessages adds to the message index the messages that arrived or changed since the last call. One call indexes at most
// indexBatch messages in one transaction; more reports whether there are others. A trigger removes changed and deleted
// messages from the index at once. zone is the owner's time zone, which separates the days of a chat.
func IndexMessages(ctx context.Context, st *store.Store, zone *time.Location) (more bool, err error) {
	err = st.InTx(ctx, func(tx store.Tx) error {
		messages, err := store.UnindexedMessages(ctx, tx, indexBatch)
		if err != nil {
			return err
		}
		if len(messages) == 0 {
			return nil
		}
		more = len(messages) == indexBatch
		in := make([]store.ChatID, len(messages))
		for i, m := range messages {
			in[i] = m.ChatID
		}
		chats, err := store.ChatsByID(ctx, tx, in)
		if err != nil {
			return err
		}
		list := make([]index.MessageEntry, len(messages))
		for i, m := range messages {
			list[i] = newIndexEntry(m, chats[m.ChatID], zone)
		}
		return index.AddMessages(ctx, tx, list)
	})
	return more, err
}

// newIndexEntry returns the index entry of a message.
func newIndexEntry(m store.Message, chat store.Chat, zone *time.Location) index.MessageEntry {
	a := index.MessageEntry{
		ID: m.ID, Language: language.DetectPart(m.Body, language.Unknown), IsQuestion: IsQuestion(m.Body), Day: dayOf(m.At.In(zone)),
		Author: strings.Join(Words(authorOf(m, chat)), " "),
	}
	if isSearchable(m) {
		a.Words = IndexText("", "", m.Body)
	}
	return a
}

// authorOf returns the name of a message's author; empty in a group, where members' names are not stored.
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

// dayStart is the time after midnight at which a new day of a chat begins.
const dayStart = 4 * time.Hour

// dayOf returns the number of the chat's day in which t is, in its zone, counted from 1970. A day begins at dayStart.
func dayOf(t time.Time) int {
	year, month, day := t.Add(-dayStart).Date()
	return int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60))
}

// isSearchable reports whether a message has words of a person, as opposed to reactions, calls and notices.
func isSearchable(m store.Message) bool {
	switch bridgebridge.MessageKind(m.Kind) {
	case bridgebridge.Reaction, bridgebridge.Sticker, bridgebridge.Call, bridgebridge.Encrypted, bridgebridge.Other:
		return false
	default:
		return m.RedactedAt == nil && m.Code != policy.CodeEdited && m.Author != policy.AuthorMultisBot && m.Author != policy.AuthorBridgeBot
	}
}
