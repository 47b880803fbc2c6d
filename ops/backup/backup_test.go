package backup_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/jobs"
	"multis/migrations"
	"multis/ops/backup"
	"multis/policy"
	"multis/safety/audit"
	"multis/store"
	"multis/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var count atomic.Int64

// newEmptyDatabase makes an empty database and returns its address.
func newEmptyDatabase(t testing.TB) string {
	t.Helper()
	ctx := context.Background()
	name := fmt.Sprintf("empty%d", count.Add(1))
	admin(t, "create database "+name+" owner multis")
	t.Cleanup(func() {
		conn, err := pgx.Connect(ctx, storetest.Server().SuperDSN("postgres"))
		require.NoError(t, err)
		defer conn.Close(ctx)
		_, err = conn.Exec(ctx, "drop database "+name+" with (force)")
		require.NoError(t, err)
	})
	return storetest.Server().DSN("multis", name)
}

func admin(t testing.TB, statements ...string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, storetest.Server().SuperDSN("postgres"))
	require.NoError(t, err)
	defer conn.Close(ctx)
	for _, sql := range statements {
		_, err := conn.Exec(ctx, sql)
		require.NoError(t, err, sql)
	}
}

func exec(t testing.TB, st *store.Store, sql string, args ...any) {
	t.Helper()
	_, err := st.Pool().Exec(context.Background(), sql, args...)
	require.NoError(t, err, sql)
}

// create makes a backup in a folder.
func create(t testing.TB, st *store.Store, folder string, files ...backup.File) backup.Info {
	t.Helper()
	info, err := backup.Create(t.Context(), backup.CreateOptions{Store: st, Folder: folder, Program: "test", Files: files})
	require.NoError(t, err)
	return info
}

func open(t testing.TB, path string) *backup.Archive {
	t.Helper()
	a, err := backup.Open(t.Context(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// fileNames lists the files of a folder.
func fileNames(t testing.TB, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestBackup_UnderLoadIsConsistent(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 20, 50, time.Now().Add(-24*time.Hour))
	ctx, stop := context.WithCancel(t.Context())
	written := make(chan int)
	go func() { // a chat and the message in it, in one transaction
		n := 0
		for ; ctx.Err() == nil; n++ {
			err := st.InTx(context.Background(), func(tx store.Tx) error {
				var chat int64
				if err := tx.QueryRow(ctx, "insert into chats (protocol, channel_id, kind) values ('load', $1, 'dm') returning id",
					fmt.Sprint(n)).Scan(&chat); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx,
					"insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason) values ($1, $2, 'contact', '@x:x', 'text', 'a\tb\\n' || $2, now(), 'archive', '', '')", chat, fmt.Sprintf("$load-%d", n)); err != nil {
					return err
				}
				if _, err := tx.Exec(ctx, "update chats set mode = 'business' where id = $1", chat); err != nil {
					return err
				}
				return jobs.Enqueue(ctx, tx, jobs.TurnArgs{ChatID: store.ChatID(chat)})
			})
			if err != nil && ctx.Err() == nil {
				panic(err)
			}
		}
		written <- n
	}()
	waitFor(t, func() bool { return storetest.Count(t, st, "select count(*) from chats where protocol = 'load'") > 20 })
	folder := t.TempDir()
	info := create(t, st, folder)
	waitFor(t, func() bool { return storetest.Count(t, st, "select count(*) from chats where protocol = 'load'") > 40 })
	stop()
	require.Greater(t, <-written, 40)

	scratch := newEmptyDatabase(t)
	report, err := backup.Verify(t.Context(), open(t, info.Path), scratch)
	require.NoError(t, err)
	require.Equal(t, info.Manifest.Rows(), report.Rows)
	require.Empty(t, report.Skipped)
	restored, err := store.Open(t.Context(), scratch)
	require.NoError(t, err)
	defer restored.Close()
	chats := storetest.Count(t, restored, "select count(*) from chats where protocol = 'load'")
	require.Positive(t, chats)
	for table, sql := range map[string]string{
		"messages": "select count(*) from messages where event_id like '$load-%'",
		"jobs":     "select count(*) from river.river_job where kind = 'turn'",
	} {
		require.Equal(t, chats, storetest.Count(t, restored, sql), "%s of the same moment", table)
	}
	log, err := audit.Log{}.Verify(t.Context(), restored)
	require.NoError(t, err)
	require.Equal(t, chats, log.Entries, "the audit log is as it was: the restore adds nothing to it")
}

// waitFor waits until something is so.
func waitFor(t testing.TB, check func() bool) {
	t.Helper()
	require.Eventually(t, check, time.Minute, 5*time.Millisecond)
}

func TestBackup_HasEveryRow(t *testing.T) {
	t.Parallel()
	st := texts(t)
	info := create(t, st, t.TempDir())
	require.Contains(t, fmt.Sprint(info.Manifest.Tables), "crypto_account")
	require.Contains(t, fmt.Sprint(info.Manifest.Tables), "river_job")
	for _, table := range info.Manifest.Tables {
		require.EqualValues(t, storetest.Count(t, st, "select count(*) from "+table.String()), table.Rows, "%s, whatever its policies", table)
	}
}

// texts is a database with a text of each role under row-level security.
func texts(t testing.TB) *store.Store {
	t.Helper()
	st := storetest.NewWithMessages(t, 3, 2, time.Now().Add(-time.Hour))
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, storetest.Server().SuperDSN(st.Pool().Config().ConnConfig.Database))
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx,
		`insert into documents (origin, name, role, kind, element, size, hash) select r, r, r, 'kb', 'md', 1, '' from unnest('{public,admin,user:1}'::text[]) r;
		insert into chunks (chunk_key, doc_id, ord, role, kind, title, content) select origin, id, 1, role, kind, '', 'a text' from documents`)
	require.NoError(t, err)
	return st
}

func TestVerify_FindsDamage(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now())
	whole, err := os.ReadFile(create(t, st, t.TempDir()).Path)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "damaged.tar.gz")
	damaged := func(content []byte, what string, at int) {
		require.NoError(t, os.WriteFile(path, content, 0o600))
		_, err := backup.Open(t.Context(), path)
		require.ErrorIs(t, err, backup.ErrDamaged, "%s at %d", what, at)
	}
	for at := 0; at < len(whole); at += 1 + len(whole)/200 {
		flipped := append([]byte{}, whole...)
		flipped[at] ^= 1 << (at % 8)
		damaged(flipped, "a flipped bit", at)
		damaged(whole[:at], "cut", at)
	}
	for at := len(whole) - 100; at < len(whole); at++ {
		flipped := append([]byte{}, whole...)
		flipped[at] ^= 1
		damaged(flipped, "a flipped bit", at)
		damaged(whole[:at], "cut", at)
	}
	damaged(append(append([]byte{}, whole...), 0), "a byte more", len(whole))
}

func TestBackup_InterruptedLeavesNothing(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now())
	folder := filepath.Join(t.TempDir(), "backups [of]") // which is no pattern
	require.NoError(t, os.MkdirAll(filepath.Join(filepath.Dir(folder), "backups o"), 0o700))
	others := filepath.Join(filepath.Dir(folder), "backups o", ".multis-unfinished-y")
	require.NoError(t, os.WriteFile(others, nil, 0o600))
	first := create(t, st, folder)
	require.NoError(t, os.WriteFile(filepath.Join(folder, ".multis-unfinished-x"), []byte("what a killed process left"), 0o600))

	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := backup.Create(ctx, backup.CreateOptions{Store: st, Folder: folder})
	require.Error(t, err)
	second := create(t, st, folder)
	require.Equal(t, []string{filepath.Base(first.Path), filepath.Base(second.Path)}, fileNames(t, folder))
	require.FileExists(t, others)
}

func TestBackup_OneAtATime(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	lock, ok, err := st.TryLock(t.Context(), store.LockBackup, 0)
	require.NoError(t, err)
	require.True(t, ok)
	defer lock.Release(t.Context())
	_, err = backup.Create(t.Context(), backup.CreateOptions{Store: st, Folder: t.TempDir()})
	require.ErrorIs(t, err, backup.ErrRunning)
}

func TestRestore_NeedsEmptyDatabase(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now())
	a := open(t, create(t, st, t.TempDir()).Path)
	before := storetest.Count(t, st, "select count(*) from messages")
	_, err := backup.Restore(t.Context(), a, st.Pool().Config().ConnString())
	require.ErrorIs(t, err, migrations.ErrNotEmpty)
	require.Equal(t, before, storetest.Count(t, st, "select count(*) from messages"))
}

func TestRestore_InterruptedMustBeRepeated(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now())
	a := open(t, create(t, st, t.TempDir()).Path)
	dsn := newEmptyDatabase(t)
	broken := errors.New("killed")
	err := migrations.Restore(t.Context(), dsn, a.Manifest.Schema, interrupted{broken})
	require.ErrorIs(t, err, broken)
	require.ErrorIs(t, migrations.Run(t.Context(), dsn), migrations.ErrRestoring)

	_, err = backup.Restore(t.Context(), a, dsn)
	require.NoError(t, err)
	require.NoError(t, migrations.Run(t.Context(), dsn))
	restored, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer restored.Close()
	require.Equal(t, 4, storetest.Count(t, restored, "select count(*) from messages"))
	require.Equal(t, storetest.Catalogue(t, st.Pool().Config().ConnString()), storetest.Catalogue(t, dsn),
		"the schema is the one that migrations make")
}

// interrupted is a restore that ends after the tables were made.
type interrupted struct{ err error }

func (i interrupted) Load(context.Context) error           { return i.err }
func (interrupted) Finish(context.Context, store.Tx) error { return nil }

func TestRestore_RepeatsAfterFileError(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now())
	from, to := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.md", "b.md"} {
		require.NoError(t, os.WriteFile(filepath.Join(from, name), []byte("80 EUR"), 0o600))
	}
	a := open(t, create(t, st, t.TempDir(), backup.File{Name: "documents", Path: from}, backup.File{Name: "skills", Path: from}).Path)
	dsn, skills := newEmptyDatabase(t), filepath.Join(to, "skills")
	files := []backup.File{{Name: "documents", Path: filepath.Join(to, "documents")}, {Name: "skills", Path: skills}}
	require.NoError(t, os.WriteFile(skills, nil, 0o600)) // where a folder must be
	_, err := backup.Restore(t.Context(), a, dsn, files...)
	require.ErrorContains(t, err, "restore the files")
	require.Len(t, fileNames(t, files[0].Path), 2, "it ended between the files")
	require.ErrorIs(t, migrations.Run(t.Context(), dsn), migrations.ErrRestoring)

	require.NoError(t, os.Remove(skills))
	report, err := backup.Restore(t.Context(), a, dsn, files...)
	require.NoError(t, err)
	require.Equal(t, 2, report.Files, "those that were missing")
	require.Equal(t, []string{"a.md", "b.md"}, fileNames(t, skills))
	require.NoError(t, migrations.Run(t.Context(), dsn))
}

func TestRestore_RefusesNewerMultis(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	a := open(t, create(t, st, t.TempDir()).Path)
	a.Manifest.Schema.Tables += 100
	dsn := newEmptyDatabase(t)
	_, err := backup.Restore(t.Context(), a, dsn)
	require.ErrorIs(t, err, migrations.ErrBackupNewer)
	require.ErrorContains(t, err, "this backup")
	require.NotContains(t, err.Error(), "this database")
}

func TestRestore_WritesMissingFiles(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	from, to := t.TempDir(), t.TempDir()
	write := func(dir, name, content string) {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	}
	write(from, "documents/a/prices.md", "80 EUR")
	write(from, "documents/b.md", "old")
	write(from, "config.yaml", "token: secret")
	write(to, "documents/b.md", "new")
	files := func(dir string) []backup.File {
		return []backup.File{
			{Name: "config/config.yaml", Path: filepath.Join(dir, "config.yaml"), RemoveSecrets: func(c []byte) []byte {
				return []byte(strings.ReplaceAll(string(c), "secret", "removed"))
			}},
			{Name: "documents", Path: filepath.Join(dir, "documents")},
			{Name: "skills", Path: filepath.Join(dir, "skills")},
		}
	}
	a := open(t, create(t, st, t.TempDir(), files(from)...).Path)
	written, err := a.RestoreFiles(t.Context(), files(to))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(to, "config.yaml"), filepath.Join(to, "documents/a/prices.md")}, written)
	for name, content := range map[string]string{"config.yaml": "token: secret", "documents/a/prices.md": "80 EUR", "documents/b.md": "new"} {
		got, err := os.ReadFile(filepath.Join(to, name))
		require.NoError(t, err)
		require.Equal(t, content, string(got), name)
	}
}

func TestBackup_WithoutSecrets(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	const secret = "ThisIsTheSecretOfTheTest"
	for _, key := range []store.Setting{store.SettingPickle, store.SettingBotRecovery, store.SettingLogin + "github"} {
		require.NoError(t, store.PutSetting(t.Context(), st.Writer(), key, secret))
	}
	require.NoError(t, store.PutSetting(t.Context(), st.Writer(), store.SettingName, "Nora"))
	exec(t, st, "insert into matrix.crypto_account (account_id, device_id, shared, sync_token, account) values ('a', 'b', true, '', $1)",
		[]byte(secret))
	info, err := backup.Create(t.Context(), backup.CreateOptions{Store: st, Folder: t.TempDir(), WithoutSecrets: true})
	require.NoError(t, err)
	dsn := newEmptyDatabase(t)
	_, err = backup.Verify(t.Context(), open(t, info.Path), dsn)
	require.NoError(t, err)
	restored, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer restored.Close()
	require.Empty(t, storetest.ColumnsContaining(t, restored, secret))
	require.Zero(t, storetest.Count(t, restored, "select count(*) from matrix.crypto_account"))
	require.Equal(t, 1, storetest.Count(t, restored, "select count(*) from settings where key = 'name'"))
}

func TestPrune_KeepsLimits(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := func(day int) string { return fmt.Sprintf("multis-202611%02dT030000.000Z.tar.gz", day) }
	for day := 1; day <= 9; day++ {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name(day)), make([]byte, 100), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "multis-mine.tar.gz"), nil, 0o600))
	day := 9
	left := func(s backup.Series) []string {
		s.Folder = folder
		_, err := s.Prune(time.Date(2026, 11, day, 3, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		return fileNames(t, folder)
	}
	require.Equal(t, []string{name(6), name(7), name(8), name(9), "multis-mine.tar.gz"}, left(backup.Series{Keep: 4}))
	require.Equal(t, []string{name(8), name(9), "multis-mine.tar.gz"}, left(backup.Series{Keep: 4, Max: 299}))
	require.Equal(t, []string{name(9), "multis-mine.tar.gz"}, left(backup.Series{Keep: 1, Max: 10}), "the newest stays")
	day = 2 // the clock had been a week ahead
	require.NoError(t, os.WriteFile(filepath.Join(folder, name(2)), nil, 0o600))
	require.Equal(t, []string{name(2), name(9), "multis-mine.tar.gz"}, left(backup.Series{Keep: 2}))
	require.Equal(t, []string{name(2), "multis-mine.tar.gz"}, left(backup.Series{Keep: 1}), "the one that was just made stays")
}

func TestRestore_HoldsOutgoingMessages(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now().Add(-time.Hour))
	ctx := t.Context()
	queued, draft := uuid.New(), uuid.New()
	for state, id := range map[string]uuid.UUID{"queued": queued, "draft": draft} {
		exec(t, st,
			`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state) values ($1, 1, 'owner', 'reply', 'm.room.message', '{"body": "x"}', '', '', $2)`, id, state)
	}
	exec(t, st, "update messages set action = 'answer' where chat_id = 1")
	exec(t, st, `insert into settings (key, value) values ('owner_device', '{"id": "OLD"}'), ('sync_token', '"s1"')`)
	a := open(t, create(t, st, t.TempDir()).Path)
	dsn := newEmptyDatabase(t)
	_, err := backup.Restore(ctx, a, dsn)
	require.NoError(t, err)
	restored, err := store.Open(ctx, dsn)
	require.NoError(t, err)
	defer restored.Close()

	r, err := restored.RestoreState(ctx, restored.DB())
	require.NoError(t, err)
	require.True(t, r.OnHold())
	require.WithinDuration(t, a.Manifest.CreatedAt, r.BackupAt, 0)
	held, err := store.WorkOnHold(ctx, restored.DB(), r)
	require.NoError(t, err)
	require.Len(t, held.Outbox, 1)
	require.Equal(t, queued, held.Outbox[0].ID)
	require.Equal(t, 1, held.Drafts)
	require.Equal(t, 2, held.Messages)
	require.Zero(t, storetest.Count(t, restored, "select count(*) from outbox where state = 'queued'"))
	require.Zero(t, storetest.Count(t, restored, "select count(*) from messages where action = 'answer'"))
	require.Zero(t, storetest.Count(t, restored, "select count(*) from settings where key = 'owner_device'"))
	require.Equal(t, 1, storetest.Count(t, restored, "select count(*) from settings where key = 'former_owner_device'"))
	require.Equal(t, 1, storetest.Count(t, restored,
		`select count(*) from river.river_job where kind = 'notice' and args->>'topic' = 'restored'`))

	require.NoError(t, restored.InTx(ctx, func(tx store.Tx) error {
		first, err := store.EndHold(ctx, tx)
		require.NoError(t, err)
		require.True(t, first)
		released, err := store.ReleaseOutbox(ctx, tx, r)
		require.Equal(t, []uuid.UUID{queued}, released)
		return err
	}))
	r, err = restored.RestoreState(ctx, restored.DB())
	require.NoError(t, err)
	require.False(t, r.OnHold())
	require.Equal(t, policy.Restore{BackupAt: r.BackupAt, RestoredAt: r.RestoredAt, ReleasedAt: r.ReleasedAt}, r)
	require.False(t, r.ReleasedAt.IsZero())
}

// restoreCopy makes a backup of a database, restores it into another and returns that one with what is on hold in it.
func restoreCopy(t *testing.T, st *store.Store) (*store.Store, store.OnHold) {
	t.Helper()
	dsn := newEmptyDatabase(t)
	_, err := backup.Restore(t.Context(), open(t, create(t, st, t.TempDir()).Path), dsn)
	require.NoError(t, err)
	restored, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(restored.Close)
	r, err := restored.RestoreState(t.Context(), restored.DB())
	require.NoError(t, err)
	held, err := store.WorkOnHold(t.Context(), restored.DB(), r)
	require.NoError(t, err)
	return restored, held
}

func TestRestore_OffersNoDroppedMessages(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 2, 2, time.Now().Add(-time.Hour))
	for _, state := range []string{"queued", "draft"} {
		exec(t, st,
			`insert into outbox (id, chat_id, send_as, purpose, event_type, content, code, reason, state) values ($1, 1, 'owner', 'reply', 'm.room.message', '{"body": "x"}', '', '', $2)`, uuid.New(), state)
	}
	exec(t, st, "update messages set action = 'answer' where chat_id = 1")
	first, held := restoreCopy(t, st)
	require.Len(t, held.Outbox, 1)
	require.Equal(t, []int{1, 2}, []int{held.Drafts, held.Messages})
	waiting, held := restoreCopy(t, first)
	require.Len(t, held.Outbox, 1, "nothing was decided yet")
	require.NoError(t, waiting.InTx(t.Context(), func(tx store.Tx) error {
		if _, err := store.EndHold(t.Context(), tx); err != nil {
			return err
		}
		return store.DropOnHold(t.Context(), tx)
	}))
	_, held = restoreCopy(t, waiting)
	require.Empty(t, held.Outbox)
	require.Equal(t, store.OnHold{Outbox: held.Outbox}, held)
}

func TestRestore_RefusesOtherFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other := filepath.Join(dir, "home.tar.gz")
	f, err := os.Create(other)
	require.NoError(t, err)
	zipped := gzip.NewWriter(f)
	archived := tar.NewWriter(zipped)
	require.NoError(t, archived.WriteHeader(&tar.Header{Name: "home/you/letter.txt", Size: 2, Mode: 0o600}))
	_, err = archived.Write([]byte("hi"))
	require.NoError(t, err)
	require.NoError(t, errors.Join(archived.Close(), zipped.Close(), f.Close()))
	short := filepath.Join(dir, "note")
	require.NoError(t, os.WriteFile(short, []byte("hi"), 0o600))
	for _, path := range []string{other, short} {
		_, err := backup.Open(t.Context(), path)
		require.ErrorIs(t, err, backup.ErrNoBackup, path)
	}
}
