package appservice

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// After the lock is lost, another process may open the crypto store, although a /sync request of this process may still
// wait for half a minute.
func TestOwnerSync_LostLockClosesStore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lock, ok, err := b.store.TryLock(t.Context(), store.LockSync, 0)
	require.NoError(t, err)
	require.True(t, ok)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	lost := make(chan struct{})
	require.True(t, isAlive(ctx, lock))
	go func() { watchLock(ctx, lock); close(lost) }()
	var ended bool
	require.NoError(t, b.store.DB().QueryRow(ctx, `select pg_terminate_backend(pid) from pg_locks
		where locktype = 'advisory' and classid = $1 and database = (select oid from pg_database where datname = current_database())`,
		int32(store.LockSync)).Scan(&ended))
	require.True(t, ended)
	<-lost
	require.NoError(t, ctx.Err(), "it is seen at once, not when the time is over")
}

// TestOwnerSync_ReplacesEndedDevice: only one of them makes the new one, and with the old one every request fails.
func TestOwnerSync_ReplacesEndedDevice(t *testing.T) {
	t.Parallel()
	b := setup(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("device_id") != "NEW" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"errcode":"ORG.MATRIX.MSC4326.M_UNKNOWN_DEVICE","error":"no such device"}`)
			return
		}
		_, _ = io.WriteString(w, `{"event_id":"$deleted","content_uri":"mxc://x/y"}`)
	}))
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	require.NoError(t, hs.setDevice(hs.owner, device{ID: "OLD"}))
	o := b.queueFile(b.chat("!a:x", policy.ModeBusiness),
		`{"msgtype":"m.file","filename":"a.txt","body":"a.txt","info":{"mimetype":"text/plain"}}`, []byte("-"))
	sent := b.event("m.room.message", "!a:x", owner, "{}").ID
	o.RoomID, o.EventID = "!a:x", &sent

	err = hs.Retract(t.Context(), o)
	require.Error(t, err)
	require.False(t, jobs.IsPermanent(err), "the deletion is tried again with the new device")
	_, err = hs.uploadFile(t.Context(), o, hs.owner.session(), false)
	require.Error(t, err)
	require.False(t, jobs.IsPermanent(err), "and so is the file")

	lock, ok, err := b.store.TryLock(t.Context(), store.LockSync, 0) // the other process
	require.NoError(t, err)
	require.True(t, ok)
	t.Cleanup(func() { lock.Release(context.WithoutCancel(t.Context())) })
	require.NoError(t, store.PutSetting(t.Context(), b.store.Writer(), store.SettingOwnerDevice, device{ID: "NEW", CreatedAt: time.Now()}))
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, NewOwnerSync(b.inbox, hs, nil, NewVault(b.store, hs)).Run(ctx, cancel))
	require.NoError(t, hs.Retract(t.Context(), o))
}

// A poll that waits for events would let the sync count as stalled for half a minute longer.
func TestOwnerSync_PollsAtOnceAfterFailure(t *testing.T) {
	t.Parallel()
	b := setup(t)
	timeouts := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		timeouts <- r.URL.Query().Get("timeout")
		w.Header().Set("Content-Type", "application/json")
		if len(timeouts) == 2 {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"errcode":"M_FORBIDDEN","error":"no"}`)
			return
		}
		_, _ = io.WriteString(w, `{"next_batch":"s2"}`)
	}))
	t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(t, err)
	require.NoError(t, hs.setDevice(hs.owner, device{ID: "D"}))
	s := NewOwnerSync(b.inbox, hs, nil, NewVault(b.store, hs))
	for n := range 4 {
		_, err := s.requestSync(t.Context(), hs.owner.session(), "s1")
		require.Equal(t, n == 1, err != nil)
	}
	for _, want := range []string{"30000", "30000", "0", "30000"} {
		require.Equal(t, want, <-timeouts)
	}
}
