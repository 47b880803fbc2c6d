package llm

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/policy"
)

// embedder opens an Embedder of a scripted server. A million tokens cost one currency unit.
func embedder(t *testing.T, b *dayLedger, c EmbedConfig, script llmtest.EmbedScript) (Embedder, *llmtest.Embeddings) {
	t.Helper()
	s := llmtest.StartEmbeddings(t, script)
	c.Model = "openai/test-embed"
	c.BaseURL = s.URL
	c.APIKey = secret
	e, err := OpenEmbedder(c, Budget{Ledger: b, Price: Price{In: 1_000_000}, DayCap: 1 << 40, Today: func() string { return "2026-11-20" }})
	require.NoError(t, err)
	return e, s
}

func embedReply(r llmtest.EmbedReply) llmtest.EmbedScript {
	return func(llmtest.EmbedRequest) llmtest.EmbedReply { return r }
}

func TestEmbedder_SpeaksProtocol(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	e, s := embedder(t, b, EmbedConfig{Dimensions: 2, Purpose: "search"}, embedReply(llmtest.EmbedReply{
		Vectors:  [][]float64{{3, 4}, {0, -2}},
		Backward: true,
		In:       7,
	}))
	got, err := e.Embed(t.Context(), []string{"one", "two"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{0.6, 0.8}, {0, -1}}, got, "of length one, in the order of the texts, whatever order they come in")
	require.Equal(t, []llmtest.EmbedRequest{{Key: secret, Model: "test-embed", Texts: []string{"one", "two"}, Dimensions: 2, Format: "float"}},
		s.Requests())
	require.Equal(t, "openai/test-embed@2", e.Name())
	require.Equal(t, "search", b.spends[0].Purpose)
	require.EqualValues(t, requestOverhead+2*messageOverhead+6, b.spends[0].Amount, "the worst case is a token for each byte")
	require.Equal(t, policy.Settlement{Amount: 7, In: 7}, b.settled[1])
}

func TestEmbedder_BatchesManyTexts(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	e, s := embedder(t, b, EmbedConfig{}, llmtest.Meanings(8, nil))
	texts := make([]string, 2*embedBatchSize+1)
	for i := range texts {
		texts[i] = string(rune('a' + i%26))
	}
	got, err := e.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, got, len(texts))
	require.Len(t, s.Requests(), 3)
	require.Len(t, b.spends, 3)
	require.Equal(t, got[0], got[2*26])
	require.NotEqual(t, got[0], got[1])
	for _, v := range got {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		require.InDelta(t, 1, math.Sqrt(sum), 1e-5)
	}
	none, err := e.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
	require.Len(t, s.Requests(), 3, "no texts, no call")
}

func TestEmbedder_RefusesMismatchedVectors(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dimensions int
		reply      llmtest.EmbedReply
	}{
		"too few":                 {reply: llmtest.EmbedReply{Vectors: [][]float64{{1}}}},
		"too many":                {reply: llmtest.EmbedReply{Vectors: [][]float64{{1}, {1}, {1}}}},
		"of different dimensions": {reply: llmtest.EmbedReply{Vectors: [][]float64{{1, 2}, {1}}}},
		"not those asked for":     {dimensions: 3, reply: llmtest.EmbedReply{Vectors: [][]float64{{1, 2}, {1, 2}}}},
		"without a direction":     {reply: llmtest.EmbedReply{Vectors: [][]float64{{1, 2}, {0, 0}}}},
		"of no dimensions":        {reply: llmtest.EmbedReply{Vectors: [][]float64{{}, {}}}},
		"more than fit": {reply: llmtest.EmbedReply{Vectors: [][]float64{
			make([]float64, MaxDimensions+1),
			make([]float64, MaxDimensions+1),
		}}},
		"the same place twice": {reply: llmtest.EmbedReply{Raw: `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`}},
		"a place that is not":  {reply: llmtest.EmbedReply{Raw: `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`}},
		"words":                {reply: llmtest.EmbedReply{Raw: `{"data":[{"index":0,"embedding":["x"]},{"index":1,"embedding":["y"]}]}`}},
		"a page":               {reply: llmtest.EmbedReply{Raw: `<html>welcome</html>`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &dayLedger{}
			e, _ := embedder(t, b, EmbedConfig{Dimensions: c.dimensions}, embedReply(c.reply))
			got, err := e.Embed(t.Context(), []string{"one", "two"})
			var known *Error
			require.ErrorAs(t, err, &known)
			require.Equal(t, ReasonMalformedReply, known.Reason)
			require.Nil(t, got)
			require.Equal(t, b.spends[0].Amount, b.settled[1].Amount, "what cannot be counted is paid in full")
		})
	}
}

func TestEmbedder_RefusesChangedDimensions(t *testing.T) {
	t.Parallel()
	dims := make(chan int, 2)
	dims <- 4
	dims <- 5
	e, _ := embedder(t, &dayLedger{}, EmbedConfig{}, func(r llmtest.EmbedRequest) llmtest.EmbedReply {
		return llmtest.Meanings(<-dims, nil)(r)
	})
	_, err := e.Embed(t.Context(), []string{"one"})
	require.NoError(t, err)
	_, err = e.Embed(t.Context(), []string{"one"})
	require.ErrorContains(t, err, "does not follow the protocol")
}

func TestEmbedder_SettlesFailedCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reply  llmtest.EmbedReply
		reason Reason
		paid   bool
	}{
		"the key is wrong":      {llmtest.EmbedReply{Status: 401}, ReasonKey, false},
		"no such model":         {llmtest.EmbedReply{Status: 404}, ReasonModel, false},
		"refused":               {llmtest.EmbedReply{Status: 400}, ReasonRequest, false},
		"too many requests":     {llmtest.EmbedReply{Status: 429, RetryAfter: "7"}, ReasonRateLimit, false},
		"no credit":             {llmtest.EmbedReply{Status: 429, Code: "insufficient_quota"}, ReasonQuota, false},
		"trouble of its own":    {llmtest.EmbedReply{Status: 503}, ReasonOverloaded, true},
		"it never answers":      {llmtest.EmbedReply{Hang: true}, ReasonTimeout, true},
		"an answer without end": {llmtest.EmbedReply{Raw: `{"data":[{"ind`}, ReasonDisconnected, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &dayLedger{}
			timeout := time.Minute
			if c.reply.Hang {
				timeout = time.Second // the request has to arrive within it
			}
			e, s := embedder(t, b, EmbedConfig{Timeout: timeout}, embedReply(c.reply))
			_, err := e.Embed(t.Context(), []string{"the words of a customer"})
			var known *Error
			require.ErrorAs(t, err, &known)
			require.Equal(t, c.reason, known.Reason, err)
			require.NotContains(t, err.Error(), "customer")
			require.NotContains(t, err.Error(), secret)
			require.Len(t, s.Requests(), 1, "the library tries nothing again by itself")
			if c.paid {
				require.Equal(t, b.spends[0].Amount, b.settled[1].Amount)
			} else {
				require.Zero(t, b.settled[1].Amount)
			}
		})
	}
}

func TestEmbedder_OverBudgetSendsNothing(t *testing.T) {
	t.Parallel()
	b := &dayLedger{refuse: policy.Reservation{Refused: "day", FirstRefusal: true}}
	e, s := embedder(t, b, EmbedConfig{}, llmtest.Meanings(4, nil))
	_, err := e.Embed(t.Context(), []string{"one"})
	require.ErrorIs(t, err, ErrOverBudget)
	require.Empty(t, s.Requests())

	b = &dayLedger{err: context.DeadlineExceeded}
	e, s = embedder(t, b, EmbedConfig{}, llmtest.Meanings(4, nil))
	_, err = e.Embed(t.Context(), []string{"one"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, s.Requests())
}

func TestEmbedder_EndsWithCaller(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	e, _ := embedder(t, b, EmbedConfig{}, embedReply(llmtest.EmbedReply{Hang: true}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := e.Embed(ctx, []string{"one"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, b.spends[0].Amount, b.settled[1].Amount, "settled although the caller is gone")
}

func TestOpenEmbedder_RefusesBadConfig(t *testing.T) {
	t.Parallel()
	free := Budget{Local: true}
	for name, c := range map[string]struct {
		config EmbedConfig
		budget Budget
		want   error
	}{
		"another provider": {EmbedConfig{Model: "other/x"}, free, ErrConfig},
		"no name":          {EmbedConfig{Model: "openai/"}, free, ErrConfig},
		"dimensions":       {EmbedConfig{Model: "openai/x", Dimensions: MaxDimensions + 1}, free, ErrConfig},
		"no price":         {EmbedConfig{Model: "openai/x"}, Budget{}, ErrNoPrice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := OpenEmbedder(c.config, c.budget)
			require.ErrorIs(t, err, c.want)
		})
	}
	e, err := OpenEmbedder(EmbedConfig{Model: "none"}, Budget{})
	require.NoError(t, err)
	_, err = e.Embed(t.Context(), []string{"x"})
	require.ErrorIs(t, err, ErrNoEmbedder)
	e, err = OpenEmbedder(EmbedConfig{Model: "ollama/nomic-embed-text"}, free)
	require.NoError(t, err)
	require.Equal(t, "ollama/nomic-embed-text", e.Name())
}

func TestEmbedder_AcceptsAnyContentType(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":[0,2]}]}`)
	}))
	t.Cleanup(s.Close)
	e, err := OpenEmbedder(EmbedConfig{Model: "openai/test", BaseURL: s.URL}, Budget{
		Ledger: &dayLedger{},
		Local:  true,
		Today:  func() string { return "2026-11-20" },
	})
	require.NoError(t, err)
	got, err := e.Embed(t.Context(), []string{"one"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{0, 1}}, got)
}
