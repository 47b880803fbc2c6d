package appservice

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/policy"
	"multis/store"
)

// TestAdminRoom_InvitesOperatorsOnce: those who left, were removed or have not accepted are known to the room.
func TestAdminRoom_InvitesOperatorsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	room := id.RoomID("!admin:x")
	require.NoError(t, b.store.InTx(t.Context(), func(tx store.Tx) error {
		_, err := store.UpsertChat(context.Background(), tx, adminChat(room, policy.EncryptionNo))
		return err
	}))
	members := map[id.UserID]string{owner: "join", bot: "join", "@in:x": "join", "@asked:x": "invite", "@left:x": "leave", "@banned:x": "ban"}
	var invited []id.UserID
	status, answer := http.StatusOK, "{}"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/state"):
			var state []map[string]any
			for who, membership := range members {
				state = append(state, map[string]any{
					"type": "m.room.member", "state_key": who, "sender": bot,
					"content": map[string]string{"membership": membership},
				})
			}
			_ = json.NewEncoder(w).Encode(state)
		case strings.HasSuffix(r.URL.Path, "/invite"):
			var who struct {
				User id.UserID `json:"user_id"`
			}
			_ = json.NewDecoder(r.Body).Decode(&who)
			invited = append(invited, who.User)
			if status == http.StatusOK {
				members[who.User] = "invite"
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(answer))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	start := func(operators ...id.UserID) []id.UserID {
		invited = nil
		hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot, Operators: operators})
		require.NoError(t, err)
		require.NoError(t, hs.MakeAdminRoom(t.Context()))
		slices.Sort(invited)
		return invited
	}
	require.Empty(t, start())
	require.Empty(t, start("@in:x", "@asked:x", "@left:x", "@banned:x"))
	require.Equal(t, []id.UserID{"@eva:x"}, start("@in:x", "@left:x", "@eva:x"))
	require.Empty(t, start("@eva:x"))
	members["@eva:x"] = "leave"
	require.Empty(t, start("@eva:x"), "she left, or was removed")

	status, answer = http.StatusForbidden, `{"errcode":"M_FORBIDDEN","error":"not allowed"}`
	require.Equal(t, []id.UserID{"@bob:x", "@mia:x"}, start("@bob:x", "@mia:x"), "a refusal holds up nobody")
	status, answer = http.StatusOK, "{}"
	require.Equal(t, []id.UserID{"@bob:x", "@mia:x"}, start("@bob:x", "@mia:x"), "and is tried again at the next start")
}
