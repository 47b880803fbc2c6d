package memory

import (
	"context"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/internal/text"
	"multis/policy"
	"multis/store"
)

// Notes returns the valid notes of a chat, the newest first; the owner's notes for the admin room.
func (m *Memory) Notes(ctx context.Context, chat store.Chat, limit int) ([]store.Note, error) {
	var notes []store.Note
	err := m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) (err error) {
		notes, err = store.NotesOfRole(ctx, tx, NotesRole(chat), limit)
		return err
	})
	return notes, err
}

// MaxNote is the maximum length, in characters, of a note that is written by hand. Longer ones are cut.
const MaxNote = 2000

// Remember stores a note of the owner's in his own memory and returns its id. message is the message in room that asked for it; 0 for none.
func (m *Memory) Remember(ctx context.Context, tx store.Tx, room store.Chat, message store.MessageID, body string) (store.NoteID, error) {
	if err := store.SetScope(ctx, tx, policy.OwnerScope()); err != nil {
		return 0, err
	}
	n := store.Note{
		Role:      policy.RoleAdmin,
		ChatID:    room.ID,
		Kind:      store.NoteByHand,
		Body:      text.Clip(strings.TrimSpace(body), MaxNote),
		ValidFrom: m.Now(),
	}
	if message != 0 {
		n.Sources = []store.MessageID{message}
	}
	known, err := store.NotesOfRole(ctx, tx, policy.RoleAdmin, maxKnownNotes)
	if err != nil {
		return 0, err
	}
	s := placeNote(n, 0, known, nil)
	written, err := capturer{m}.writeNote(ctx, tx, room, s)
	if err != nil {
		return written.ID, err
	}
	if s.duplicate != nil {
		return written.ID, nil
	}
	return written.ID, m.indexNotes(ctx, tx, room, store.NoteOrigin(written.ID), []store.Note{written})
}

// MessageLink returns the matrix.to address of a message; empty when its room no longer exists.
func MessageLink(chat store.Chat, event id.EventID) string {
	if chat.RoomID == nil || event == "" {
		return ""
	}
	return chat.RoomID.EventURI(event).MatrixToURL()
}

// MessageSource returns the citation of a message: "Ana · WhatsApp, Tue 3 Nov 18:22".
func MessageSource(chat store.Chat, m store.Message, zone *time.Location, now time.Time) string {
	form := "Mon 2 Jan 15:04"
	if m.At.In(zone).Year() != now.In(zone).Year() {
		form = "Mon 2 Jan 2006 15:04"
	}
	source := labelOf(chat)
	if chat.Kind != policy.KindAdmin && (m.Author.IsOwner() || m.Author == policy.AuthorMultisOwner || m.Author == policy.AuthorOperator) {
		source = "You to " + source
	}
	return source + ", " + m.At.In(zone).Format(form)
}
