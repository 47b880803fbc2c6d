package appservice

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/policy"
	"multis/store"
)

// archive is a homeserver with n messages in a room, one an hour, the newest an hour old, some of the owner's.
func (b *fixture) archive(n int) *Historian {
	b.t.Helper()
	var all []map[string]any
	for i := range n {
		sender := ana
		if i%5 == 0 {
			sender = owner
		}
		all = append(all, map[string]any{
			"type": "m.room.message", "sender": sender, "event_id": fmt.Sprintf("$old%d", i),
			"origin_server_ts": time.Now().Add(-time.Duration(i+1) * time.Hour).UnixMilli(),
			"content":          map[string]any{"msgtype": "m.text", "body": fmt.Sprintf("Nora, what about number %d?", i)},
		})
	}
	return b.archiveOf(all)
}

// archiveOf is a homeserver with events in a room, the newest first.
func (b *fixture) archiveOf(all []map[string]any) *Historian {
	b.t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.URL.Query().Get("from"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		all := all
		if to, err := strconv.Atoi(r.URL.Query().Get("to")); err == nil {
			all = all[:to]
		}
		page := map[string]any{"start": strconv.Itoa(from), "chunk": all[from:min(from+limit, len(all))]}
		if from+limit < len(all) {
			page["end"] = strconv.Itoa(from + limit)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(page)
	}))
	b.t.Cleanup(server.Close)
	hs, err := NewHomeserver(b.store, Access{URL: server.URL, Owner: owner, Bot: bot})
	require.NoError(b.t, err)
	return NewHistorian(b.inbox, hs)
}

// readAllPages works the pages off, as the queue does, and returns the last one's arguments.
func (b *fixture) readAllPages(h *Historian, args jobs.HistoryArgs) jobs.HistoryArgs {
	b.t.Helper()
	for !args.NotifyOnly {
		require.NoError(b.t, h.History(context.Background(), args))
		var raw []byte
		require.NoError(b.t, b.store.DB().QueryRow(context.Background(),
			"select args from river.river_job where kind = 'history' order by id desc limit 1").Scan(&raw))
		require.NoError(b.t, json.Unmarshal(raw, &args))
	}
	return args
}

func TestHistory_IsStoredUnanswered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	h := b.archive(350)
	last := b.readAllPages(h, jobs.HistoryArgs{ChatID: chat.ID})
	require.Equal(t, 350, last.StoredCount)
	require.Equal(t, 350, b.count("messages"))
	require.Equal(t, 280, b.count("messages where code = 'backfill'"))
	require.Zero(t, b.jobs("turn")+b.jobs("late_messages"))
	require.Zero(t, b.count("chats where owner_last_at is not null"), "what the owner wrote then is no pause now")

	again := b.readAllPages(h, jobs.HistoryArgs{ChatID: chat.ID})
	require.Zero(t, again.StoredCount, "read twice, stored once")
	require.Equal(t, 350, b.count("messages"))
}

func TestHistory_SkipsNewEvents(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeBusiness)
	h := b.archive(20)
	require.NoError(t, store.PutSetting(context.Background(), b.store.Writer(), store.SettingSyncToken, "3")) // three are newer than the sync
	require.Equal(t, 17, b.readAllPages(h, jobs.HistoryArgs{ChatID: chat.ID}).StoredCount)
	require.Zero(t, b.count("messages where event_id in ('$old0', '$old1', '$old2')"))
	require.Equal(t, 20, b.readAllPages(h, jobs.HistoryArgs{ChatID: chat.ID, NoNotice: true}).StoredCount+17,
		"what no door took in is read up to now")
}

func TestHistory_StopsAtDay(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeSilent)
	last := b.readAllPages(b.archive(350), jobs.HistoryArgs{ChatID: chat.ID, SinceUnix: time.Now().Add(-120*time.Hour - time.Minute).Unix()})
	require.Equal(t, 120, last.StoredCount)
}

func TestGap_ReadsBackToToken(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeSilent)
	require.Equal(t, 230, b.readAllPages(b.archive(350), jobs.HistoryArgs{ChatID: chat.ID, FromToken: "20", ToToken: "250"}).StoredCount)
	require.Zero(t, b.count("messages where event_id in ('$old19', '$old250')"))
}

func TestHistory_SkipsOffChat(t *testing.T) {
	t.Parallel()
	b := setup(t)
	chat := b.chat("!a:x", policy.ModeOff)
	require.Zero(t, b.readAllPages(b.archive(10), jobs.HistoryArgs{ChatID: chat.ID}).StoredCount)
	require.Zero(t, b.count("messages"))
}
