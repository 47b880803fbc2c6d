package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse_ReportsAllProblemsInOrder(t *testing.T) {
	t.Parallel()
	_, err := Parse("/etc/multis.yaml", []byte("time_zone: Mars/Base\nowner: me\nchats:\n  profil: x\n  burst_max: 1s\n"),
		envOf(map[string]string{
			"MULTIS_LOGGING_LEVEL": "loud",
		}))
	require.EqualError(t, err,
		`environment MULTIS_LOGGING_LEVEL: logging.level: "loud" is not known here; write one of: trace, debug, info, warn, error
/etc/multis.yaml:1: time_zone: "Mars/Base" is not a time zone; write an IANA name such as Europe/Berlin or UTC
/etc/multis.yaml:1: homeserver.address: is missing; write for example address: https://matrix.example.com
/etc/multis.yaml:1: homeserver.domain: is missing; write for example domain: example.com
/etc/multis.yaml:1: appservice.sender_localpart: is missing; write generate as its value, and run multis -g
/etc/multis.yaml:1: appservice.as_token: is missing; write generate as its value, and run multis -g
/etc/multis.yaml:1: appservice.hs_token: is missing; write generate as its value, and run multis -g
/etc/multis.yaml:2: owner: "me" is not a Matrix id; write it like "@you:example.com"
/etc/multis.yaml:4: chats.profil: unknown key; did you mean "profile"?
/etc/multis.yaml:5: chats.burst_max: is shorter than burst_quiet; write at least 4s`)
}

func TestParse_EmptyFileListsRequired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ data, first string }{
		"one word":   {"hello\n", `config.yaml:1: is a single value; write a section of "key: value" lines`},
		"nothing":    {"", "config.yaml:1: homeserver.address: is missing; write for example address: https://matrix.example.com"},
		"a comment":  {"# later\n", "config.yaml:1: homeserver.address: is missing; write for example address: https://matrix.example.com"},
		"null alone": {"~\n", "config.yaml:1: homeserver.address: is missing; write for example address: https://matrix.example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("config.yaml", []byte(c.data), noEnv)
			require.Error(t, err)
			first, rest, _ := strings.Cut(err.Error(), "\n")
			require.Equal(t, c.first, first)
			require.Contains(t, rest, "config.yaml:1: owner: is missing")
		})
	}
}

func TestSecret_UnreadableFileHidesPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty, large := filepath.Join(dir, "empty-secret"), filepath.Join(dir, "large-secret")
	require.NoError(t, os.WriteFile(empty, []byte(" \n"), 0o600))
	require.NoError(t, os.WriteFile(large, make([]byte, 65<<10), 0o600))
	for _, path := range []string{empty, large} {
		t.Run(path, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(least+"llm: {api_key_file: "+path+"}\n"), noEnv)
			require.EqualError(t, err, "config.yaml:10: llm.api_key_file: names a file that is empty or over 64 KiB; put only the secret into it")
		})
	}
}

// Secrets in all places where people put them by mistake.
func TestErrors_HideSecrets(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		strings.Replace(least, "as-secret", "as secret", 1),
		strings.Replace(least, "as-secret", "[as-secret]", 1),
		strings.Replace(least, "as-secret", "{secret: secret}", 1),
		strings.Replace(least, "as-secret", "*secret", 1),
		strings.Replace(least, "as-secret", "&secret", 1),
		strings.Replace(least, "as-secret", "!secret x", 1),
		strings.Replace(least, "as-secret", "\"secret", 1),
		strings.Replace(least, "as-secret", "%secret", 1),
		strings.Replace(least, "as_token", "as_tokken", 1),
		strings.Replace(least, "as_token: as-secret", "as_token_file: secret", 1),
		strings.Replace(least, "https://matrix", "https://user:secret@matrix", 1),
		strings.Replace(least, "https://matrix", "https//user:secret@matrix", 1),
		least + "database: {url: 'postgres://u:sec%ret-secret@h/d'}\n",
		least + "database: {url: 'mysql://u:secret@h/d'}\n",
		least + "llm: {base_url: 'http://h/v1?key=secret'}\n",
	} {
		t.Run(data, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(data), noEnv)
			require.Error(t, err, data)
			require.NotContains(t, strings.ReplaceAll(err.Error(), "only the secret", ""), "secret", data)
		})
	}
}
