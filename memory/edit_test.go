package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// change gives a note of Ana's other words, and returns the new one.
func (r *rig) change(note store.NoteID, words string) (changed store.NoteID, err error) {
	r.t.Helper()
	err = r.st.InTx(r.ctx, func(tx store.Tx) (err error) {
		changed, err = r.mem.ChangeNote(r.ctx, tx, r.ana, note, words)
		return err
	})
	return changed, err
}

func (r *rig) undo(note store.NoteID) error {
	return r.st.InTx(r.ctx, func(tx store.Tx) error { return r.mem.UndoNote(r.ctx, tx, r.ana, note) })
}

// passages returns the texts of Ana's notes that a search finds.
func (r *rig) passages(words string) (texts []string) {
	r.t.Helper()
	found, err := r.mem.Search.AsOwner(r.ctx, policy.ContactScope(r.ana.ID),
		search.Query{Text: words, Kinds: []index.Kind{index.KindConversation}})
	require.NoError(r.t, err)
	for _, h := range found.Hits {
		texts = append(texts, h.Text)
	}
	return texts
}

func (r *rig) noteAbout(word string) store.Note {
	r.t.Helper()
	for _, n := range r.notesOfAna() {
		if n.Subject == word {
			return n
		}
	}
	r.t.Fatal("there is no such note")
	return store.Note{}
}

func TestNote_ChangesAndIsUndone(t *testing.T) {
	t.Parallel()
	r, _ := newRigWithNotes(t)
	old := r.noteAbout("drink")
	changed, err := r.change(old.ID, " Ana prefers coffee ")
	require.NoError(t, err)
	now := r.noteAbout("drink")
	require.Equal(t, changed, now.ID)
	require.Equal(t, "Ana prefers coffee", now.Body)
	require.Empty(t, now.Was, "what was wrong is in no prompt")
	require.Equal(t, old.Sources, now.Sources)
	require.True(t, old.ValidFrom.Equal(now.ValidFrom))
	require.Len(t, r.notesOfAna(), 3)
	require.Contains(t, r.passages("coffee")[0], "Ana prefers coffee")
	require.NotContains(t, r.passages("coffee")[0], "tea")

	former, err := r.mem.FormerNotes(r.ctx, r.ana)
	require.NoError(t, err)
	require.Equal(t, "Ana likes tea", former[changed].Body)
	_, err = r.change(old.ID, "x")
	require.ErrorIs(t, err, store.ErrNotFound, "a note is changed once, by its number")
	require.ErrorIs(t, r.undo(old.ID), store.ErrNotFound)

	require.NoError(t, r.undo(changed))
	require.Equal(t, old.ID, r.noteAbout("drink").ID)
	require.Contains(t, r.passages("tea")[0], "Ana likes tea")
	require.Empty(t, r.passages("coffee"))
	require.NoError(t, r.undo(old.ID), "what was undone can be done again")
	require.Equal(t, "Ana prefers coffee", r.noteAbout("drink").Body)
	r.now = r.now.Add(31 * 24 * time.Hour)
	require.ErrorIs(t, r.undo(changed), store.ErrNotFound, "30 days later no more")
}

func TestNote_OfOtherChatIsNotChanged(t *testing.T) {
	t.Parallel()
	r, _ := newRigWithNotes(t)
	note := r.noteAbout("drink")
	err := r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := r.mem.ChangeNote(r.ctx, tx, r.ben, note.ID, "x")
		return err
	})
	require.ErrorIs(t, err, store.ErrNotFound)
	require.Equal(t, "Ana likes tea", r.noteAbout("drink").Body)
}

// TestNote_FormerWordsAreForgotten changes a note, and then forgets it or the message that it comes from.
func TestNote_FormerWordsAreForgotten(t *testing.T) {
	t.Parallel()
	r, secret := newRigWithNotes(t)
	_, err := r.change(r.noteAbout("door code").ID, "The code was changed to okapi")
	require.NoError(t, err)
	rows, err := r.st.FindNote(r.ctx, r.noteAbout("door code").ID)
	require.NoError(t, err)
	require.Len(t, rows.Notes, 2, "with its former words")
	require.Equal(t, []store.MessageID{secret.ID}, rows.Messages)
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := store.Forget(r.ctx, tx, rows, r.now)
		return err
	}))
	require.Empty(t, r.columnsContaining("zanzibar"))
	require.Empty(t, r.columnsContaining("okapi"))
}

func TestNote_ByHandChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var note store.NoteID
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) (err error) {
		note, err = r.mem.Remember(r.ctx, tx, r.room, 0, "The plumber is called Otto")
		return err
	}))
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) (err error) {
		note, err = r.mem.ChangeNote(r.ctx, tx, r.room, note, "The plumber is called Erna")
		return err
	}))
	find := func(words string) int {
		found, err := r.mem.Search.AsOwner(r.ctx, policy.OwnerScope(), search.Query{Text: words})
		require.NoError(t, err)
		return len(found.Hits)
	}
	require.Equal(t, 1, find("Erna"))
	require.Zero(t, find("Otto"))
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error { return r.mem.UndoNote(r.ctx, tx, r.room, note) }))
	require.Equal(t, 1, find("Otto"))
	require.Zero(t, find("Erna"))
}
