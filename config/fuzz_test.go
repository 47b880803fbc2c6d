package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is in the file or the environment: a configuration or errors of one line each, never both, never a panic.
func FuzzParse(f *testing.F) {
	f.Add(filledExample(), "")
	f.Add(everything, "soon")
	f.Add(string(Example()), "generate")
	f.Add(least+"operators: [a, [b], {c: d}, ~]\nname: &a {b: *a}\n", "@a:b")
	f.Add("? [a, b]\n: c\n\"\": {\"\": {}}\n<<: {owner: x}\n!!binary x: 1\n", "-1")
	f.Add("chats: {networks: {a: {mode: off}, a.b: 1, chats: ~}}\n---\n...\n", "")
	f.Add("\xff\xfeo\x00:\x00", "\x00")
	f.Add("\ufeff# only a comment\n", "a,b,,")
	f.Add("owner: \"\\u2028\\n\"\n\"key\\nof\\u0085lines\": 1\n", "x\ny")
	f.Add("- - - -\n-", "[]")
	f.Fuzz(func(t *testing.T, data, fromEnv string) {
		env := func(name string) (string, bool) {
			return fromEnv, !strings.HasSuffix(name, "_FILE") && len(name)%2 == 0
		}
		checkParsing(t, data, env)
	})
}

// FuzzLines parses valid files of all sections in which some lines were changed, which random bytes hardly ever give.
func FuzzLines(f *testing.F) {
	bases := []string{everything, filledExample(), string(Example())}
	f.Add([]byte{0}, "")
	for i := range 60 {
		f.Add([]byte{byte(i), byte(i), 0, byte(i * 3), byte(i / 5), 1, byte(i)},
			[]string{"  x: 1", "owner: a", "- {tool: x, decision: deny}", "  &a b: *a", "# only a comment"}[i%5])
	}
	f.Fuzz(func(t *testing.T, edits []byte, line string) {
		if len(edits) > 0 {
			checkParsing(t, editLines(bases[int(edits[0])%len(bases)], edits[1:], line), func(string) (string, bool) { return "", false })
		}
	})
}

// editLines changes lines of a file: each three bytes of edits say what is done and with which line. It also takes in a new line.
func editLines(file string, edits []byte, line string) string {
	lines := strings.Split(file, "\n")
	for ; len(edits) >= 3 && len(lines) > 0; edits = edits[3:] {
		at := (int(edits[1])<<8 + int(edits[2])) % len(lines)
		switch edits[0] % 7 {
		case 0:
			lines = slices.Delete(lines, at, at+1)
		case 1:
			lines = slices.Insert(lines, at, lines[at])
		case 2:
			lines[at] = line
		case 3:
			lines = slices.Insert(lines, at, line)
		case 4:
			lines[at] = "  " + lines[at]
		case 5:
			lines[at] = strings.Replace(lines[at], "# ", "", 1)
		default:
			key, _, _ := strings.Cut(lines[at], ":")
			lines[at] = key + ": " + line
		}
	}
	return strings.Join(lines, "\n")
}

// checkParsing checks that a file is read as a whole or refused with a line for each mistake.
func checkParsing(t *testing.T, data string, env func(string) (string, bool)) {
	t.Helper()
	c, err := Parse("config.yaml", []byte(data), env)
	if err == nil {
		require.NotNil(t, c)
		_, err = Registration(c)
		require.NoError(t, err)
		return
	}
	require.Nil(t, c)
	for line := range strings.SplitSeq(err.Error(), "\n") {
		require.Regexp(t, `^(config\.yaml:[0-9]+|environment MULTIS_[A-Z_]+): `, line)
	}
}

// What is filled in has to be what was there, and to fill in once has to be enough.
func FuzzFill(f *testing.F) {
	f.Add(string(Example()))
	f.Add("appservice: {é: x, as_token: generate, hs_token: 'generate'}\r\n")
	f.Add("appservice:\n  as_token: &a generate\n  hs_token: *a\n")
	f.Add("appservice: {as_token: >-\n  generate\n}")
	f.Fuzz(func(t *testing.T, data string) {
		once, err := ReplacePlaceholders("config.yaml", []byte(data))
		if err != nil {
			return
		}
		twice, err := ReplacePlaceholders("config.yaml", once)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice))
	})
}
