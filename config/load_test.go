package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoad_BoundsFileSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600), "nobody ever writes into it")
	require.NoError(t, os.WriteFile(at("large"), []byte(least+strings.Repeat("# a comment\n", maxFile/10)), 0o600))
	require.NoError(t, os.WriteFile(at("fits"), []byte(least+strings.Repeat("#\n", (maxFile-len(least))/2)), 0o600))
	for path, want := range map[string]string{
		at("pipe"): "it is not a regular file", "/dev/zero": "it is not a regular file",
		dir: "it is not a regular file", at("large"): "at most 1.0 MB are read",
	} {
		t.Run(path, func(t *testing.T) {
			_, err := Load(path)
			require.ErrorContains(t, err, want)
			require.ErrorContains(t, err, path)
			_, err = Values(path, nil)
			require.ErrorContains(t, err, want)
			_, err = Set(path, "name", "Ann")
			require.ErrorContains(t, err, want)
			_, err = Generate(path)
			require.ErrorContains(t, err, want)
		})
	}
	_, err := Load(at("fits"))
	require.NoError(t, err)
}

func TestParse_BoundsProblems(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(least)
	for n := range 1000 {
		fmt.Fprintf(&text, "nonsense%d: 1\n", n)
	}
	_, err := Parse("config.yaml", []byte(text.String()), noEnv)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, maxProblems)
	require.Contains(t, lines[0], "nonsense0: unknown key")
	require.Contains(t, lines[maxProblems-1], ": there may be more problems; correct these first")
}

func TestParse_ShowsInvisibleCharacters(t *testing.T) {
	t.Parallel()
	_, err := Parse("config.yaml", []byte(least+"na\u202eme: Ann\nname\u200b: Ann\n"), noEnv)
	require.ErrorContains(t, err, `na\u202Eme: unknown key; did you mean "name"?`)
	require.ErrorContains(t, err, `name\u200B: unknown key; did you mean "name"?`)
}
