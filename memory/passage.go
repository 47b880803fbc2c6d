package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"

	"multis/knowledge/search"
	"multis/store"
	"multis/store/index"
)

// reindexNote indexes the passage that a replaced note is in again, without the note.
func (m *Memory) reindexNote(ctx context.Context, tx store.Tx, chat store.Chat, replaced store.Note) error {
	if replaced.Section != nil {
		return m.indexSection(ctx, tx, chat, *replaced.Section)
	}
	return m.indexNotes(ctx, tx, chat, store.NoteOrigin(replaced.ID), nil)
}

// indexSection indexes the valid notes of a capture as one passage, or removes the passage when there are none.
func (m *Memory) indexSection(ctx context.Context, tx store.Tx, chat store.Chat, section store.SectionID) error {
	notes, err := store.NotesOfSection(ctx, tx, section)
	if err != nil {
		return err
	}
	notes = slices.DeleteFunc(notes, func(n store.Note) bool { return n.ValidTo != nil })
	return m.indexNotes(ctx, tx, chat, store.SectionOrigin(section), notes)
}

// indexNotes writes the passage with these notes, or removes it when there are none.
func (m *Memory) indexNotes(ctx context.Context, tx store.Tx, chat store.Chat, origin string, notes []store.Note) error {
	if len(notes) == 0 {
		err := index.RemoveDocument(ctx, tx, origin)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	lines := make([]string, len(notes))
	for i, n := range notes {
		lines[i] = "- " + NoteText(n)
	}
	text := strings.Join(lines, "\n")
	name := "Notes · " + labelOf(chat)
	heading := notes[len(notes)-1].ValidFrom.In(m.Zone).Format("Mon 2 Jan 2006")
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	doc := index.Document{
		Origin: origin,
		Name:   name,
		Role:   NotesRole(chat),
		Kind:   index.KindConversation,
		Format: "chat",
		Size:   int64(len(text)),
		Hash:   hash,
	}
	_, err := index.ReplaceDocument(ctx, tx, doc, []index.Chunk{{
		Key: origin + ":" + hash, Section: heading, Content: text, SearchText: search.IndexText(name, heading, text),
	}})
	return err
}

// NoteText returns a note as people read it, with what it said before.
func NoteText(n store.Note) string {
	if n.Was != "" {
		return n.Body + " (was: " + n.Was + ")"
	}
	return n.Body
}
