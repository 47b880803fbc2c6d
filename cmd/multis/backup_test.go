package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/ops/backup"
	"multis/ops/doctor"
	"multis/store"
	"multis/store/storetest"
)

// newLargeStore returns a store with some megabytes of data.
func newLargeStore(t *testing.T) *store.Store {
	t.Helper()
	st := storetest.NewWithMessages(t, 1, 1, time.Now().Add(-time.Hour))
	_, err := st.Pool().Exec(t.Context(),
		`insert into messages (chat_id, event_id, author, sender, kind, body, ts, action, code, reason, unindexed)
		select 1, '$big-' || n, 'contact', '@contact:x', 'text', (select string_agg(md5(i::text || n), '') from generate_series(1, 30) i), now(), 'archive', '', '', false from generate_series(1, 3000) n`)
	require.NoError(t, err)
	return st
}

// newDatabase makes an empty database and returns its address.
func newDatabase(t *testing.T, name string) string {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, storetest.Server().SuperDSN("postgres"))
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "create database "+name+" owner multis")
	require.NoError(t, err)
	return storetest.Server().DSN("multis", name)
}

// filesIn lists the files of a folder.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// runAndKill runs multis and kills it as soon as is returns true.
func runAndKill(t *testing.T, dir string, is func() bool, args ...string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asProgram+"=1")
	require.NoError(t, cmd.Start())
	require.Eventually(t, is, time.Minute, time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait(), "it was killed before its end")
}

func TestBackup_CreateVerifyRestore(t *testing.T) {
	t.Parallel()
	st := newLargeStore(t)
	dir := configured(t, st.Pool().Config().ConnString(), "")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data", "documents"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data", "documents", "prices.md"), []byte("80 EUR"), 0o600))
	started := time.Now().Truncate(time.Second)
	said, _, err := program(t, dir, "", "backup", "create")
	require.NoError(t, err)
	require.Contains(t, said, "Wrote ")
	folder := filepath.Join(dir, "data", "backups")
	require.Len(t, filesIn(t, folder), 1)
	file := filepath.Join(folder, filesIn(t, folder)[0])
	said, complaint, err := program(t, dir, "", "backup", "verify", file)
	require.NoError(t, err, complaint)
	require.Contains(t, said, "are as they were")
	require.Equal(t, []string{"backups", "documents"}, filesIn(t, filepath.Join(dir, "data")), "the scratch database is removed")
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	require.WithinRange(t, last.At, started, time.Now())

	_, said, err = program(t, dir, "", "backup", "restore", file)
	require.Error(t, err)
	require.Contains(t, said, "the database is not empty")
	other := configured(t, newDatabase(t, "restored_by_command"), "")
	said, _, err = program(t, other, "", "backup", "restore", file)
	require.NoError(t, err)
	require.Contains(t, said, "Nothing is sent yet")
	text, err := os.ReadFile(filepath.Join(other, "data", "documents", "prices.md"))
	require.NoError(t, err)
	require.Equal(t, "80 EUR", string(text))

	passwords := filepath.Join(dir, "passwords")
	require.NoError(t, os.WriteFile(passwords, []byte(strings.Repeat("root:x:0:0:root:/root:/bin/bash\n", 10)), 0o600))
	_, said, err = program(t, dir, "", "backup", "verify", passwords)
	require.Error(t, err)
	require.Equal(t, "multis: "+passwords+": this is not a backup of multis\n", said)

	damaged, err := os.ReadFile(file)
	require.NoError(t, err)
	damaged[len(damaged)/2] ^= 1
	require.NoError(t, os.WriteFile(file, damaged, 0o600))
	for _, command := range []string{"verify", "restore"} {
		_, said, err = program(t, dir, "", "backup", command, file)
		require.Error(t, err)
		require.Contains(t, said, "the backup is damaged")
	}
}

func TestBackup_TextsCannotSteerTerminal(t *testing.T) {
	t.Parallel()
	const evil = "1.0\n\x1b]0;title\a\u202efake"
	info, err := backup.Create(t.Context(), backup.CreateOptions{
		Store:   storetest.New(t),
		Folder:  t.TempDir(),
		Program: evil,
		Omitted: []string{evil},
	})
	require.NoError(t, err)
	said, complaint, err := program(t, t.TempDir(), "", "backup", "verify", info.Path)
	require.NoError(t, err, complaint)
	require.Contains(t, said, " by multis 1.0 ]0;titlefake.\n")
	require.Contains(t, said, "Not in it: 1.0 ]0;titlefake\n")
}

func TestBackup_SaysWhatItLacks(t *testing.T) {
	t.Parallel()
	const more = "policy: {file: rules.yaml}\nbusiness: {hours: [mon-fri 9-18], holiday_calendar: days.ics}\n" +
		"mcp: {notes: {command: [notes-server], folder: mcp/notes}, big: {command: [big-server], folder: mcp/big}}\n" +
		"llm: {model: mine/small, prices: [mine/small 1 2], providers: {mine: {base_url: \"http://127.0.0.1:1/v1\", api_key_file: model.key}}}\n"
	own := map[string]string{
		"rules.yaml": "rules: []\n", "days.ics": "BEGIN:VCALENDAR\nEND:VCALENDAR\n", "data/hooks/guard/guard.py": "print()\n",
		"data/mcp/notes/notes.json": "{}\n",
	}
	write := func(dir, name, content string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	dsn := newLargeStore(t).Pool().Config().ConnString()
	dir := configured(t, dsn, more)
	for name, content := range own {
		write(dir, name, content)
	}
	write(dir, "model.key", "the-key-of-the-model")
	write(dir, "data/mcp/big/cache", "")
	require.NoError(t, os.Truncate(filepath.Join(dir, "data/mcp/big/cache"), maxProgramFolder+1))
	created, complaint, err := program(t, dir, "", "backup", "create")
	require.NoError(t, err, complaint)
	folder := filepath.Join(dir, "data", "backups")
	file := filepath.Join(folder, filesIn(t, folder)[0])
	verified, complaint, err := program(t, dir, "", "backup", "verify", file)
	require.NoError(t, err, complaint)
	for _, said := range []string{created, verified} {
		require.Contains(t, said, "Not in it: model.key: a secret in a file of its own; keep it apart\n")
		require.Contains(t, said, "Not in it: data/mcp/big: it has more than ")
	}

	other := configured(t, newDatabase(t, "restored_with_rules"), more)
	write(other, "model.key", "the-key-of-the-model")
	_, complaint, err = program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, complaint)
	for name, content := range own {
		text, err := os.ReadFile(filepath.Join(other, name))
		require.NoError(t, err)
		require.Equal(t, content, string(text), name)
	}
	require.NoFileExists(t, filepath.Join(other, "data/mcp/big/cache"))
}

func TestVerify_RemovesRemainsOfKill(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	left := filepath.Join(parent, scratchPrefix+"left")
	require.NoError(t, os.MkdirAll(filepath.Join(left, "pg", "data"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(parent, "backups"), 0o700))
	elsewhere := t.TempDir()
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(parent, scratchPrefix+"link")))
	first, removeFirst, err := newScratchFolder(parent)
	require.NoError(t, err)
	require.NoDirExists(t, left)
	second, removeSecond, err := newScratchFolder(parent)
	require.NoError(t, err)
	require.DirExists(t, first, "another verification works there")
	require.DirExists(t, filepath.Join(parent, "backups"))
	require.DirExists(t, elsewhere)
	removeFirst()
	removeSecond()
	require.NoDirExists(t, first)
	require.NoDirExists(t, second)
}

func TestBackup_KillKeepsOldOnes(t *testing.T) {
	t.Parallel()
	dir := configured(t, newLargeStore(t).Pool().Config().ConnString(), "")
	_, _, err := program(t, dir, "", "backup", "create")
	require.NoError(t, err)
	folder := filepath.Join(dir, "data", "backups")
	first := filesIn(t, folder)
	runAndKill(t, dir, func() bool { return len(filesIn(t, folder)) == 2 }, "backup", "create")
	_, _, err = program(t, dir, "", "backup", "create")
	require.NoError(t, err)
	left := filesIn(t, folder)
	require.Len(t, left, 2)
	require.Contains(t, left, first[0])
	require.False(t, strings.HasPrefix(left[0], "."), "what was unfinished is gone")
}

func TestBackup_OnlyFullOnesCount(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 1, 1, time.Now())
	dir := configured(t, st.Pool().Config().ConnString(), "backup: {keep: 1}\n")
	folder, elsewhere := filepath.Join(dir, "data", "backups"), filepath.Join(dir, "elsewhere")
	_, complaint, err := program(t, dir, "", "backup", "create")
	require.NoError(t, err, complaint)
	full := filesIn(t, folder)
	last, err := store.LastBackup(t.Context(), st.DB())
	require.NoError(t, err)
	for _, args := range [][]string{{"--without-secrets"}, {"--to", elsewhere}} {
		_, complaint, err = program(t, dir, "", append([]string{"backup", "create"}, args...)...)
		require.NoError(t, err, complaint)
		now, err := store.LastBackup(t.Context(), st.DB())
		require.NoError(t, err)
		require.Equal(t, last, now, args)
	}
	require.Len(t, filesIn(t, elsewhere), 1)
	left := filesIn(t, folder)
	require.Len(t, left, 2)
	require.Equal(t, full[0], left[0])
	require.True(t, strings.HasPrefix(left[1], "multis-without-secrets-"), left[1])
	removed, err := backup.Series{Folder: folder, Keep: 1}.Prune(time.Now())
	require.NoError(t, err)
	require.Empty(t, removed, "the one without secrets does not push out a full one")
}

func TestBackup_MissingFolderNamesFix(t *testing.T) {
	t.Parallel()
	dir := configured(t, storetest.New(t).Pool().Config().ConnString(), "")
	closed := filepath.Join(dir, "it's another disk")
	require.NoError(t, os.Mkdir(closed, 0o755))
	err := explainClosed(fmt.Errorf("make the folder of backups: %w", fs.ErrPermission), closed)
	_, fix, found := strings.Cut(err.Error(), "where that user may enter: ")
	require.True(t, found, err)
	line, option, found := strings.Cut(fix, "; then --to ")
	require.True(t, found, fix)
	for _, step := range []string{line, "MULTIS_TEST_AS_PROGRAM=1 " + os.Args[0] + " backup create --to " + option} {
		cmd := exec.CommandContext(t.Context(), "sh", "-euc", step)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", step, out)
	}
	require.Len(t, filesIn(t, filepath.Join(closed, "multis")), 1)
	info, err := os.Stat(filepath.Join(closed, "multis"))
	require.NoError(t, err)
	require.EqualValues(t, 0o700, info.Mode().Perm())
	require.Equal(t, fs.ErrClosed, explainClosed(fs.ErrClosed, closed), "something else is wrong")
	require.Equal(t, fs.ErrPermission, explainClosed(fs.ErrPermission, ""), "backup.folder is a key of the configuration")
}

// backupToMove makes a backup whose configuration names the database by a file, which each folder has one of.
func backupToMove(t *testing.T) (file string) {
	t.Helper()
	dir := configured(t, "file:dsn", "")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dsn"), []byte(newLargeStore(t).Pool().Config().ConnString()), 0o600))
	_, said, err := program(t, dir, "", "backup", "create")
	require.NoError(t, err, said)
	folder := filepath.Join(dir, "data", "backups")
	return filepath.Join(folder, filesIn(t, folder)[0])
}

// inNamespace runs a shell script in its own mount namespace, in a folder, with this program as $0 and one argument. Its
// mounts end with it.
func inNamespace(t *testing.T, dir, script, arg string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, self, arg)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asProgram+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

func TestBackup_FullDiskKeepsOldOnes(t *testing.T) {
	t.Parallel()
	dir := configured(t, newLargeStore(t).Pool().Config().ConnString(), "")
	small := filepath.Join(dir, "small")
	require.NoError(t, os.Mkdir(small, 0o700))
	const old = "multis-20261101T030000.000Z.tar.gz"
	said := inNamespace(t, dir, `mount -t tmpfs -o size=256k none "$1" && echo old > "$1/`+old+
		`" && "$0" backup create --to "$1"; echo "exit $?"; ls -A "$1"`, small)
	require.Contains(t, said, "the disk is full, and the older backups were kept")
	require.True(t, strings.HasSuffix(said, "exit 1\n"+old+"\n"), said)
}

// The Docker image has no Postgres programs.
func TestVerify_MissingProgramsNamesFix(t *testing.T) {
	t.Parallel()
	dir := configured(t, newLargeStore(t).Pool().Config().ConnString(), "")
	_, _, err := program(t, dir, "", "backup", "create")
	require.NoError(t, err)
	folder := filepath.Join(dir, "data", "backups")
	said := inNamespace(t, dir, `mount -t tmpfs none /usr/lib/postgresql && PATH=/none "$0" backup verify "$1"; echo "exit $?"`,
		filepath.Join(folder, filesIn(t, folder)[0]))
	require.Contains(t, said, "The file is whole: ")
	require.Contains(t, said,
		"there are no Postgres programs here: run this where there are (apt-get install postgresql; it needs no config.yaml)\nexit 1")
}

func TestBackup_UnreadableDatabaseNamesFix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sql, want string }{
		"empty": {"", "there is nothing to back up: the database is empty"},
		"too_old": {
			"create table goose_db_version as select 1 as id, 2 as version_id, true as is_applied; create table chats ()",
			"this database is too old to be brought up to date: make the backup with the multis that made it",
		},
		"foreign": {"create table events ()", "the database holds tables of another program"},
	} {
		dsn := newDatabase(t, "unreadable_"+name)
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), c.sql)
		require.NoError(t, err)
		require.NoError(t, conn.Close(t.Context()))
		dir := configured(t, dsn, "")
		_, said, err := program(t, dir, "", "backup", "create", "--to", dir)
		require.Error(t, err)
		require.Contains(t, said, c.want)
		require.NoDirExists(t, filepath.Join(dir, "data", "backups"))
	}
}

func TestMigrate_DryRun(t *testing.T) {
	t.Parallel()
	dsn := newDatabase(t, "dry_run")
	dir := configured(t, dsn, "")
	said, _, err := program(t, dir, "", "migrate", "--dry-run")
	require.NoError(t, err)
	require.Contains(t, said, "00100_chats.sql\n  create table settings")
	require.Contains(t, said, "nothing was changed")
	_, _, err = program(t, dir, "", "migrate")
	require.NoError(t, err)
	said, _, err = program(t, dir, "", "migrate", "--dry-run")
	require.NoError(t, err)
	require.Equal(t, "Nothing to do: the database is up to date.\n", said)
}

func TestServe_StartsOnRestoredBackup(t *testing.T) {
	t.Parallel()
	st := storetest.NewWithMessages(t, 3, 5, time.Now().Add(-time.Hour))
	for _, device := range []store.Setting{store.SettingOwnerDevice, store.SettingBotDevice} {
		require.NoError(t, store.PutSetting(t.Context(), st.Writer(), device, map[string]string{"id": "FORMER"}))
	}
	require.NoError(t, store.PutSetting(t.Context(), st.Writer(), store.SettingSyncToken, "s1"))
	info, err := backup.Create(t.Context(), backup.CreateOptions{Store: st, Folder: t.TempDir()})
	require.NoError(t, err)
	a, err := backup.Open(t.Context(), info.Path)
	require.NoError(t, err)
	defer a.Close()
	dsn := newDatabase(t, "started_on_a_backup")
	_, err = backup.Restore(t.Context(), a, dsn)
	require.NoError(t, err)
	other := configured(t, dsn, "")
	said, complaint, err := program(t, other, "", "status")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "\non hold      everything, because a backup was restored: answer yes or no in the admin room")
	require.Contains(t, said, "\nNext: No homeserver answers at ", "what is broken comes first")
	require.Equal(t, "answer yes or no in the admin room, which lists what the restored backup would send.",
		whatNext([]doctor.Finding{{Severity: doctor.Warning, Message: "old"}}, true))
	said, _, err = program(t, other, "", "status", "--json")
	require.NoError(t, err)
	require.Contains(t, said, `"name": "on hold",`)
	r := startServeOn(t, 1, dsn, serveConfig)
	r.until("the question", func() bool {
		return storetest.Count(t, r.db,
			"select count(*) from dialogs d join outbox o on o.id = d.outbox_id where d.kind = 'restored' and o.event_id is not null") == 1
	})
	require.Zero(t, storetest.Count(t, r.db, "select count(*) from settings where key like 'former%'"))
}
