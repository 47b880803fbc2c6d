package config_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
)

func TestEdit_ChangesOnlyOneValue(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, key, text, after string }{
		"plain":         {"llm:\n  model: none # mine\n", "llm.model", "openai/x", "llm:\n  model: openai/x # mine\n"},
		"quoted":        {"owner: \"@a:b.c\"   # me\n", "owner", "@d:b.c", "owner: \"@d:b.c\"   # me\n"},
		"single quotes": {"name: 'it''s'\n", "name", "Nora", "name: Nora\n"},
		"no value":      {"llm:\n  model:\n  local: true\n", "llm.model", "none", "llm:\n  model: none\n  local: true\n"},
		"null":          {"name: ~\n", "name", "Nora", "name: Nora\n"},
		"missing key": {
			"# top\nllm:\n    model: none\n\nname: Nora\n", "llm.base_url", "http://a",
			"# top\nllm:\n    model: none\n    base_url: http://a\n\nname: Nora\n",
		},
		"missing section":     {"name: Nora\n", "llm.model", "none", "name: Nora\nllm:\n  model: none\n"},
		"missing sections":    {"name: Nora\n", "appservice.bot.username", "m", "name: Nora\nappservice:\n  bot:\n    username: m\n"},
		"section of sections": {"appservice:\n  port: 1\n", "appservice.bot.username", "m", "appservice:\n  port: 1\n  bot:\n    username: m\n"},
		"empty section":       {"llm:\nname: Nora\n", "llm.model", "none", "llm:\n  model: none\nname: Nora\n"},
		"empty file":          {"", "name", "Nora", "name: Nora\n"},
		"only comments":       {"# nothing yet\n", "name", "Nora", "# nothing yet\nname: Nora\n"},
		"empty text":          {"database:\n  url: postgres://x\n", "database.url", "", "database:\n  url: \"\"\n"},
		"needs quotes":        {"name: Nora\n", "name", "a: b # c", "name: 'a: b # c'\n"},
		"behind a block":      {"a:\n  b: |\n    one\n    two\nname: Nora\n", "a.c", "x", "a:\n  b: |\n    one\n    two\n  c: x\nname: Nora\n"},
		"after a list": {
			"a:\n  b:\n    - one\n    - two\nname: Nora\n", "a.c", "x",
			"a:\n  b:\n    - one\n    - two\n  c: x\nname: Nora\n",
		},
		"in braces": {
			"llm: {model: none, local: true} # mine\n", "llm.model", "openai/x",
			"llm: {model: openai/x, local: true} # mine\n",
		},
		"last in braces":     {"exec: { enabled: true }\n", "exec.enabled", "false", "exec: { enabled: false }\n"},
		"quoted in braces":   {"a: {b: {c: \"x, y\"}, d: 1}\n", "a.b.c", "p, q", "a: {b: {c: \"p, q\"}, d: 1}\n"},
		"lines in braces":    {"a: {b: 1,\n    c: 2}\nname: Nora\n", "a.c", "3", "a: {b: 1,\n    c: 3}\nname: Nora\n"},
		"missing in braces":  {"budget: {per_day: 2}\n", "budget.per_run", "1", "budget: {per_run: 1, per_day: 2}\n"},
		"empty braces":       {"business:\n  escalation: {}\n", "business.escalation.room", "true", "business:\n  escalation: {room: true}\n"},
		"sections in braces": {"a: {x: 1}\n", "a.b.c", "2", "a: {b: {c: 2}, x: 1}\n"},
		"the same":           {"name:   Nora\n", "name", "Nora", "name:   Nora\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, err := config.Edit("config.yaml", []byte(c.before), config.Value{Key: c.key, Text: c.text})
			require.NoError(t, err)
			require.Equal(t, strings.ReplaceAll(c.after, "\"@d:b.c\"", "'@d:b.c'"), strings.ReplaceAll(string(after), "\"@d:b.c\"", "'@d:b.c'"))
		})
	}
}

func TestEdit_RefusesRiskyChange(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{
		"all braces": "{llm: {model: none}}\n",
		"anchor":     "llm:\n  model: &m none\n",
		"two lines":  "llm:\n  model: no\n    ne\n",
		"block":      "llm:\n  model: |\n    none\n",
		"a list":     "llm:\n  model: [none]\n",
		"not a map":  "- llm\n",
		"not a node": "llm: none\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Edit("config.yaml", []byte(before), config.Value{Key: "llm.model", Text: "openai/x"})
			require.ErrorIs(t, err, config.ErrEdit)
		})
	}
}

// Each key of the example is one that a command may set.
func TestEdit_SetsEachValueOfExample(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"homeserver.address", "appservice.bot.username", "owner", "time_zone", "database.url", "llm.api_key",
		"speech.price_per_minute", "chats.profile",
	} {
		t.Run(key, func(t *testing.T) {
			after, err := config.Edit("config.yaml", config.Example(), config.Value{Key: key, Text: "changed"})
			require.NoError(t, err, key)
			require.Len(t, strings.Split(string(after), "\n"), len(strings.Split(string(config.Example()), "\n")))
			got, ok := config.Lookup(after, key)
			require.True(t, ok)
			require.Equal(t, "changed", got)
		})
	}
}

func FuzzEdit(f *testing.F) {
	f.Add(string(config.Example()), "llm.model", "openai/x")
	f.Add("a: 'b'\n", "a", "c\nd")
	f.Add("a: {b: 1}\n", "a.c", "x, y")
	f.Fuzz(func(t *testing.T, data, key, text string) {
		after, err := config.Edit("config.yaml", []byte(data), config.Value{Key: key, Text: text})
		if err != nil {
			return
		}
		got, ok := config.Lookup(after, key)
		require.True(t, ok)
		require.Equal(t, text, got)
	})
}
