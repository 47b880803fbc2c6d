package appservice

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// closedHomeserver lets the owner into no room.
func closedHomeserver(b *fixture) *Describer {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"errcode":"M_FORBIDDEN","error":"not in the room"}`))
	}))
	b.t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(b.t, err)
	return NewDescriber(b.inbox, hs)
}

func TestDescribe_OwnerLeavingClosesChat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	require.NoError(t, closedHomeserver(b).Describe(context.Background(), "!a:x"))
	require.Equal(t, 1, b.count("chats where closed_reason = $1", store.ClosedLeft))
}

func TestDescribe_InvitationKeepsAdminRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx, room := context.Background(), id.RoomID("!admin:x")
	require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
		_, err := store.UpsertChat(ctx, tx, adminChat(room, policy.EncryptionNo))
		return err
	}))
	require.NoError(t, closedHomeserver(b).Describe(ctx, room))
	b.receive(b.text(room, owner, "/help"))
	require.Equal(t, 1, b.jobs("command"))
	chat, err := store.AdminChat(ctx, b.store.DB())
	require.NoError(t, err)
	require.True(t, chat.HasRoom())
}
