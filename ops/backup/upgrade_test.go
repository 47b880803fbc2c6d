package backup_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"multis/migrations"
	"multis/ops/backup"
	"multis/store"
	"multis/store/storetest"
)

func TestUpgrade_BacksUpUnlessRecent(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 24*time.Hour)
	var log bytes.Buffer
	logged := zerolog.New(&log).WithContext(t.Context())
	require.NoError(t, p.EnsureRecent(logged))
	require.Len(t, fileNames(t, folder), 1)
	require.Contains(t, log.String(), "before that it makes a backup")
	*now = now.Add(23 * time.Hour)
	log.Reset()
	require.NoError(t, p.EnsureRecent(logged))
	require.Len(t, fileNames(t, folder), 1, "it is recent")
	require.Empty(t, log.String(), "none was made")
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)

	require.NoError(t, os.Truncate(last.File, last.SizeBytes-1))
	require.NoError(t, p.EnsureRecent(t.Context()))
	require.Len(t, fileNames(t, folder), 2, "the recent one was damaged")
	*now = now.Add(24 * time.Hour)
	require.NoError(t, p.EnsureRecent(t.Context()))
	newest, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	require.NotEqual(t, last.File, newest.File, "it was too old")
	*now = now.Add(-48 * time.Hour)
	require.False(t, newest.IsRecent(*now), "a clock that was wrong made it")
}

func TestUpgrade_NeedsRecentBackup(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, now := newScheduler(st, folder, 0)
	require.ErrorIs(t, p.EnsureRecent(t.Context()), backup.ErrNoRecent)
	info, err := backup.Create(t.Context(), p.Create)
	require.NoError(t, err)
	require.NoError(t, backup.RecordBackup(t.Context(), st, info))
	require.NoError(t, p.EnsureRecent(t.Context()))
	*now = now.Add(24 * time.Hour)
	require.ErrorIs(t, p.EnsureRecent(t.Context()), backup.ErrNoRecent)
	require.Len(t, fileNames(t, folder), 1)
}

func TestUpgrade_WaitsForRunningBackup(t *testing.T) {
	t.Parallel()
	st, folder := storetest.New(t), t.TempDir()
	p, _ := newScheduler(st, folder, 24*time.Hour)
	other, alone, err := st.TryLock(t.Context(), store.LockBackup, 0)
	require.NoError(t, err)
	require.True(t, alone)
	done := make(chan error, 1)
	go func() { done <- p.EnsureRecent(t.Context()) }()
	other.Release(t.Context())
	require.NoError(t, <-done)
	require.Len(t, fileNames(t, folder), 1)
}

// beforeWords is the last migration with the old words in the tables; see migrations/00135_words.sql.
const beforeWords = 134

// oldRowsSQL writes rows as the program of then did.
const oldRowsSQL = `insert into chats (protocol, channel_id, kind) values ('matrix', 'admin', 'admin'), ('demo', 'ana', 'dm');
	insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason) values (2, '$1', 'contact', '@ana:x', 'text', 'hello', now(), 'handoff', 'keyword', '');
	insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state, about, rests_on) values
		('11111111-1111-4111-8111-111111111111', 2, 'owner', 'handover', 'm.room.message', '{"body": "x"}', 'allowed', '', 'queued', '{1}', '{1}');
	insert into escalations (chat_id, message_id, why, rests_on) values (2, 1, 'a keyword', '{1}');
	insert into tasks (key, kind, chat_id, state, about) values ('ask:1', 'ask', 1, 'monitoring', '{1}');
	insert into schedules (kind, zone, does, body, catch_up, created_by, next_at) values ('at', 'UTC', 'say', 'tea', 'once', '@o:x', now());
	insert into watches (name, kind, token) values ('shop', 'inbox', '\xaa');
	insert into river.river_job (kind, queue, args, max_attempts, state) values ('tell', 'admin', '{"topic": "bridge", "about": 1}', 20, 'available')`

func TestBackup_OfBeforeTheWordsIsRestored(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var made string
	storetest.FromVersion(t, beforeWords, oldRowsSQL, func(old *store.Store) { made = create(t, old, t.TempDir()).Path })
	a := open(t, made)
	require.EqualValues(t, beforeWords, a.Manifest.Schema.Tables)
	checked, err := backup.Verify(ctx, a, newEmptyDatabase(t))
	require.NoError(t, err)
	require.Empty(t, checked.Skipped)

	dsn := newEmptyDatabase(t)
	_, err = backup.Restore(ctx, a, dsn)
	require.NoError(t, err)
	st, err := store.Open(ctx, dsn)
	require.NoError(t, err)
	defer st.Close()
	for sql, want := range map[string]int{
		// it waited
		"select count(*) from messages where action = 'archive' and code = 'restored'":                                                    1,
		"select count(*) from outbox where purpose = 'escalation' and state = 'dropped' and code = 'restored' and quotes = sources":       1,
		"select count(*) from escalations where reason = 'a keyword' and sources = '{1}'":                                                 1,
		"select count(*) from tasks where state = 'killed' and sources = '{1}'":                                                           1,
		"select count(*) from schedules where action = 'say'":                                                                             1,
		"select count(*) from watches where kind = 'webhook'":                                                                             1,
		"select count(*) from river.river_job where kind = 'notice' and args = '{\"topic\": \"bridge_replaced\", \"subject\": 1}'::jsonb": 1,
		"select count(*) from river.river_job where kind = 'notice' and args->>'topic' = 'restored'":                                      1,
	} {
		require.Equal(t, want, storetest.Count(t, st, sql), sql)
	}
	state, err := st.Inspector().Schema(ctx)
	require.NoError(t, err)
	require.Equal(t, migrations.StateCurrent, state)
}
