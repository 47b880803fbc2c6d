package web

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"multis/policy"
	"multis/store"
)

// maxForgotten is how many of the messages that are deleted with a note are shown.
const maxForgotten = 20

// noteCard is a note with the messages that it comes from.
type noteCard struct {
	store.Note

	Former string // what it said before it was changed, as far as that can be undone
	From   []entry
}

// memoryPage is what the page of a chat's notes shows.
type memoryPage struct {
	Chat  store.Chat
	IsOwn bool // the notes are the owner's own
	Notes []noteCard
}

// notePages are the pages of what is remembered.
type notePages struct{ *Site }

// memory shows the notes of a chat.
func (s notePages) memory(v *visit) error {
	c, err := store.ChatByID(v.r.Context(), v.db, store.ChatID(v.id()))
	if errors.Is(err, store.ErrNotFound) || err == nil && !isContactChat(c) {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	return s.showNotes(v, memoryPage{Chat: c})
}

// ownMemory shows the owner's own notes.
func (s notePages) ownMemory(v *visit) error {
	c, err := store.AdminChat(v.r.Context(), v.db)
	if errors.Is(err, store.ErrNotFound) {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	return s.showNotes(v, memoryPage{Chat: c, IsOwn: true})
}

func (s notePages) showNotes(v *visit, page memoryPage) error {
	ctx := v.r.Context()
	notes, former, err := s.Memory.Notes(ctx, page.Chat)
	if err != nil {
		return err
	}
	var sources []store.MessageID
	for _, n := range notes {
		sources = append(sources, n.Sources...)
	}
	messages, err := store.MessagesByID(ctx, v.db, sources)
	if err != nil {
		return err
	}
	for _, n := range notes {
		card := noteCard{Note: n, Former: former[n.ID].Body}
		for _, source := range n.Sources {
			if m, there := messages[source]; there && m.RedactedAt == nil {
				card.From = append(card.From, s.messageEntry(page.Chat, m))
			}
		}
		page.Notes = append(page.Notes, card)
	}
	s.show(v, http.StatusOK, "memory", "Memory", page)
	return nil
}

// changeNote gives a note other words.
func (s notePages) changeNote(v *visit) error {
	words := strings.TrimSpace(v.r.PostFormValue("text"))
	if words == "" {
		return s.reject(v, "There are no words to save. To delete the note, forget it.", "")
	}
	refused, err := s.Memory.ChangeNote(v.r.Context(), v.session, v.note(), words)
	return s.afterNote(v, refused, words, err)
}

// undoNote gives a note its former words.
func (s notePages) undoNote(v *visit) error {
	refused, err := s.Memory.UndoNote(v.r.Context(), v.session, v.note())
	return s.afterNote(v, refused, "", err)
}

// forgetNote deletes a note and the messages that it comes from.
func (s notePages) forgetNote(v *visit) error {
	refused, err := s.Memory.ForgetNote(v.r.Context(), v.session, v.note(), v.r.PostFormValue("version"))
	return s.afterNote(v, refused, "", err)
}

// afterNote answers a form about a note with the page of the notes that it came from.
func (s notePages) afterNote(v *visit, refused, words string, err error) error {
	if err != nil {
		return err
	}
	next := "/memory"
	if chat := parseID(v.r.PostFormValue("chat")); chat > 0 {
		next = fmt.Sprintf("/chats/%d/memory", chat)
	}
	return s.settle(v, refused, words, next)
}

// forgetPage is what is shown before a note is forgotten.
type forgetPage struct {
	Note    store.NoteID
	Chat    store.Chat
	IsOwn   bool
	Rows    store.DeletionSet
	Version string
	Shown   []entry
}

// askToForget shows what is deleted with a note, and a button.
func (s notePages) askToForget(v *visit) error {
	ctx := v.r.Context()
	page := forgetPage{Note: v.note()}
	var err error
	page.Rows, err = s.Store.FindNote(ctx, page.Note)
	if errors.Is(err, store.ErrNotFound) {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	page.Version = DeletionVersion(page.Rows)
	if page.Chat, err = store.ChatByID(ctx, v.db, page.Rows.Chats[0]); err != nil {
		return err
	}
	page.IsOwn = page.Chat.Kind == policy.KindAdmin
	shown := page.Rows.Messages[:min(len(page.Rows.Messages), maxForgotten)]
	messages, err := store.MessagesByID(ctx, v.db, shown)
	if err != nil {
		return err
	}
	for _, m := range shown {
		if found, there := messages[m]; there {
			page.Shown = append(page.Shown, s.messageEntry(page.Chat, found))
		}
	}
	s.show(v, http.StatusOK, "forget", "Forget a note", page)
	return nil
}

// note returns the number of the note in the path.
func (v *visit) note() store.NoteID { return store.NoteID(v.id()) }
