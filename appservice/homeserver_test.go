package appservice

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/policy"
)

// TestAnEncryptedSendIsFoundAgainWithoutItsKeys: the session that sent it may have been ended before the answer was heard.
func TestAnEncryptedSendIsFoundAgainWithoutItsKeys(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	o := b.letter(chat, `{"msgtype":"m.text","body":"5 euro"}`, []byte("-"))
	content, err := label(&event.EncryptedEventContent{Algorithm: id.AlgorithmMegolmV1, SessionID: "s", MegolmCiphertext: []byte("abc")}, o.ID.String())
	require.NoError(t, err)
	var sealed event.EncryptedEventContent
	require.NoError(t, json.Unmarshal(content, &sealed))
	require.Equal(t, "abc", string(sealed.MegolmCiphertext), "it stays what others can read")

	sent := b.event("m.room.encrypted", "!a:x", owner, string(content))
	forged := b.event("m.room.encrypted", "!a:x", ana, string(content))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			http.Error(w, "nothing is sent again", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"chunk": []*event.Event{forged, sent}})
	}))
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	NewVault(b.store, hs)                                                     // closed
	require.NoError(t, hs.use(hs.owner, device{ID: "NEW", Made: time.Now()})) // after the send
	o.CreatedAt = time.Now().Add(-time.Minute)
	found, err := hs.Send(t.Context(), o, "!a:x")
	require.NoError(t, err)
	require.Equal(t, sent.ID, found)

	b.receive(sent)
	require.Equal(t, policy.AuthorMultisOwner, b.message(sent).Author, "and the echo is ours before it is decrypted")
}
