package memory_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// columnsContaining returns the names of all columns, in all tables, that contain a text.
func (r *rig) columnsContaining(text string) []string {
	r.t.Helper()
	return storetest.ColumnsContaining(r.t, r.st, text)
}

// newRigWithNotes returns a rig with captured notes, and the message of one of them, which the test deletes.
func newRigWithNotes(t *testing.T) (*rig, store.Message) {
	t.Helper()
	r := newRig(t)
	r.talk(r.ana, 18)
	secret := r.says(r.ana, policy.AuthorContact, "the door code is zanzibar", r.now)
	r.says(r.ana, policy.AuthorContact, "I like tea", r.now)
	r.notes(
		note{Kind: "fact", Subject: "door code", Text: "The door code is zanzibar", From: []int{19}},
		note{Kind: "action", Text: "Send zanzibar to the plumber", Who: "Ana", From: []int{19}},
		note{Kind: "preference", Subject: "drink", Text: "Ana likes tea", From: []int{20}},
	)
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, true))
	require.NoError(t, r.mem.IndexMessages(r.ctx))
	require.Len(t, r.notesOfAna(), 3)
	found := r.columnsContaining("zanzibar")
	for _, column := range []string{
		"messages.body", "notes.body", "commitments.what", "chunks.content", "message_terms.word",
		"term_stats.word",
	} {
		require.Contains(t, found, column)
	}
	return r, secret
}

func TestUnlearn_LeavesNoDerivedText(t *testing.T) {
	t.Parallel()
	r, secret := newRigWithNotes(t)
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, r.ana.ID, secret.EventID, r.now)
		return err
	}))
	require.Empty(t, r.columnsContaining("zanzibar"))
	require.Empty(t, r.dueCaptures(), "two messages are left of those that the notes came from")

	r.talk(r.ana, 20)
	r.notes(note{Kind: "preference", Subject: "drink", Text: "Ana likes tea", From: []int{1}})
	require.Equal(t, []store.ChatID{r.ana.ID}, r.dueCaptures())
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, true))
	require.Len(t, r.notesOfAna(), 1)
}

func TestUnlearn_RemovesJobErrors(t *testing.T) {
	t.Parallel()
	r, secret := newRigWithNotes(t)
	fails := func(kind, args, why string) {
		_, err := r.st.Pool().Exec(r.ctx, `insert into river.river_job (kind, args, max_attempts, queue, state, attempt, errors)
			values ($1, $2, 9, 'default', 'retryable', 1, array[jsonb_build_object('error', $3::text)])`, kind, args, why)
		require.NoError(t, err)
	}
	fails("capture", fmt.Sprintf(`{"chat": %d}`, r.ana.ID), "cannot read: zanzibar")
	fails("keep_file", fmt.Sprintf(`{"message": %d}`, secret.ID), "cannot read: zanzibar")
	fails("index_messages", `{}`, "cannot read: zanzibar")
	fails("capture", fmt.Sprintf(`{"chat": %d}`, r.room.ID), "what the owner asked about zanzibar")
	fails("capture", fmt.Sprintf(`{"chat": %d}`, r.ben.ID), "what Ben said")
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, r.ana.ID, secret.EventID, r.now)
		return err
	}))
	require.Empty(t, r.columnsContaining("zanzibar"))
	require.Equal(t, 5, r.count("select count(*) from river.river_job where state = 'retryable'"), "they are still to be done")
	require.Equal(t, []string{"river.river_job.errors"}, r.columnsContaining("what Ben said"))
}

func TestUnlearn_EditRepeatsCapture(t *testing.T) {
	t.Parallel()
	r, secret := newRigWithNotes(t)
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		there, err := store.EditMessage(r.ctx, tx, r.ana.ID, secret.EventID, "@someone:x", "the door code is secret", r.now.Add(time.Minute))
		require.True(t, there)
		return err
	}))
	require.NoError(t, r.mem.IndexMessages(r.ctx))
	require.Empty(t, r.columnsContaining("zanzibar"))
	require.Equal(t, 2, r.count("select fresh from chat_memory where chat_id = $1", r.ana.ID))
}

func TestUnlearn_RestoresReplacedNote(t *testing.T) {
	t.Parallel()
	r, secret := newRigWithNotes(t)
	r.now = r.now.Add(time.Hour)
	r.talk(r.ana, 20)
	r.notes(note{Kind: "fact", Subject: "door code", Text: "The door code is istanbul", From: []int{20}})
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, true))
	require.Contains(t, r.columnsContaining("zanzibar"), "notes.was")
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, r.ana.ID, secret.EventID, r.now)
		return err
	}))
	require.Empty(t, r.columnsContaining("zanzibar"))
	require.Equal(t, []store.ChatID{r.ana.ID}, r.dueCaptures(), "what is left is looked at again")
	r.notes(note{Kind: "fact", Subject: "door code", Text: "The door code is istanbul", From: []int{20}})
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, true))
	require.Len(t, r.notesOfAna(), 1)
	require.Empty(t, r.notesOfAna()[0].Was)
}

func TestUnlearn_RestoresEndedNotes(t *testing.T) {
	t.Parallel()
	r, _ := newRigWithNotes(t)
	r.now = r.now.Add(time.Hour)
	said := r.talk(r.ana, 20)
	r.notes(note{Kind: "fact", Subject: "door code", Text: "The door code is istanbul", From: []int{20}})
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, true))
	require.Len(t, r.notesOfAna(), 3)
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := store.RedactMessage(r.ctx, tx, r.ana.ID, said[19].EventID, r.now)
		return err
	}))
	require.Empty(t, r.columnsContaining("istanbul"))
	require.Contains(t, r.columnsContaining("zanzibar"), "notes.body")
	require.Len(t, r.notesOfAna(), 3, "the door code is zanzibar again")
}
