package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
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

func TestARestoreWithoutSecretsEndsWithNewTokensAndTheirRegistration(t *testing.T) {
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

func TestARestoreWithoutSecretsKeepsTheTokensThatAreThere(t *testing.T) {
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
