package memory

import (
	"context"
	"strings"
	"time"

	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/text"
)

// Notes returns what holds of a chat's notes, the newest first; of the owner's for his own room.
func (m *Memory) Notes(ctx context.Context, chat store.Chat, limit int) ([]store.Note, error) {
	var notes []store.Note
	err := m.Store.AsOwner(ctx, scopeOf(chat), func(tx store.Tx) (err error) {
		notes, err = store.NotesOfRole(ctx, tx, NotesRole(chat), limit)
		return err
	})
	return notes, err
}

// MaxNote is the length, in characters, of the longest note that is taken down by hand. What is longer is cut.
const MaxNote = 2000

// Remember takes down what the owner wants remembered, in his own memory. message is where he said so, in room; zero for nowhere.
func (m *Memory) Remember(ctx context.Context, tx store.Tx, room store.Chat, message int64, body string) (int64, error) {
	if err := store.SetScope(ctx, tx, policy.OwnerScope()); err != nil {
		return 0, err
	}
	n := store.Note{Role: policy.Admin, ChatID: room.ID, Kind: store.NoteByHand, Body: text.Clip(strings.TrimSpace(body), MaxNote), ValidFrom: m.Now()}
	if message != 0 {
		n.Sources = []int64{message}
	}
	known, err := store.NotesOfRole(ctx, tx, policy.Admin, maxKnownNotes)
	if err != nil {
		return 0, err
	}
	s := placeNote(n, 0, known, nil)
	written, err := writeNote(ctx, tx, s)
	if err != nil || s.same != nil {
		return written.ID, err
	}
	return written.ID, m.indexNotes(ctx, tx, room, store.NoteOrigin(written.ID), []store.Note{written})
}

// MessageLink is the address of a message for Matrix clients; empty when its room is gone.
func MessageLink(chat store.Chat, event id.EventID) string {
	if chat.RoomID == nil || event == "" {
		return ""
	}
	return chat.RoomID.EventURI(event).MatrixToURL()
}

// MessageSource names a message as a source: "Ana · WhatsApp, Tue 3 Nov 18:22".
func MessageSource(chat store.Chat, m store.Message, zone *time.Location, now time.Time) string {
	form := "Mon 2 Jan 15:04"
	if m.At.In(zone).Year() != now.In(zone).Year() {
		form = "Mon 2 Jan 2006 15:04"
	}
	source := labelOf(chat)
	if chat.Kind != policy.KindAdmin && (m.Author.IsOwner() || m.Author == policy.AuthorMultisOwner) {
		source = "You to " + source
	}
	return source + ", " + m.At.In(zone).Format(form)
}
