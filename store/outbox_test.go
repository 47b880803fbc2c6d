package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// TestCountSent_CountsAnswersOnly: a draft and a shadow answer are not sent, so they use up no cap.
func TestCountSent_CountsAnswersOnly(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	var chat store.Chat
	require.NoError(t, st.InTx(t.Context(), func(tx store.Tx) (err error) {
		chat, err = store.UpsertChat(t.Context(), tx, store.Chat{
			Protocol:   "demo",
			ChannelID:  "a",
			Kind:       policy.KindDM,
			Encryption: policy.EncryptionNo,
		})
		if err != nil {
			return err
		}
		for _, state := range []store.OutboxState{
			store.OutboxDraft, store.OutboxShadow, store.OutboxQueued, store.OutboxSent, store.OutboxDelivered, store.OutboxFailed, store.OutboxDropped,
		} {
			if err := store.InsertOutboxMessage(t.Context(), tx, store.OutboxMessage{
				ID:        uuid.New(),
				ChatID:    chat.ID,
				SendAs:    policy.AsOwner,
				Purpose:   policy.PurposeReply,
				EventType: "m.room.message",
				Content:   []byte(`{"body":"x"}`),
				State:     state,
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	minute, day, err := store.CountSent(t.Context(), st.DB(), chat.ID, time.Now().Add(-time.Minute), time.Now().Add(-24*time.Hour), uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, 4, minute)
	require.Equal(t, 4, day)
}
