package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// TestKeyless_PlainTextStaysAllowed: only what is encrypted waits, and no key is taken from the homeserver.
func TestKeyless_PlainTextStaysAllowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	var withDevice []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		if device := query.Get("device_id"); device != "" {
			withDevice = append(withDevice, device)
		}
		answer := map[string]any{"next_batch": "s2"}
		if query.Get("since") == "s1" {
			evt := b.text("!a:x", ana, "What does delivery cost?")
			answer["rooms"] = map[string]any{"join": map[string]any{"!a:x": map[string]any{"timeline": map[string]any{"events": []any{map[string]any{
				"type": "m.room.message", "sender": evt.Sender, "event_id": "$sync", "origin_server_ts": evt.Timestamp, "content": evt.Content.VeryRaw,
			}}}}}}
		} else if query.Get("since") == "s2" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, store.PutSetting(ctx, b.store.Writer(), store.SettingSyncToken, "s1"))
	require.NoError(t, store.PutSetting(ctx, b.store.Writer(), store.SettingPickle, map[string]int{"damaged": 1}))
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	done, ready := make(chan error, 1), make(chan struct{})
	go func() {
		done <- NewOwnerSync(b.inbox, hs, NewDescriber(b.inbox, hs), NewVault(b.store, hs)).Run(ctx, func() { close(ready) })
	}()
	<-ready
	require.Eventually(t, func() bool {
		return b.count("messages where event_id = '$sync' and action = 'answer'") == 1
	}, time.Minute, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		return b.count("settings where key = 'keyless_sync_token' and value = '\"s2\"'") == 1
	}, time.Minute, 10*time.Millisecond)
	cancel()
	require.NoError(t, <-done)
	require.Empty(t, withDevice, "the keys that come meanwhile stay for the device")
	require.Equal(t, 1, b.count("settings where key = 'sync_token' and value = '\"s1\"'"), "and so does its position")
	require.Equal(t, 1, b.count("river.river_job where kind = 'notice' and args->>'topic' = 'keys_unavailable'"))

	s := NewOwnerSync(b.inbox, hs, nil, nil)
	require.NoError(t, s.notifyKeysReadable(context.Background()))
	require.NoError(t, s.notifyKeysReadable(context.Background()))
	require.Equal(t, 1, b.count("river.river_job where kind = 'notice' and args->>'topic' = 'keys_available'"))
	require.Zero(t, b.count("settings where key in ('keyless_sync_token', 'keys_unreadable')"))
}

func TestKeyless_RetriesSoon(t *testing.T) {
	t.Parallel()
	var last, total time.Duration
	for range 5 {
		last = nextKeylessDelay(last)
		total += last
	}
	require.Equal(t, 62*time.Second, total, "2, 4, 8, 16 and 32 s")
	require.Equal(t, maxKeylessDelay, nextKeylessDelay(last))
	require.Equal(t, maxKeylessDelay, nextKeylessDelay(maxKeylessDelay))
}

func TestKeyless_RequestsKeyOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.chat("!a:x", policy.ModeBusiness)
	for i := range 30 {
		b.receive(b.event("m.room.encrypted", "!a:x", ana,
			fmt.Sprintf(`{"algorithm":"m.megolm.v1.aes-sha2","session_id":"s%d","ciphertext":"abc"}`, i%3)))
	}
	before := b.jobs("decrypt")
	require.NoError(t, (&Vault{store: b.store}).requestMissingKeys(context.Background()))
	require.Equal(t, before+3, b.jobs("decrypt"))
	require.Equal(t, 3, b.count("river.river_job where kind = 'decrypt' and (args->>'key_requests')::int = $1", jobs.MaxKeyRequests))
}
