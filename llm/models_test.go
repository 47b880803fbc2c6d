package llm

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/policy"
)

// newTestModels returns Models with these providers, in a currency whose unit is a dollar.
func newTestModels(t *testing.T, b *dayLedger, providers map[string]Provider) *Models {
	t.Helper()
	ms, err := New(Options{
		Providers: providers, PerDollar: 1_000_000, Timeout: time.Minute,
		Prices: map[string]Price{"good/own": {In: 3_000_000, Out: 4_000_000}, "bad/own": {In: 3_000_000, Out: 4_000_000}},
		Budget: Budget{Ledger: b, DayCap: 1_000_000, Today: func() string { return "2026-11-20" }},
	})
	require.NoError(t, err)
	return ms
}

func TestOpen_SeveralModelsFallBack(t *testing.T) {
	t.Parallel()
	broke := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{Status: 401, Message: "no such key"}))
	good := llmtest.Start(t, llmtest.Say("On Sunday."))
	b := &dayLedger{}
	ms := newTestModels(t, b, map[string]Provider{
		"bad":  {BaseURL: broke.URL, APIKey: "first key"},
		"good": {Protocol: ProtocolAnthropic, BaseURL: good.Root, APIKey: "second key"},
	})
	m, err := ms.Open([]string{"bad/own", "good/own"}, "an agent's own key")
	require.NoError(t, err)
	require.Equal(t, "bad/own, else good/own", m.Name())
	res, err := Complete(t.Context(), m, newRequest("when?"))
	require.NoError(t, err)
	require.Equal(t, "On Sunday.", res.Text)
	require.Equal(t, "good/own", res.Model)
	require.Equal(t, "an agent's own key", broke.Requests()[0].Key, "the key of an agent is for the first provider")
	require.Equal(t, "second key", good.Requests()[0].Key, "and for no other")
	require.Len(t, b.spends, 2, "each attempt is set aside for")
	require.Equal(t, []string{"bad/own", "good/own"}, []string{b.spends[0].Model, b.spends[1].Model})
	require.Zero(t, b.settled[1].Amount, "who refused the key did nothing")
	require.Positive(t, b.settled[2].Amount)
}

func TestModels_ShareAccountBreaker(t *testing.T) {
	t.Parallel()
	ms := newTestModels(t, &dayLedger{}, map[string]Provider{"good": {BaseURL: "http://127.0.0.1:1", APIKey: "k", Local: true}})
	open := func(name, key string) retryModel {
		m, err := ms.Open([]string{name}, key)
		require.NoError(t, err)
		require.IsType(t, retryModel{}, m)
		return m.(retryModel) //nolint:forcetypeassert // just looked
	}
	one := open("good/own", "")
	require.Same(t, unwrapAdapter(t, one), unwrapAdapter(t, open("good/own", "")), "a model is made once")
	require.Same(t, one.breaker, open("good/other", "").breaker)
	require.NotSame(t, one.breaker, open("good/own", "another account's").breaker)
}

// unwrapAdapter returns the adapter inside of a model's wrappers.
func unwrapAdapter(t *testing.T, m retryModel) *adapter {
	t.Helper()
	paid, ok := m.Model.(budgetedModel)
	require.True(t, ok, "each call is paid for")
	a, ok := paid.Model.(*adapter)
	require.True(t, ok)
	return a
}

func TestOpen_WithoutNamesIsNone(t *testing.T) {
	t.Parallel()
	for _, names := range [][]string{nil, {""}, {"none"}} {
		m, err := newTestModels(t, &dayLedger{}, nil).Open(names, "")
		require.NoError(t, err)
		require.Equal(t, None{}, m)
	}
}

func TestKnownProvider_NeedsOnlyKey(t *testing.T) {
	t.Parallel()
	ms := newTestModels(t, &dayLedger{}, map[string]Provider{
		"anthropic": {APIKey: "k"}, "gemini": {APIKey: "k"}, "openai": {APIKey: "k"}, "groq": {APIKey: "k"},
		"lan": {BaseURL: "http://192.0.2.7:8000/v1", Local: true},
	})
	for name, want := range map[string]ModelInfo{
		"anthropic/claude-haiku-4-5": {
			Protocol: ProtocolAnthropic, Address: "https://api.anthropic.com", PriceListDate: ms.priceListDate,
			Price: Price{In: 1_000_000, Out: 5_000_000, CacheRead: 100_000, CacheWrite: 1_250_000},
		},
		"gemini/gemini-2.5-flash-lite": {
			Protocol: ProtocolGemini, Address: "https://generativelanguage.googleapis.com", PriceListDate: ms.priceListDate,
			Price: Price{In: 100_000, Out: 400_000, CacheRead: 25_000},
		},
		"openai/gpt-5-mini": {
			Protocol: ProtocolOpenAI, Address: DefaultBaseURL, PriceListDate: ms.priceListDate,
			Price: Price{In: 250_000, Out: 2_000_000, CacheRead: 25_000},
		},
		"ollama/qwen3:8b":   {Protocol: ProtocolOllama, Address: "http://localhost:11434", Local: true},
		"lan/anything/goes": {Protocol: ProtocolOpenAI, Address: "http://192.0.2.7:8000/v1", Local: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, err := ms.Describe(name, "")
			require.NoError(t, err)
			want.Name = name
			require.Equal(t, want, o)
		})
	}
}

func TestOpen_ErrorsNameFix(t *testing.T) {
	t.Parallel()
	ms := newTestModels(t, &dayLedger{}, map[string]Provider{
		"openai": {BaseURL: "http://192.0.2.7/v1"}, "anthropic": {APIKey: "k"}, "odd": {BaseURL: "ftp://x"}, "groq": {APIKey: "k"},
	})
	for name, c := range map[string]struct {
		is   error
		says string
	}{
		"gpt-5":               {ErrConfig, "PROVIDER/NAME"},
		"openai/":             {ErrConfig, "PROVIDER/NAME"},
		"nobody/x":            {ErrConfig, "llm.providers.nobody.base_url"},
		"odd/x":               {ErrConfig, "base_url of odd must look like"},
		"gemini/x":            {ErrConfig, "llm.providers.gemini.api_key"},
		"openai/gpt-5":        {ErrNoPrice, "llm.prices"}, // at an address other than the provider's, where prices may differ
		"anthropic/claude-99": {ErrNoPrice, "llm.prices"},
		"groq/llama-4":        {ErrNoPrice, "llm.providers.groq.local"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ms.Open([]string{name}, "")
			require.ErrorIs(t, err, c.is)
			require.ErrorContains(t, err, c.says)
		})
	}
	poor := newTestModels(t, &dayLedger{}, map[string]Provider{"anthropic": {APIKey: "k"}})
	poor.PerDollar = 0
	_, err := poor.Describe("anthropic/claude-haiku-4-5", "")
	require.ErrorIs(t, err, ErrNoPrice)
	require.ErrorContains(t, err, "budget.per_dollar")
}

func TestPriceListIsComplete(t *testing.T) {
	t.Parallel()
	list, err := knownPrices()
	require.NoError(t, err)
	_, err = time.Parse(time.DateOnly, list.date)
	require.NoError(t, err)
	require.NotEmpty(t, list.prices)
	require.Positive(t, list.contextWindow)
	for name, p := range list.prices {
		require.Positive(t, p.In, name)
		require.GreaterOrEqual(t, p.Out, p.In, name)
		require.LessOrEqual(t, p.CacheRead, p.In, name)
		require.LessOrEqual(t, p.CacheWrite, 2*p.In, name)
		provider, _, _ := strings.Cut(name, "/")
		require.Contains(t, knownProviders, provider, name)
	}
}

func TestContextWindow(t *testing.T) {
	t.Parallel()
	ms, err := New(Options{Providers: map[string]Provider{
		"openai": {APIKey: "k"}, "anthropic": {APIKey: "k", BaseURL: "http://localhost:1"},
		"desk": {BaseURL: "http://localhost:2", Local: true},
	}})
	require.NoError(t, err)
	for names, known := range map[string]bool{
		"openai/gpt-5-mini": true, "openai/gpt-5-mini openai/gpt-5-2025-08-07": true, "openai/gpt-5-mini desk/small": false,
		"anthropic/claude-haiku-4-5": false, "": false, "nobody/x": false,
	} {
		t.Run(names, func(t *testing.T) {
			require.Equal(t, known, ms.ContextWindow(strings.Fields(names)) >= 100_000, names)
		})
	}
}

func TestSnapshot_HasModelPrice(t *testing.T) {
	t.Parallel()
	ms := newTestModels(t, &dayLedger{}, map[string]Provider{"anthropic": {APIKey: "k"}, "openai": {APIKey: "k"}})
	for name, in := range map[string]int64{
		"anthropic/claude-haiku-4-5-20251001": 1_000_000, "openai/gpt-5-mini-2025-08-07": 250_000,
		"openai/gpt-4o-2024-08-06": 2_500_000, "openai/gpt-4o-2024-05-13": 5_000_000, // the first one was dearer
	} {
		t.Run(name, func(t *testing.T) {
			o, err := ms.Describe(name, "")
			require.NoError(t, err)
			require.Equal(t, in, o.Price.In, name)
		})
	}
	for _, name := range []string{
		"openai/gpt-5-mini-2", "openai/gpt-5-mini-latest", "openai/gpt-5-mini-2025-08-07-search",
		"anthropic/claude-haiku-4-5-19991001",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ms.Describe(name, "")
			require.ErrorIs(t, err, ErrNoPrice, name)
		})
	}
}

func TestPrice_OwnersComesFirst(t *testing.T) {
	t.Parallel()
	ms := newTestModels(t, &dayLedger{}, map[string]Provider{"openai": {APIKey: "k"}})
	own := Price{In: 7, Out: 8}
	ms.Prices["openai/gpt-5"] = own
	o, err := ms.Describe("openai/gpt-5", "")
	require.NoError(t, err)
	require.Equal(t, own, o.Price)
	require.Empty(t, o.PriceListDate)
}

func TestListedPrice_ConvertsRoundedUp(t *testing.T) {
	t.Parallel()
	require.Equal(t, Price{In: 608, Out: 2_025_000, CacheRead: 5}, Price{In: 150, Out: 500_000, CacheRead: 1}.convert(4_050_000))
}

func TestListedPrice_AddsQuarterAtWorst(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	m, err := Budgeted(newScript(one(textStep("yes"), stopStep(), usageStep(10, 3)), one(textStep("yes"), stopStep())), Budget{
		Ledger: b, Price: Price{In: 1_000_000, Out: 2_000_000}, FromPriceList: true, Today: func() string { return "2026-11-20" },
	})
	require.NoError(t, err)
	for range 2 {
		_, err = Complete(t.Context(), m, request100())
		require.NoError(t, err)
	}
	const more = worstCost + (worstCost+3)/4
	require.EqualValues(t, more, b.spends[0].Amount)
	require.EqualValues(t, 16, b.settled[1].Amount, "what was counted costs what the list says")
	require.EqualValues(t, more, b.settled[2].Amount, "what was not, the worst")
}

func TestWorstCase_UsesHighestInputPrice(t *testing.T) {
	t.Parallel()
	require.Equal(t, Price{In: 5, Out: 9}, Price{In: 4, Out: 9, CacheRead: 1, CacheWrite: 5}.worstCase())
	require.EqualValues(t, 4_000_000+100_000+1_250_000, Price{
		In:         1_000_000,
		CacheRead:  100_000,
		CacheWrite: 1_250_000,
	}.Cost(Usage{In: 6_000_000, CacheRead: 1_000_000, CacheWrite: 1_000_000}))
}

func TestTry_ReturnsAnswerAndCost(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{Text: "ready", In: 10, Out: 2}, llmtest.Reply{Status: 500}, llmtest.Reply{Status: 429}))
	b := &dayLedger{}
	ms := newTestModels(t, b, map[string]Provider{"good": {BaseURL: s.URL}})
	trial, err := ms.Try(t.Context(), "good/own", "", false)
	require.NoError(t, err)
	require.Equal(t, "ready", trial.Answer)
	require.EqualValues(t, 38, trial.Cost)
	require.Equal(t, "test", b.spends[0].Purpose)

	trial, err = ms.Try(t.Context(), "good/own", "", false)
	require.Equal(t, ReasonServer, reasonOf(err))
	require.Len(t, s.Requests(), 2, "it is made once")
	require.Equal(t, b.spends[1].Amount, trial.Cost, "nobody knows what was done, so it costs the worst")
	trial, err = ms.Try(t.Context(), "good/own", "", false)
	require.Equal(t, ReasonRateLimit, reasonOf(err))
	require.Zero(t, trial.Cost)
	_, err = ms.Try(t.Context(), "good/unpriced", "", false)
	require.ErrorIs(t, err, ErrNoPrice)
	b.refuse = policy.Reservation{Refused: policy.CapDay}
	_, err = ms.Try(t.Context(), "good/own", "", false)
	require.ErrorIs(t, err, ErrOverBudget)
	require.Len(t, s.Requests(), 3)
}

func TestTry_SendsPictureToVision(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(t, llmtest.InTurn(llmtest.Reply{Text: "ready"}, llmtest.Reply{Status: 400}))
	ms := newTestModels(t, &dayLedger{}, map[string]Provider{"good": {BaseURL: s.URL}})
	_, err := ms.Try(t.Context(), "good/own", "", true)
	require.NoError(t, err)
	images := s.Requests()[0].Messages[0].Images
	require.Len(t, images, 1)
	p, err := png.Decode(bytes.NewReader(images[0].Data))
	require.NoError(t, err)
	require.Equal(t, image.Rect(0, 0, 1, 1), p.Bounds())
	_, err = ms.Try(t.Context(), "good/own", "", true)
	require.Contains(t, HowToFix(err), "vision.model")
}

func TestHowToFix_CoversEveryError(t *testing.T) {
	t.Parallel()
	for _, r := range []Reason{
		ReasonKey, ReasonModel, ReasonRequest, ReasonQuota, ReasonRateLimit, ReasonOverloaded, ReasonUnreachable, ReasonTLS, ReasonTimeout,
		ReasonServer,
		ReasonDisconnected, ReasonMalformedReply, ReasonMalformedCall, ReasonCircuitOpen,
	} {
		require.NotEmpty(t, HowToFix(failure(r)), r)
	}
	require.Contains(t, HowToFix(&OverBudgetError{Cap: policy.CapDay}), "budget.per_day")
	require.Contains(t, HowToFix(fmt.Errorf("call: %w", context.DeadlineExceeded)), "llm.timeout")
	require.Empty(t, HowToFix(ErrNoPrice), "its own words name the fix")
}
