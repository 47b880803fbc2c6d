package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/config"
	"multis/llm/llmtest"
	"multis/ops/doctor"
)

// modelConfig returns a configuration with these sections.
func modelConfig(t *testing.T, sections string) *config.Config {
	t.Helper()
	text := fmt.Sprintf(serveConfig, "http://127.0.0.1:1", 29399, "postgres://nobody@127.0.0.1:1/none") + sections
	cfg, err := config.Parse(filepath.Join(t.TempDir(), "config.yaml"), []byte(text), func(string) (string, bool) { return "", false })
	require.NoError(t, err)
	return cfg
}

// firstFinding returns the only finding of a probe that failed.
func firstFinding(t *testing.T, r doctor.Result) doctor.Finding {
	t.Helper()
	require.Len(t, r.Findings, 1)
	require.Empty(t, r.Fact)
	return r.Findings[0]
}

func TestProbe_CallsModelOnce(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"openai/gpt-5-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-2.5-flash"} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{
				Text: "ready",
				In:   1000,
				Out:  100,
			}, llmtest.Reply{Status: 401, Message: "no such key: secret-key"}))
			address := server.Root
			if strings.HasPrefix(model, "openai/") {
				address = server.URL
			}
			cfg := modelConfig(t, "llm: {model: "+model+", base_url: \""+address+"\", api_key: secret-key, prices: ["+model+" 0.25 2]}\n")
			result := probeModels(t.Context(), cfg)
			require.Empty(t, result.Findings)
			require.Contains(t, result.Fact, model+` says "ready" in `)
			require.Contains(t, result.Fact, "; 0.25 in and 2.00 out for a million tokens (EUR)")
			require.Regexp(t, `for 0\.0004 EUR; 0\.25`, result.Fact)
			require.Len(t, server.Requests(), 1)
			require.Equal(t, "secret-key", server.Requests()[0].Key)

			refused := firstFinding(t, probeModels(t.Context(), cfg))
			require.Equal(t, doctor.ModelUnreachable, refused.ID)
			require.Contains(t, refused.Message, "the key was refused")
			require.Contains(t, refused.Fix, "write the provider's key into llm.api_key")
			require.NotContains(t, refused.Message, "secret-key")

			cfg.Budget.PerDay = 0
			require.Contains(t, firstFinding(t, probeModels(t.Context(), cfg)).Message, "budget")
			require.Len(t, server.Requests(), 2, "nothing is called without a budget")
		})
	}
}

func TestProbe_VisionModelOnce(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, llmtest.Say("ready"))
	for _, test := range []struct {
		settings string
		images   []int // of each call
	}{
		{"llm: {model: openai/one, base_url: \"" + server.URL + "\", local: true}\nvision: {model: openai/one}\n", []int{1}},
		{"llm: {model: openai/one, base_url: \"" + server.URL + "\", local: true}\nvision: {model: openai/two}\n", []int{0, 1}},
		{"llm: {providers: {openai: {base_url: \"" + server.URL + "\", local: true}}}\nvision: {model: openai/two}\n", []int{1}},
	} {
		cfg, before := modelConfig(t, test.settings), len(server.Requests())
		require.Empty(t, probeModels(t.Context(), cfg).Findings, test.settings)
		var images []int
		for _, r := range server.Requests()[before:] {
			images = append(images, len(r.Messages[0].Images))
		}
		require.Equal(t, test.images, images, test.settings)
		var sees []bool
		for _, m := range allModels(cfg) {
			sees = append(sees, m.sees)
		}
		require.Len(t, sees, len(test.images))
		require.True(t, sees[len(sees)-1])
	}
	unpriced := modelConfig(t, "vision: {model: openai/unheard-of}\n")
	require.ErrorContains(t, checkModel(unpriced), "vision.model")
}

func TestProbe_EmbeddingsAndSpeech(t *testing.T) {
	t.Parallel()
	embeddings := llmtest.StartEmbeddings(t, llmtest.Meanings(8, nil))
	cfg := modelConfig(t, "embeddings: {model: openai/text-embedding-3-small, base_url: \""+embeddings.URL+
		"\", api_key: secret-key, price_per_mtok: 0.02}\n")
	require.Regexp(t, `^openai/text-embedding-3-small answers with 8 dimensions in [0-9.]+ m?s; a million tokens cost 0\.02 EUR$`,
		probeEmbeddings(t.Context(), cfg).Fact)
	require.Len(t, embeddings.Requests(), 1)
	require.Equal(t, "secret-key", embeddings.Requests()[0].Key)

	refuses := llmtest.StartEmbeddings(t, func(llmtest.EmbedRequest) llmtest.EmbedReply { return llmtest.EmbedReply{Status: 404} })
	cfg.Embeddings.BaseURL = refuses.URL
	require.Equal(t, doctor.ModelUnreachable, firstFinding(t, probeEmbeddings(t.Context(), cfg)).ID)

	speech := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return llmtest.Transcript{} })
	cfg = modelConfig(t, "speech: {model: openai/whisper-1, base_url: \""+speech.URL+"\", api_key: secret-key, price_per_minute: 0.006}\n")
	require.Regexp(t, `^openai/whisper-1 answers in [0-9.]+ m?s; a minute costs 0\.0060 EUR$`, probeSpeech(t.Context(), cfg).Fact)
	require.Len(t, speech.Requests(), 1)
	require.Equal(t, "secret-key", speech.Requests()[0].Key)

	deaf := llmtest.StartSpeech(t, func(llmtest.Recording) llmtest.Transcript { return llmtest.Transcript{Status: 401} })
	cfg.Speech.BaseURL = deaf.URL
	require.Equal(t, doctor.ModelUnreachable, firstFinding(t, probeSpeech(t.Context(), cfg)).ID)
}
