package config

import (
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
	})
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
