package pgserver_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/store/pgserver"
)

// nobody is a user that every Linux has and nothing of ours runs as.
const nobody = 65534

// newServerFolder makes a folder for a server; root's belongs to nobody.
func newServerFolder(t *testing.T) string {
	t.Helper()
	top, err := os.MkdirTemp("", "multis-pgserver") //nolint:usetesting // t.TempDir is closed to the user that Postgres runs as
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(top)) })
	require.NoError(t, os.Chmod(top, 0o755))
	dir := filepath.Join(top, "pg")
	require.NoError(t, os.Mkdir(dir, 0o700))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(dir, nobody, nobody))
	}
	return dir
}

// folderOwners returns who owns the folders of a server.
func folderOwners(t *testing.T, dir string) map[string]uint32 {
	t.Helper()
	all := map[string]uint32{}
	for _, name := range []string{".", "run", "data", "data/PG_VERSION", "data/base"} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		owner, ok := info.Sys().(*syscall.Stat_t)
		require.True(t, ok)
		all[name] = owner.Uid
	}
	return all
}

func ping(t *testing.T, s *pgserver.Server) error {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.SuperDSN("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(t.Context())
}

func TestStart_FolderMayHaveAnyName(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(filepath.Dir(newServerFolder(t)), "my data & 100%+1")
	s, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Stop()) }()
	require.NoError(t, ping(t, s))
}

func TestStart_RefusesCommaInFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(newServerFolder(t), "notes, old", "data")
	_, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true})
	require.ErrorContains(t, err, "has a comma")
	require.ErrorContains(t, err, "choose a database.data_dir without one")
	require.NoDirExists(t, dir)
}

func TestStart_SharesRunningServer(t *testing.T) {
	t.Parallel()
	dir := newServerFolder(t)
	service, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, service.Stop()) })
	before := folderOwners(t, dir)
	for name, uid := range before {
		require.Equal(t, before["."], uid, "%s belongs to the owner of the folder", name)
	}
	if os.Geteuid() == 0 {
		require.EqualValues(t, nobody, before["."])
	}

	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err = pgserver.Start(ctx, pgserver.Options{Dir: dir, Throwaway: true})
	require.Error(t, err, "one data folder, one server")
	require.Equal(t, before, folderOwners(t, dir), "a refusal changes nothing")
	require.NoError(t, ping(t, service))

	command, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true, Share: true})
	require.NoError(t, err)
	require.NoError(t, ping(t, command))
	require.NoError(t, command.Stop())
	require.Equal(t, before, folderOwners(t, dir))
	require.NoError(t, ping(t, service), "what another program runs is left running")
}

func TestShare_StartsServerIfNone(t *testing.T) {
	t.Parallel()
	dir := newServerFolder(t)
	for range 2 { // the second time on what the first one left
		s, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true, Share: true})
		require.NoError(t, err)
		require.NoError(t, ping(t, s))
		require.NoError(t, s.Stop())
		require.Error(t, ping(t, s), "and stops it")
	}
}

// fakePrograms makes programs of a Postgres that only say their version, and returns the PATH with them. Starting the server leaves a file.
func fakePrograms(t *testing.T, version string) (path, started string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "multis-postgres") //nolint:usetesting // as above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o777))
	started = filepath.Join(dir, "started")
	script := "#!/bin/sh\n[ \"$1\" != --version ] || { echo 'postgres (PostgreSQL) " + version + " (Debian)'; exit; }\n: > " + started +
		"\nexit 1\n"
	for _, name := range []string{"postgres", "initdb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	return dir + ":" + os.Getenv("PATH"), started
}

// oldData makes data of a version of Postgres.
func oldData(t *testing.T, version string) (dir string) {
	t.Helper()
	dir = newServerFolder(t)
	file := filepath.Join(dir, "data", "PG_VERSION")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(version+"\n"), 0o600))
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chown(filepath.Dir(file), nobody, nobody))
	}
	return dir
}

func TestStart_UsesVersionOfData(t *testing.T) {
	path, started := fakePrograms(t, "9.6.24")
	t.Setenv("PATH", path)
	dir := oldData(t, "9")
	folder, err := pgserver.Find(dir)
	require.NoError(t, err)
	require.Equal(t, filepath.Dir(started), folder)
	_, err = pgserver.Start(t.Context(), pgserver.Options{Dir: dir})
	require.ErrorContains(t, err, "Postgres ended at once")
	require.FileExists(t, started, "not the newest ones of the machine")
}

func TestStart_MissingVersionNamesPackage(t *testing.T) {
	path, _ := fakePrograms(t, "9.6.24")
	t.Setenv("PATH", path)
	dir := oldData(t, "8")
	_, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir})
	require.ErrorIs(t, err, pgserver.ErrNoBinaries)
	require.ErrorContains(t, err, "the database in "+dir+" was made by Postgres 8 and needs its programs, and this machine has ")
	require.ErrorContains(t, err, "apt-get install postgresql-8")
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing was made")

	newest, err := pgserver.Find("")
	require.NoError(t, err)
	again, err := pgserver.Find(newServerFolder(t))
	require.NoError(t, err)
	require.Equal(t, newest, again, "new data is made by the newest")
}

func TestStart_RepeatsAfterKill(t *testing.T) {
	t.Parallel()
	dir := newServerFolder(t)
	unfinished := filepath.Join(dir, "data.new")
	require.NoError(t, os.MkdirAll(unfinished, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(unfinished, "PG_VERSION"), []byte("15\n"), 0o600))
	s, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true})
	require.NoError(t, err)
	require.NoError(t, ping(t, s))
	require.NoError(t, s.Stop())
	require.NoDirExists(t, unfinished)
}

func TestStart_InterruptedSaysSo(t *testing.T) {
	t.Parallel()
	dir := newServerFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { // as Ctrl-C does while initdb runs
		for {
			if _, err := os.Stat(filepath.Join(dir, "data.new", "base")); err == nil || ctx.Err() != nil {
				cancel()
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_, err := pgserver.Start(ctx, pgserver.Options{Dir: dir, Throwaway: true})
	require.EqualError(t, err, "making the database in "+filepath.Join(dir, "data")+" was interrupted: context canceled")
	s, err := pgserver.Start(t.Context(), pgserver.Options{Dir: dir, Throwaway: true})
	require.NoError(t, err)
	require.NoError(t, s.Stop())
}
