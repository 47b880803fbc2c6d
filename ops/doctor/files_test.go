package doctor_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/ops/doctor"
)

func TestFiles_FindsReadableSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	key := filepath.Join(dir, "key")
	closed := filepath.Join(dir, "closed")
	require.NoError(t, os.WriteFile(file, []byte("owner: x\n"), 0o600))
	require.NoError(t, os.WriteFile(key, []byte("the-key"), 0o600))
	require.NoError(t, os.WriteFile(closed, []byte("the-key"), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	require.NoError(t, os.Chmod(key, 0o644))
	cfg := &config.Config{SecretFiles: []string{key, closed, key}}
	require.Equal(t, []string{key}, doctor.WorldReadable(file, cfg), "the configuration holds no secret itself")
	require.NoError(t, os.WriteFile(file, []byte("llm: {api_key: the-key}\n"), 0o600))
	cfg.LLM.APIKey = "the-key"
	require.Equal(t, []string{file, key}, doctor.WorldReadable(file, cfg))
}
