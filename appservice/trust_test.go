package appservice

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/crypto"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// A key that comes while its message is looked for starts a second job for it. Neither may take the sender's device for
// unknown while the other fetches the sender's keys: the owner's command would be refused.
func TestTrust_ConcurrentDecryptKnowsSender(t *testing.T) {
	t.Parallel()
	b := setup(t)
	v := b.openVault()
	var published json.RawMessage // the sender's device
	asked, answer := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/_matrix/client/v3/keys/upload":
			var keys struct {
				Device json.RawMessage `json:"device_keys"`
			}
			_ = json.NewDecoder(r.Body).Decode(&keys)
			published = keys.Device
			_, _ = w.Write([]byte(`{"one_time_key_counts": {"signed_curve25519": 50}}`))
		case "/_matrix/client/v3/keys/query":
			close(asked)
			<-answer
			_ = json.NewEncoder(w).Encode(map[string]any{"device_keys": map[id.UserID]any{owner: map[id.DeviceID]any{"PHONE": published}}})
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	reader := v.machines[policy.AsBot]
	var err error
	reader.client.HomeserverURL, err = mautrix.ParseAndNormalizeBaseURL(server.URL)
	require.NoError(t, err)
	evt := writeEncrypted(t, server.URL, reader)

	type outcome struct {
		trust id.TrustState
		err   error
	}
	outcomes := make(chan outcome, 2)
	decrypt := func() {
		one := *evt
		plain, err := v.decrypt(context.Background(), policy.AsBot, &one)
		if err != nil {
			outcomes <- outcome{err: err}
			return
		}
		outcomes <- outcome{trust: plain.Mautrix.TrustState}
	}
	go decrypt()
	<-asked
	go decrypt()
	select {
	case early := <-outcomes: // it did not wait for the keys
		outcomes <- early
	case <-time.After(300 * time.Millisecond):
	}
	close(answer)
	for range 2 {
		got := <-outcomes
		require.NoError(t, got.err)
		require.Equal(t, id.TrustStateUnset, got.trust, "a known device that nobody vouches for")
	}
}

// writeEncrypted has a new device of the owner's write an encrypted message whose key the reader has.
func writeEncrypted(t *testing.T, server string, reader *machine) *event.Event {
	t.Helper()
	ctx, nop := t.Context(), zerolog.Nop()
	client, err := mautrix.NewClient(server, owner, "token")
	require.NoError(t, err)
	client.DeviceID = "PHONE"
	const room = id.RoomID("!admin:x")
	writer := crypto.NewOlmMachine(client, &nop, crypto.NewMemoryStore(nil), encryptedRooms{})
	require.NoError(t, writer.Load(ctx))
	require.NoError(t, writer.ShareKeys(ctx, -1))
	key, err := crypto.NewOutboundGroupSession(room, &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}, nil)
	require.NoError(t, err)
	key.Shared = true
	require.NoError(t, writer.CryptoStore.AddOutboundGroupSession(ctx, key))
	own := writer.OwnIdentity()
	received, err := crypto.NewInboundGroupSession(own.IdentityKey, own.SigningKey, room, key.Internal.Key(), 0, 0, nil, false)
	require.NoError(t, err)
	require.NoError(t, reader.CryptoStore.PutGroupSession(ctx, received))
	sealed, err := writer.EncryptMegolmEvent(ctx, room, event.EventMessage, &event.MessageEventContent{MsgType: event.MsgText, Body: "/help"})
	require.NoError(t, err)
	return &event.Event{
		ID:        "$help",
		RoomID:    room,
		Sender:    owner,
		Type:      event.EventEncrypted,
		Timestamp: time.Now().UnixMilli(),
		Content:   event.Content{Parsed: sealed},
	}
}

// encryptedRooms is a state store in which every room is encrypted.
type encryptedRooms struct{ crypto.StateStore }

func (encryptedRooms) IsEncrypted(context.Context, id.RoomID) (bool, error) { return true, nil }

func (encryptedRooms) GetEncryptionEvent(context.Context, id.RoomID) (*event.EncryptionEventContent, error) {
	return &event.EncryptionEventContent{Algorithm: id.AlgorithmMegolmV1}, nil
}
