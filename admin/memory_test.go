package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
)

func TestMemory_ShowsNoteByHand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.Contains(t, r.asOwner("/memory"), "no notes yet")
	require.Equal(t, "[✅]\nNoted: “the plumber is called *Otto*”. Undo: `/forget 1`.",
		r.asOwner("/remember the plumber is called *Otto*"))
	require.Contains(t, r.asOwner("/remember The plumber is called Otto."), "Noted: ", "said twice is known once")
	shown := r.asOwner("/memory")
	require.Contains(t, shown, "**Your own notes** (1 note")
	require.Contains(t, shown, "the plumber is called *Otto*")
	require.Contains(t, r.lastSent().HTML, "https://matrix.to/#/%21room")
	require.Contains(t, r.asOwner("/remember"), "What should I remember?")
	require.Contains(t, r.asOperator("/memory"), "Only the owner can use")
}

func TestMemory_ShowsNotesByChat(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ana := r.chat("Ana", "whatsapp")
	require.NoError(t, r.st.AsOwner(r.ctx, policy.ContactScope(ana.ID), func(tx store.Tx) error {
		_, err := store.InsertNote(r.ctx, tx, store.Note{
			Role:      policy.UserRole(ana.ID),
			ChatID:    ana.ID,
			Kind:      store.NoteFact,
			Body:      "The fence costs 480 euro.",
			Was:       "The fence costs 400 euro.",
			ValidFrom: r.now,
		})
		return err
	}))
	shown := r.asOwner("/memory ana")
	require.Contains(t, shown, "Ana · WhatsApp")
	require.Contains(t, shown, "The fence costs 480 euro. (was: The fence costs 400 euro.) — fact")
	require.NotContains(t, r.asOwner("/memory"), "fence", "it is not the owner's")
}
