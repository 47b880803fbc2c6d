package appservice

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
)

// TestHomeserver_FindsEncryptedSend: the session that sent it may have been ended before the answer was heard.
func TestHomeserver_FindsEncryptedSend(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	o := b.queueFile(chat, `{"msgtype":"m.text","body":"5 euro"}`, []byte("-"))
	content, err := addOutboxKey(&event.EncryptedEventContent{
		Algorithm:        id.AlgorithmMegolmV1,
		SessionID:        "s",
		MegolmCiphertext: []byte("abc"),
	}, o.ID.String())
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
	NewVault(b.store, hs)                                                                // closed
	require.NoError(t, hs.setDevice(hs.owner, device{ID: "NEW", CreatedAt: time.Now()})) // after the send
	o.CreatedAt = time.Now().Add(-time.Minute)
	found, err := hs.Send(t.Context(), o, "!a:x")
	require.NoError(t, err)
	require.Equal(t, sent.ID, found)

	b.receive(sent)
	require.Equal(t, policy.AuthorMultisOwner, b.message(sent).Author, "and the echo is ours before it is decrypted")
}

// TestHomeserver_NoPlainTextIfEncrypted: the homeserver is asked right before each send, whatever is stored of the room.
func TestHomeserver_NoPlainTextIfEncrypted(t *testing.T) {
	t.Parallel()
	const sealed, absent = `{"algorithm":"m.megolm.v1.aes-sha2"}`, `{"errcode":"M_NOT_FOUND","error":"no such state"}`
	tests := []struct {
		name    string
		stored  policy.Encryption
		status  int
		answer  string
		sent    int
		isFinal bool
	}{
		{"it is not", policy.EncryptionNo, http.StatusNotFound, absent, 1, false},
		{"it is", policy.EncryptionYes, http.StatusOK, sealed, 0, false},
		{"it has become so", policy.EncryptionNo, http.StatusOK, sealed, 0, false},
		{"in a way we do not know", policy.EncryptionNo, http.StatusOK, `{"algorithm":"x.new"}`, 0, false},
		{"in no way at all", policy.EncryptionNo, http.StatusOK, `{}`, 0, false},
		{"it was", policy.EncryptionYes, http.StatusNotFound, absent, 0, true},
		{"we may not know", policy.EncryptionNo, http.StatusForbidden, `{"errcode":"M_FORBIDDEN","error":"not in the room"}`, 0, false},
		{"nobody knows", policy.EncryptionNo, http.StatusInternalServerError, `{"errcode":"M_UNKNOWN","error":"oops"}`, 0, false},
		{"the answer is not JSON", policy.EncryptionNo, http.StatusOK, "<html>", 0, false},
		{"a proxy finds nothing", policy.EncryptionNo, http.StatusNotFound, "<html>not found</html>", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, sent := setup(t), 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case strings.Contains(r.URL.Path, "/state/m.room.encryption"):
					w.WriteHeader(tt.status)
					_, _ = io.WriteString(w, tt.answer)
				case r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/send/"):
					sent++
					_, _ = io.WriteString(w, `{"event_id":"$sent"}`)
				default:
					http.NotFound(w, r)
				}
			}))
			t.Cleanup(server.Close)
			hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
			require.NoError(t, err)
			NewVault(b.store, hs) // closed: another process has the keys
			chat := b.chat("!a:x", policy.ModeBusiness)
			_, err = b.store.Pool().Exec(t.Context(), "update chats set encrypted = $1", tt.stored)
			require.NoError(t, err)

			o := b.queueFile(chat, `{"msgtype":"m.text","body":"plain"}`, []byte("-"))
			o.CreatedAt = time.Now()
			_, err = hs.Send(t.Context(), o, "!a:x")
			require.Equal(t, tt.sent, sent)
			require.Equal(t, tt.sent == 0, err != nil, "%v", err)
			require.Equal(t, tt.isFinal, jobs.IsPermanent(err), "%v", err)
		})
	}
}

func TestHomeserver_RedactsEditsWithOriginal(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	o := b.queueFile(chat, `{}`, []byte("-"))
	event := id.EventID("$last")
	o.EventID = &event
	o.RoomID = "!a:x"
	o.Replaces = "$shown"
	var deleted []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, path, _ := strings.Cut(r.URL.Path, "/redact/")
		deleted = append(deleted, strings.Replace(path, o.ID.String(), "ID", 1))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"event_id":"$gone"}`)
	}))
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	require.NoError(t, hs.Retract(t.Context(), o))
	require.Equal(t, []string{"$last/retract-ID", "$shown/retract-shown-ID"}, deleted)
}
