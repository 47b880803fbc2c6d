package memory

import (
	"context"
	"strings"
	"time"

	"multis/internal/text"
	"multis/store"
)

// UndoTime is how long a change of a note can be undone.
const UndoTime = 30 * 24 * time.Hour

// FormerNotes returns what the notes of a chat said before they were changed, by the notes that say it now, as far as the
// change can be undone.
func (m *Memory) FormerNotes(ctx context.Context, chat store.Chat) (map[store.NoteID]store.Note, error) {
	var former map[store.NoteID]store.Note
	err := m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) (err error) {
		former, err = store.FormerNotes(ctx, tx, NotesRole(chat), m.Now().Add(-UndoTime))
		return err
	})
	return former, err
}

// ChangeNote gives a note of a chat other words. The new note has its sources; the former one stays for UndoNote. It
// returns store.ErrNotFound if there is no such note any more.
func (m *Memory) ChangeNote(ctx context.Context, tx store.Tx, chat store.Chat, note store.NoteID, body string) (store.NoteID, error) {
	old, err := m.lockNote(ctx, tx, chat, note)
	if err != nil {
		return 0, err
	}
	n := old
	n.Body, n.Was = text.Clip(strings.TrimSpace(body), MaxNote), ""
	if n.ID, err = store.InsertNote(ctx, tx, n); err != nil {
		return 0, err
	}
	return n.ID, m.exchange(ctx, tx, chat, old, n)
}

// UndoNote restores what a note of a chat said before it was changed. It returns store.ErrNotFound if there is no such
// note any more, or nothing to restore.
func (m *Memory) UndoNote(ctx context.Context, tx store.Tx, chat store.Chat, note store.NoteID) error {
	now, err := m.lockNote(ctx, tx, chat, note)
	if err != nil {
		return err
	}
	former, err := store.FormerNotes(ctx, tx, NotesRole(chat), m.Now().Add(-UndoTime))
	if err != nil {
		return err
	}
	old, found := former[note]
	if !found {
		return store.ErrNotFound
	}
	if err := store.RestoreNote(ctx, tx, old.ID); err != nil {
		return err
	}
	return m.exchange(ctx, tx, chat, now, old)
}

// lockNote locks a valid note of a chat, in a transaction that may then read the chat's notes.
func (m *Memory) lockNote(ctx context.Context, tx store.Tx, chat store.Chat, note store.NoteID) (store.Note, error) {
	if err := store.SetScope(ctx, tx, scopeOf(chat)); err != nil {
		return store.Note{}, err
	}
	return store.LockNote(ctx, tx, NotesRole(chat), note)
}

// exchange ends a note that another one replaces, and indexes both again.
func (m *Memory) exchange(ctx context.Context, tx store.Tx, chat store.Chat, gone, valid store.Note) error {
	if err := store.SupersedeNote(ctx, tx, gone.ID, m.Now(), valid.ID); err != nil {
		return err
	}
	if err := m.reindexNote(ctx, tx, chat, gone); err != nil {
		return err
	}
	if valid.Section != nil {
		return m.indexSection(ctx, tx, chat, *valid.Section)
	}
	return m.indexNotes(ctx, tx, chat, store.NoteOrigin(valid.ID), []store.Note{valid})
}
