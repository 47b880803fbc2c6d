package appservice

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"maunium.net/go/mautrix/id"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

func TestSend_NotRepeatedInNewRoom(t *testing.T) {
	t.Parallel()
	for name, arrived := range map[string]bool{"it had arrived": true, "it had not": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			b := setup(t)
			chat := b.chat("!old:x", policy.ModeBusiness)
			out := b.insertOutboxRow(chat)
			var puts atomic.Int32
			mux := http.NewServeMux()
			const rooms = "/_matrix/client/v3/rooms/{room}/"
			mux.HandleFunc("PUT "+rooms+"send/{type}/{txn}", func(w http.ResponseWriter, r *http.Request) {
				puts.Add(1)
				_, _ = fmt.Fprintf(w, `{"event_id":"$in-%s"}`, r.PathValue("room"))
			})
			mux.HandleFunc("GET "+rooms+"messages", func(w http.ResponseWriter, r *http.Request) {
				events := ""
				if arrived && r.PathValue("room") == "!old:x" {
					events = fmt.Sprintf(`{"type":"m.room.message","sender":%q,"event_id":"$before","content":%s}`, owner,
						textWithOutboxKey("To you", out))
				}
				_, _ = fmt.Fprintf(w, `{"start":"a","chunk":[%s]}`, events)
			})
			mux.HandleFunc("GET "+rooms+"state/", func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"errcode":"M_NOT_FOUND"}`))
			})
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
			require.NoError(t, err)

			room := id.RoomID("!new:x")
			chat.RoomID = &room
			require.NoError(t, b.store.InTx(ctx, func(tx store.Tx) error {
				_, err := store.UpsertChat(ctx, tx, chat)
				return err
			}))
			o, err := store.OutboxMessageByID(ctx, b.store.DB(), out)
			require.NoError(t, err)
			sent, err := hs.Send(ctx, o, room)
			require.NoError(t, err)
			if !arrived {
				require.Equal(t, id.EventID("$in-!new:x"), sent)
				return
			}
			require.Equal(t, id.EventID("$before"), sent)
			require.Zero(t, puts.Load())
			o, err = store.OutboxMessageByID(ctx, b.store.DB(), out)
			require.NoError(t, err)
			require.Equal(t, store.OutboxSent, o.State)
			require.Equal(t, id.RoomID("!old:x"), o.RoomID, "where it can be deleted")
		})
	}
}

func TestSend_ForbiddenIsRetried(t *testing.T) {
	t.Parallel()
	b := setup(t)
	out := b.insertOutboxRow(b.chat("!a:x", policy.ModeBusiness))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"errcode":"M_NOT_FOUND"}`))
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"errcode":"M_FORBIDDEN","error":"not in the room"}`))
	}))
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	o, err := store.OutboxMessageByID(context.Background(), b.store.DB(), out)
	require.NoError(t, err)
	_, err = hs.Send(context.Background(), o, "!a:x")
	require.Error(t, err)
	require.False(t, jobs.IsPermanent(err))
	o.CreatedAt = time.Now().Add(-policy.RoomReplacementTimeout)
	_, err = hs.Send(context.Background(), o, "!a:x")
	require.True(t, jobs.IsPermanent(err))
}
