package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/store/storetest"
)

// configured writes a configuration into a new folder and returns the folder.
func configured(t *testing.T, dsn, more string) string {
	t.Helper()
	dir := t.TempDir()
	text := fmt.Sprintf(serveConfig, "http://127.0.0.1:1", 29399, dsn) + more
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600))
	return dir
}

func TestModels_ListWithPrices(t *testing.T) {
	t.Parallel()
	said, _, err := program(t, configured(t, "postgres://nobody@127.0.0.1:1/none", `
llm:
  model: cheap_first
  providers:
    anthropic: {api_key: secret-key}
    lan: {base_url: "http://192.0.2.7/v1", local: true}
    groq: {api_key: secret-key}
  strategies:
    cheap_first: [lan/small, groq/some]
    powerful_first: [anthropic/claude-haiku-4-5, lan/small, openai/gpt-5]
  prices: [groq/some 0.10 0.30]
agents:
  clerk: {model: openai/gpt-5, api_key: secret-key}
  shop: {model: lan/small}
`), "", "models")
	require.NoError(t, err, "no database is needed")
	require.Contains(t, said, `In use, in this order (llm.model: cheap_first)
  lan/small  openai at http://192.0.2.7/v1, costs nothing
  groq/some  openai at https://api.groq.com/openai/v1, 0.10 in and 0.30 out for a million tokens (EUR), from the configuration
Of the agent clerk
  openai/gpt-5  openai at https://api.openai.com/v1, `)
	require.Contains(t, said, `
In strategies that are not in use
  anthropic/claude-haiku-4-5  anthropic at https://api.anthropic.com, 1.00 in and 5.00 out for a million tokens (EUR), about, as of 20`)
	require.Contains(t, said, "  ✗ llm: openai needs a key; write")
	require.Contains(t, said, "1 of 5 cannot be used as they are configured.\n")
	require.NotContains(t, said, "secret-key")
}

func TestModels_EmptyListExplains(t *testing.T) {
	t.Parallel()
	dir := configured(t, "postgres://nobody@127.0.0.1:1/none", "")
	for _, args := range [][]string{{"models"}, {"models", "test"}} {
		said, _, err := program(t, dir, "", args...)
		require.NoError(t, err)
		require.Equal(t, noModels, said)
	}
}

func TestModels_TestCallsEach(t *testing.T) {
	t.Parallel()
	good := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{Text: "ready\x1b[2J", In: 10, Out: 2}))
	broke := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{Status: 401, Message: "no such key: wrong-key"}))
	dsn := storetest.DSN(t)
	all := fmt.Sprintf(`
llm:
  model: custom
  providers:
    good: {type: anthropic, base_url: %q}
    bad: {base_url: %q, api_key: wrong-key}
    gone: {base_url: "http://127.0.0.1:1", local: true}
  strategies: {custom: [good/one, bad/two, gone/three], fast_first: [unpriced/four]}
  prices: [good/one 1 2, bad/two 1 2]
`, good.Root, broke.URL)
	said, complaint, err := program(t, configured(t, dsn, all), "", "models", "test")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 1, exit.ExitCode())
	require.Regexp(t, `(?s)^✓ good/one  "ready\\x1b\[2J" in [0-9.]+ m?s, 0\.000014 EUR
✗ bad/two: the key was refused, check api_key \(HTTP 401[^\n]*
  fix: write the provider's key into llm\.api_key, or into llm\.providers\.NAME\.api_key
✗ gone/three: no server answers at the address, check base_url
  fix: start the model's server, or correct its base_url
✗ llm: unpriced is no provider that is known here [^\n]*llm\.providers\.unpriced\.base_url
$`, said)
	require.Contains(t, complaint, "multis: 3 of 4 models did not answer\n")
	require.NotContains(t, said+complaint, "wrong-key")
	require.Len(t, broke.Requests(), 1, "a trial is made once")

	fine := fmt.Sprintf("\nllm: {model: good/one, base_url: %q, providers: {good: {type: anthropic}}, prices: [good/one 1 2]}\n", good.Root)
	said, complaint, err = program(t, configured(t, dsn, fine), "", "models", "test")
	require.NoError(t, err, complaint)
	require.Contains(t, said, "✓ good/one")

	said, complaint, err = program(t, configured(t, dsn, fine+"budget: {per_day: 0}\n"), "", "models", "test")
	require.Error(t, err)
	require.Contains(t, said, "✗ good/one: today's budget is used up\n  fix: raise budget.per_day")
	require.Contains(t, complaint, "the model did not answer")
}
