package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// TestSentRates_CountAnswersOnly: a draft and a shadow answer are not sent, so they use up no cap.
func TestSentRates_CountAnswersOnly(t *testing.T) {
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
	minute, day := time.Now().Add(-time.Minute), time.Now().Add(-24*time.Hour)
	state, err := store.SendingStateOf(t.Context(), st.DB(), chat.ID, minute, day, uuid.Nil)
	require.NoError(t, err)
	require.Equal(t, 4, state.Minute)
	require.Equal(t, 4, state.Day)
	rates, err := store.ContactRates(t.Context(), st.DB(), []store.ChatID{chat.ID}, []id.UserID{"@contact:x"}, minute, day, 2000)
	require.NoError(t, err)
	require.Equal(t, []store.ContactRate{{ChatID: chat.ID, Sender: "@contact:x", SentMinute: 4, SentDay: 4}}, rates)
}
