package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/store"
	"multis/store/storetest"
)

// backupWithoutSecrets makes a backup without secrets, whose configuration names the database by a file, and returns it.
func backupWithoutSecrets(t *testing.T) (file string) {
	t.Helper()
	dir := configured(t, "file:dsn", "llm: {model: anthropic/claude-haiku-4-5, api_key: a-key-of-the-owner}\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dsn"), []byte(storetest.New(t).Pool().Config().ConnString()), 0o600))
	_, said, err := program(t, dir, "", "registration")
	require.NoError(t, err, said)
	folder := filepath.Join(dir, "backups")
	_, said, err = program(t, dir, "", "backup", "create", "--without-secrets", "--to", folder)
	require.NoError(t, err, said)
	return filepath.Join(folder, filesIn(t, folder)[0])
}

func TestRestore_WithoutSecretsMakesTokens(t *testing.T) {
	t.Parallel()
	file, other := backupWithoutSecrets(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "dsn"), []byte(newDatabase(t, "restored_without_secrets")), 0o600))
	printed, said, err := program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	own, registration := filepath.Join(other, "config.yaml"), filepath.Join(other, "registration.yaml")
	require.Contains(t, printed, "Set these in config.yaml again before you start multis: llm.api_key.\n")
	require.Contains(t, printed, "install -m 640 -o matrix-synapse "+registration+" ")
	cfg, err := config.Load(own)
	require.NoError(t, err)
	require.Greater(t, len(cfg.Appservice.ASToken.Value()), 24)
	expected, err := config.Registration(cfg)
	require.NoError(t, err)
	written, err := os.ReadFile(registration)
	require.NoError(t, err)
	require.Equal(t, string(expected), string(written))
	printed, said, err = program(t, other, "", "config", "check")
	require.NoError(t, err, said)
	require.Contains(t, printed, "is valid")
}

func TestRestore_WithoutSecretsKeepsTokens(t *testing.T) {
	t.Parallel()
	file, other := backupWithoutSecrets(t), configured(t, newDatabase(t, "restored_with_own_tokens"), "")
	own, err := os.ReadFile(filepath.Join(other, "config.yaml"))
	require.NoError(t, err)
	printed, said, err := program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	require.Contains(t, printed, "Wrote "+filepath.Join(other, "registration.yaml"))
	now, err := os.ReadFile(filepath.Join(other, "config.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(own), string(now))
	written, err := os.ReadFile(filepath.Join(other, "registration.yaml"))
	require.NoError(t, err)
	require.NotContains(t, string(written), removedSecret)
}

func TestRestore_RepeatsAfterEarlyKill(t *testing.T) {
	t.Parallel()
	file := backupToMove(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a database that never answers
	require.NoError(t, err)
	defer silent.Close()
	other := configured(t, "postgres://nobody@"+silent.Addr().String()+"/none", "")
	own := filepath.Join(other, "config.yaml")
	mark := filepath.Join(other, "data", "restoring")
	runAndKill(t, other, func() bool { data, err := os.ReadFile(mark); return err == nil && len(data) > 0 }, "backup", "restore", file)

	text, err := os.ReadFile(own)
	require.NoError(t, err)
	text = []byte(strings.Replace(string(text), "postgres://nobody@"+silent.Addr().String()+"/none", newDatabase(t, "restored_early"), 1))
	require.NoError(t, os.WriteFile(own, text, 0o600))
	for _, command := range []string{"run", "migrate", "audit"} {
		_, said, err := program(t, other, "", command)
		require.Error(t, err, command)
		require.Equal(t, "multis: the restore of a backup was interrupted: multis backup restore "+file+" begins again; or remove "+mark+
			" to continue without it\n", said, command)
	}
	marked, err := os.ReadFile(mark)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(mark, 0))
	_, said, err := program(t, other, "", "run")
	require.Error(t, err, "it was killed before it wrote the name")
	require.Contains(t, said, "was interrupted: multis backup restore FILE begins again")
	require.NoError(t, os.WriteFile(mark, marked, 0o600))
	said, _, err = program(t, other, "", "doctor")
	require.Error(t, err)
	require.Contains(t, said, "The restore of a backup was interrupted, and multis does not start before it is done.")
	require.Contains(t, said, "multis backup restore "+file+"\n")
	_, said, err = program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	require.NoFileExists(t, mark)
	_, said, err = program(t, other, "", "backup", "restore", file)
	require.Error(t, err)
	require.Contains(t, said, "the database is not empty")
	require.NoFileExists(t, mark, "that database is somebody's")
}

func TestRestore_RunningIsNotInterrupted(t *testing.T) {
	t.Parallel()
	file := backupToMove(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // a database that never answers
	require.NoError(t, err)
	defer silent.Close()
	address := "postgres://nobody@" + silent.Addr().String() + "/none"
	withConfig, without := configured(t, address, ""), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(without, "dsn"), []byte(address), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	for _, dir := range []string{withConfig, without} {
		restore := exec.CommandContext(t.Context(), self, "backup", "restore", file)
		restore.Dir, restore.Env = dir, append(os.Environ(), asProgram+"=1")
		require.NoError(t, restore.Start())
		mark := filepath.Join(dir, "data", "restoring")
		require.Eventually(t, func() bool { data, err := os.ReadFile(mark); return err == nil && len(data) > 0 }, time.Minute, time.Millisecond)

		said, _, err := program(t, dir, "", "doctor")
		require.Error(t, err)
		require.Contains(t, said, "The backup "+file+" is being restored now, and multis does not start before that is done.")
		require.NotContains(t, said, "interrupted")
		said, _, err = program(t, dir, "", "status")
		require.NoError(t, err)
		require.Contains(t, said, "is being restored")
		require.NotContains(t, said, "interrupted")
		_, said, err = program(t, dir, "", "backup", "restore", file)
		require.Error(t, err)
		require.Contains(t, said, "multis: begin the restore: wait until that multis backup restore has ended\n")

		require.NoError(t, restore.Process.Kill())
		require.Error(t, restore.Wait())
		said, _, err = program(t, dir, "", "doctor")
		require.Error(t, err)
		require.Contains(t, said, "The restore of a backup was interrupted")
	}
	_, said, err := program(t, withConfig, "", "migrate")
	require.Error(t, err)
	require.Contains(t, said, "was interrupted: multis backup restore")
}

func TestRestore_RepeatsAfterKill(t *testing.T) {
	t.Parallel()
	file := backupToMove(t)
	dsn := newDatabase(t, "restored_twice")
	other := configured(t, dsn, "")
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	runAndKill(t, other, func() (begun bool) {
		return conn.QueryRow(t.Context(), "select to_regclass('restore_in_progress') is not null").Scan(&begun) == nil && begun
	}, "backup", "restore", file)
	_, said, err := program(t, other, "", "migrate")
	require.Error(t, err)
	require.Contains(t, said, "was interrupted")
	_, said, err = program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	restored, err := store.Open(t.Context(), dsn)
	require.NoError(t, err)
	defer restored.Close()
	require.Equal(t, 3001, storetest.Count(t, restored, "select count(*) from messages"))
}

func TestRestore_KillLeavesNoConfiguration(t *testing.T) {
	t.Parallel()
	file, other := backupToMove(t), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "dsn"), []byte(newDatabase(t, "restored_whole")), 0o600))
	copied := filepath.Join(other, "config.yaml.from-backup")
	runAndKill(t, other, func() bool { _, err := os.Stat(copied); return err == nil }, "backup", "restore", file)
	require.NoFileExists(t, filepath.Join(other, "config.yaml"), "multis would start with it")
	_, said, err := program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	require.FileExists(t, filepath.Join(other, "config.yaml"))
	require.NoFileExists(t, copied)
}

// At any moment there is the copy or the configuration, never both: a copy that stays would be used by a later restore.
func TestRestore_MovesConfiguration(t *testing.T) {
	t.Parallel()
	file := backupToMove(t)
	other := t.TempDir()
	dsn := newDatabase(t, "restored_moved")
	require.NoError(t, os.WriteFile(filepath.Join(other, "dsn"), []byte(dsn), 0o600))
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer conn.Close(context.Background())
	own := filepath.Join(other, "config.yaml")
	locked := false // which keeps the restore from its last step, so that it is killed before that
	runAndKill(t, other, func() bool {
		if !locked {
			_, err := conn.Exec(t.Context(), "begin; lock table restore_in_progress in access share mode")
			if locked = err == nil; !locked {
				_, err = conn.Exec(t.Context(), "rollback")
				require.NoError(t, err)
			}
		}
		_, err := os.Stat(own)
		return err == nil
	}, "backup", "restore", file)
	require.True(t, locked)
	require.NoFileExists(t, own+".from-backup")
	_, err = conn.Exec(t.Context(), "rollback")
	require.NoError(t, err)
	_, said, err := program(t, other, "", "run")
	require.Error(t, err)
	require.Contains(t, said, "was interrupted")
	_, said, err = program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	require.FileExists(t, own)
	require.NoFileExists(t, own+".from-backup")
}

func TestRestore_FailedDoesNotStart(t *testing.T) {
	t.Parallel()
	file, other := backupToMove(t), t.TempDir()
	copied, own := filepath.Join(other, "config.yaml.from-backup"), filepath.Join(other, "config.yaml")
	for name, dsn := range map[string]string{"dsn": "postgres://nobody@127.0.0.1:1/none", "other": newDatabase(t, "restored_corrected")} {
		require.NoError(t, os.WriteFile(filepath.Join(other, name), []byte(dsn), 0o600))
	}
	_, said, err := program(t, other, "", "backup", "restore", file)
	require.Error(t, err)
	require.Contains(t, said, "no database at 127.0.0.1:1")
	require.Contains(t, said, "is in config.yaml.from-backup: correct it if it is wrong, and run the same command again")
	require.NoFileExists(t, own)
	_, _, err = program(t, other, "", "run")
	require.Error(t, err, "a service would start on an empty database, without a hold")
	info, err := os.Stat(copied)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	text, err := os.ReadFile(copied)
	require.NoError(t, err)
	corrected := strings.Replace(string(text), "file:dsn", "file:other", 1)
	require.NotEqual(t, string(text), corrected)
	require.NoError(t, os.WriteFile(copied, []byte(corrected), 0o600))
	printed, said, err := program(t, other, "", "backup", "restore", file)
	require.NoError(t, err, said)
	require.Contains(t, printed, "config.yaml.from-backup, which an earlier restore left")
	text, err = os.ReadFile(own)
	require.NoError(t, err)
	require.Equal(t, corrected, string(text))
	require.NoFileExists(t, copied)
}
