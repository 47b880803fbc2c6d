package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/memory"
	"multis/ops/web"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	maxFoundDocuments = 10  // passages of documents that a search on the page shows
	maxFoundMemory    = 12  // messages and notes
	maxPageNotes      = 200 // notes on a page
)

// Search finds passages of documents as /search does, and what was said and noted in all chats that are not off.
func (w *WebCommands) Search(ctx context.Context, words string) (web.Found, error) {
	var found web.Found
	quotes, err := w.finder.find(ctx, policy.OwnerScope(), true, words, maxFoundDocuments)
	if err != nil {
		return found, err
	}
	for _, q := range quotes {
		found.Documents = append(found.Documents, passageOf(q))
	}
	chats, err := w.searchableChats(ctx)
	if err != nil {
		return found, err
	}
	recalled, err := w.memory.Recall(ctx, memory.Question{
		Text:    words,
		Scope:   policy.OwnerScope(chats...),
		AsOwner: true,
		Limit:   maxFoundMemory,
		AnyTime: true,
	})
	if err != nil {
		return found, err
	}
	if len(recalled.Terms) == 0 { // else a search for nothing but common words would show the newest messages
		return found, nil
	}
	for _, h := range recalled.Hits {
		p := passageOf(search.Quote{Hit: h, Text: h.Text})
		if message, ok := h.Ref.Message(); ok && h.ChatID != 0 {
			p.Path = fmt.Sprintf("/chats/%d#m-%d", h.ChatID, message)
		}
		found.Memory = append(found.Memory, p)
	}
	return found, nil
}

// searchableChats returns the chats that are not off, without the admin room.
func (w *WebCommands) searchableChats(ctx context.Context) ([]store.ChatID, error) {
	ids, err := store.AllChats(ctx, w.store.DB())
	if err != nil {
		return nil, err
	}
	chats, err := store.ChatsByID(ctx, w.store.DB(), ids)
	return slices.DeleteFunc(ids, func(id store.ChatID) bool {
		return chats[id].Kind == policy.KindAdmin || chats[id].IsOff(w.settings.Defaults)
	}), err
}

// passageOf returns a quote with what surrounds it in its passage.
func passageOf(q search.Quote) web.Passage {
	p := web.PassageAround(q.Hit.Text, q.Text)
	p.Source, p.Private = strings.Trim(knowledge.CiteQuote(q), "[]"), q.Hit.Role != policy.RolePublic
	if chunk, ok := q.Hit.Ref.Chunk(); ok && q.Hit.DocumentID != 0 && q.Hit.Kind == index.KindKnowledge {
		p.Path = web.PassagePath(q.Hit.DocumentID, chunk)
	}
	return p
}

// Notes returns the notes of a chat, the newest first, and what they said before they were changed, by the present notes.
func (w *WebCommands) Notes(ctx context.Context, chat store.Chat) ([]store.Note, map[store.NoteID]store.Note, error) {
	notes, err := w.memory.Notes(ctx, chat, maxPageNotes)
	if err != nil {
		return nil, nil, err
	}
	former, err := w.memory.FormerNotes(ctx, chat)
	return notes, former, err
}

// errNoNote refuses a form about a note that is no longer there.
const errNoNote refusal = "That note was changed or deleted in the meantime."

// ChangeNote gives a note other words.
func (w *WebCommands) ChangeNote(ctx context.Context, s store.WebSession, note store.NoteID, words string) (refused string, err error) {
	return w.onNote(ctx, s, note, deed{command: "memory", outcome: "change", words: words}, func(tx store.Tx, chat store.Chat) error {
		_, err := w.memory.ChangeNote(ctx, tx, chat, note, words)
		return err
	})
}

// UndoNote gives a note its former words.
func (w *WebCommands) UndoNote(ctx context.Context, s store.WebSession, note store.NoteID) (refused string, err error) {
	return w.onNote(ctx, s, note, deed{command: "memory", outcome: "undo"}, func(tx store.Tx, chat store.Chat) error {
		return w.memory.UndoNote(ctx, tx, chat, note)
	})
}

// onNote changes a note of a chat.
func (w *WebCommands) onNote(ctx context.Context, s store.WebSession, note store.NoteID, d deed,
	change func(store.Tx, store.Chat) error,
) (refused string, err error) {
	rows, err := w.store.FindNote(ctx, note)
	if errors.Is(err, store.ErrNotFound) {
		return string(errNoNote), nil
	}
	if err != nil {
		return "", err
	}
	d.ref = strconv.FormatInt(int64(note), 10)
	d.change = func(ctx context.Context, tx store.Tx) error {
		chat, err := store.LockChat(ctx, tx, rows.Chats[0])
		if err == nil {
			err = change(tx, chat)
		}
		if errors.Is(err, store.ErrNotFound) {
			return errNoNote
		}
		return err
	}
	return w.carryOut(ctx, s, d)
}

// ForgetNote deletes a note and the messages that it comes from, if they are those that the form showed.
func (w *WebCommands) ForgetNote(ctx context.Context, s store.WebSession, note store.NoteID, version string) (refused string, err error) {
	rows, err := w.store.FindNote(ctx, note)
	if errors.Is(err, store.ErrNotFound) {
		return string(errNoNote), nil
	}
	if err != nil {
		return "", err
	}
	if web.DeletionVersion(rows) != version {
		return string(errShownChanged), nil
	}
	return w.carryOut(ctx, s, deed{
		command: "forget", outcome: "note", ref: strconv.FormatInt(int64(note), 10),
		change: w.forgetting.beginForgetting(store.Forgetting{Kind: store.ForgetSome, Remaining: rows}),
	})
}
