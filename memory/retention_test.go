package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/memory"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// withRetention returns a Memory in a time zone that keeps chats for 90 days and the owner's rooms for 365.
func (r *rig) withRetention(zone *time.Location) *memory.Memory {
	return memory.New(memory.Options{
		Store:  r.st,
		Search: r.mem.Search,
		Model:  r.mem.Model,
		Zone:   zone,
		Now:    func() time.Time { return r.now },
	})
}

func TestRetention_CoversAllTables(t *testing.T) {
	t.Parallel()
	r, _ := newRigWithNotes(t) // notes about the door code exist and are indexed
	old := r.now
	r.says(r.room, policy.AuthorOwnerClient, "my own lisbon", old)
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		_, err := r.mem.Remember(r.ctx, tx, r.room, r.says(r.room, policy.AuthorOwnerClient, "/remember lisbon", old).ID, "lisbon")
		return err
	}))
	gone, err := r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.True(t, gone.IsZero(), "nothing is old yet")

	r.now = r.now.Add(91 * 24 * time.Hour)
	kept, err := r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.Equal(t, 19, kept.Messages, "what is promised without a day keeps its message until it is settled")
	_, err = r.st.Pool().Exec(r.ctx, "update commitments set state = 'done'")
	require.NoError(t, err)
	r.says(r.ana, policy.AuthorContact, "a new beginning", r.now)
	require.NoError(t, r.mem.IndexMessages(r.ctx))
	gone, err = r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.Equal(t, 20, kept.Add(gone).Messages)
	require.Equal(t, 3, kept.Add(gone).Notes)
	require.Equal(t, 1, kept.Add(gone).Passages)
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "zanzibar"))
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "I like tea"))
	require.Equal(t, 1, r.count("select count(*) from messages where chat_id = $1", r.ana.ID))
	require.NotEmpty(t, storetest.ColumnsContaining(t, r.st, "lisbon"), "what is the owner's is kept longer")

	r.now = r.now.Add(275 * 24 * time.Hour)
	_, err = r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "lisbon"))
	gone, err = r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.True(t, gone.IsZero())
}

func TestRetention_EndsAtOwnersMidnight(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	zone, err := time.LoadLocation("Pacific/Auckland")
	require.NoError(t, err)
	midnight := time.Date(2026, 3, 1, 0, 0, 0, 0, zone)
	r.says(r.ana, policy.AuthorContact, "the evening before", midnight.Add(-time.Second))
	r.says(r.ana, policy.AuthorContact, "the first of it", midnight)
	r.now = midnight.AddDate(0, 0, 90).Add(23 * time.Hour)
	gone, err := r.withRetention(zone).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.Equal(t, 1, gone.Messages)
	require.Equal(t, 1, r.count("select count(*) from messages where body = 'the first of it'"))
}

func TestRetention_NoteAgesWithNewestSource(t *testing.T) {
	t.Parallel()
	r, _ := newRigWithNotes(t)
	r.now = r.now.Add(60 * 24 * time.Hour)
	r.talk(r.ana, 20)
	r.notes(note{Kind: "preference", Subject: "drink", Text: "Ana likes tea", From: []int{20}})
	require.NoError(t, r.mem.Capture(r.ctx, r.ana.ID, true))
	r.now = r.now.Add(40 * 24 * time.Hour)
	_, err := r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.NotEmpty(t, r.notesOfAna(), "she said so 40 days ago")
	_, err = r.st.Pool().Exec(r.ctx, "update commitments set state = 'done'")
	require.NoError(t, err)
	r.now = r.now.Add(60 * 24 * time.Hour)
	_, err = r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.Empty(t, r.notesOfAna())
	require.Empty(t, storetest.ColumnsContaining(t, r.st, "likes tea"))
}

func TestRetention_KeepsOpenCommitments(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.says(r.ana, policy.AuthorContact, "I pay next summer", r.now)
	due := time.Now().AddDate(1, 0, 0)
	require.NoError(t, r.st.InTx(r.ctx, func(tx store.Tx) error {
		return store.InsertCommitment(r.ctx, tx, store.Commitment{
			ChatID:    r.ana.ID,
			MessageID: m.ID,
			Who:       "Ana",
			What:      "pays",
			DueAt:     &due,
		})
	}))
	r.now = r.now.Add(100 * 24 * time.Hour)
	gone, err := r.withRetention(time.UTC).ApplyRetention(r.ctx)
	require.NoError(t, err)
	require.Zero(t, gone.Messages)
}

// BenchmarkRetention deletes 100,000 old, indexed messages of 500 chats.
func BenchmarkRetention(b *testing.B) {
	for range b.N {
		b.StopTimer()
		st := storetest.NewWithMessages(b, 500, 200, time.Now().AddDate(0, 0, -200))
		mem := memory.New(memory.Options{Store: st})
		b.StartTimer()
		gone, err := mem.ApplyRetention(b.Context())
		b.StopTimer()
		require.NoError(b, err)
		require.Equal(b, 100_000, gone.Messages)
		var left int
		require.NoError(b, st.DB().QueryRow(b.Context(), "select count(*) from message_terms").Scan(&left))
		require.Zero(b, left, "words are still counted")
		b.StartTimer()
	}
}
