package config

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// write puts a configuration into a folder of its own and returns its path.
func write(t *testing.T, data string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(path, []byte(data), 0o644))
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func TestGenerate_FillsOnlyTokens(t *testing.T) {
	t.Parallel()
	path := write(t, ownExample())
	c, err := Generate(path)
	require.NoError(t, err)

	require.Regexp(t, `^[A-Z2-7]{52}$`, c.Appservice.ASToken.Value())
	require.Regexp(t, `^[A-Z2-7]{52}$`, c.Appservice.HSToken.Value())
	require.Regexp(t, `^as_multis_[a-z2-7]{26}$`, c.Appservice.SenderLocalpart)
	require.NotEqual(t, c.Appservice.ASToken, c.Appservice.HSToken)

	filled := read(t, path)
	for _, value := range []string{c.Appservice.SenderLocalpart, c.Appservice.ASToken.Value(), c.Appservice.HSToken.Value()} {
		require.Equal(t, 1, strings.Count(filled, value))
		filled = strings.Replace(filled, value, Placeholder, 1)
	}
	require.Equal(t, ownExample(), filled, "comments, order and spaces are those of before")

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	files, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, files, 1, "no temporary file is left")
}

func TestGenerate_TwiceKeepsValues(t *testing.T) {
	t.Parallel()
	path := write(t, ownExample())
	first, err := Generate(path)
	require.NoError(t, err)
	text := read(t, path)
	second, err := Generate(path)
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, text, read(t, path))
}

func TestGenerate_KeepsSetTokens(t *testing.T) {
	t.Parallel()
	path := write(t, strings.Replace(least, "hs-secret", "generate # soon", 1))
	c, err := Generate(path)
	require.NoError(t, err)
	require.Equal(t, "as-secret", c.Appservice.ASToken.Value())
	require.Equal(t, "as_multis_7hq2c9xk", c.Appservice.SenderLocalpart)
	require.Contains(t, read(t, path), "hs_token: "+c.Appservice.HSToken.Value()+" # soon\n")

	path = write(t, least)
	_, err = Generate(path)
	require.NoError(t, err)
	require.Equal(t, least, read(t, path), "nothing to fill, nothing written")
}

func TestGenerate_FindsAnyPlaceholder(t *testing.T) {
	t.Parallel()
	head, _, _ := strings.Cut(least, "appservice:")
	_, tail, _ := strings.Cut(least, "hs_token: hs-secret\n")
	for name, section := range map[string]string{
		"in quotes":              "appservice:\n  sender_localpart: 'generate'\n  as_token: \"generate\"\n  hs_token:   generate\n",
		"in one line":            "appservice: {sender_localpart: generate, as_token: generate, hs_token: generate}\n",
		"after letters of bytes": "appservice: {bot: {displayname: Zoë 🐦}, sender_localpart: generate, as_token: generate, hs_token: generate}\n",
		"in a line of its own":   "appservice:\n  sender_localpart:\n    generate\n  as_token: generate\n  hs_token: generate\n",
		"with CRLF line ends":    "appservice:\r\n  sender_localpart: generate\r\n  as_token: generate\r\n  hs_token: generate\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, head+section+tail)
			c, err := Generate(path)
			require.NoError(t, err)
			loaded, err := Load(path)
			require.NoError(t, err)
			require.Equal(t, c, loaded)
			restored := regexp.MustCompile(`['"]?(as_multis_[a-z2-7]{26}|[A-Z2-7]{52})['"]?`).ReplaceAllString(read(t, path), "generate")
			require.Equal(t, strings.NewReplacer("'generate'", "generate", `"generate"`, "generate").Replace(head+section+tail), restored)
		})
	}
}

func TestGenerate_WritesNothingOnError(t *testing.T) {
	t.Parallel()
	generate := strings.NewReplacer("as-secret", "generate", "hs-secret", "generate").Replace(least)
	for name, c := range map[string]struct{ data, want string }{
		"another key is wrong": {generate + "nam: Ada\n", `config.yaml:10: nam: unknown key; did you mean "name"?`},
		"it is not YAML": {
			generate + "\tname: Ada\n",
			"is not YAML: found a tab character that violates indentation; indent by spaces, in this line or the next",
		},
		"the placeholder has a tag": {
			strings.Replace(generate, "as_token: ", "as_token: !!str ", 1),
			"config.yaml:6: appservice.as_token: cannot be replaced here",
		},
		"a token is missing": {
			strings.Replace(generate, "  as_token: generate\n", "", 1),
			"appservice.as_token: is missing; write generate as its value, and run multis -g",
		},
		"there is nothing but a dash": {"-\n", `config.yaml:1: is a list; write a section of "key: value" lines`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := write(t, c.data)
			_, err := Generate(path)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, c.data, read(t, path))
		})
	}
}

func TestGenerate_FollowsSymlink(t *testing.T) {
	t.Parallel()
	path := write(t, ownExample())
	link := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(path, link))
	c, err := Generate(link)
	require.NoError(t, err)
	require.Contains(t, read(t, path), c.Appservice.ASToken.Value())
	target, err := os.Readlink(link)
	require.NoError(t, err, "the link is still one")
	require.Equal(t, path, target)
}

func TestGenerate_ExplainsMissingFile(t *testing.T) {
	t.Parallel()
	_, err := Generate(filepath.Join(t.TempDir(), "config.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "multis -e writes an example")
}
