package llm

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/llm/llmtest"
	"multis/policy"
)

// dayLedger is a Ledger of one day, in memory.
type dayLedger struct {
	spends  []policy.SpendRequest
	settled map[int64]policy.Settlement
	refuse  policy.Reservation
	err     error
}

func (b *dayLedger) Reserve(_ context.Context, s policy.SpendRequest) (policy.Reservation, error) {
	if b.err != nil || b.refuse.Refused != "" {
		return b.refuse, b.err
	}
	b.spends = append(b.spends, s)
	return policy.Reservation{ID: int64(len(b.spends))}, nil
}

func (b *dayLedger) Settle(ctx context.Context, id int64, s policy.Settlement) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if b.settled == nil {
		b.settled = map[int64]policy.Settlement{}
	}
	b.settled[id] = s
	return nil
}

// budgetedBy wraps a model with a budget. A million tokens cost one currency unit for input and two for output.
func budgetedBy(t *testing.T, b *dayLedger, m Model) Model {
	t.Helper()
	wrapped, err := Budgeted(m, Budget{
		Ledger: b, Price: Price{In: 1_000_000, Out: 2_000_000}, DayCap: 900, ChatCap: 90,
		Today: func() string { return "2026-11-20" },
	})
	require.NoError(t, err)
	return wrapped
}

// worstCost is the worst-case cost of asks("hi") with an answer of 100 tokens: overheads and two bytes at one unit, and the answer at two.
const worstCost = requestOverhead + 2*messageOverhead + 2 + 200

func request100() Request {
	r := newRequest("hi")
	r.MaxTokens, r.Chat = 100, 7
	return r
}

func TestBudget_ReservesWorstCase(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	_, err := Complete(t.Context(), budgetedBy(t, b, newScript(one(textStep("yes"), stopStep(), usageStep(10, 3)))), request100())
	require.NoError(t, err)
	require.Equal(t, []policy.SpendRequest{{
		Day: "2026-11-20", Chat: 7, Purpose: "ask", Model: "test/model", Amount: worstCost, DayCap: 900, ChatCap: 90,
	}}, b.spends)
}

func TestBudget_SettlesCertainCost(t *testing.T) {
	t.Parallel()
	full := policy.Settlement{Amount: worstCost}
	for name, c := range map[string]struct {
		steps []step
		want  policy.Settlement
	}{
		"the usage that was reported": {
			one(textStep("yes"), stopStep(), usageStep(10, 3)),
			policy.Settlement{Amount: 16, In: 10, Out: 3},
		},
		"more than the worst case, when it was so": {
			one(textStep("yes"), stopStep(), usageStep(1000, 3)),
			policy.Settlement{Amount: 1006, In: 1000, Out: 3},
		},
		"an empty answer":                           {one(stopStep(), usageStep(10, 0)), policy.Settlement{Amount: 10, In: 10}},
		"no usage in full":                          {one(textStep("yes"), stopStep()), full},
		"usage of nothing in full":                  {one(textStep("yes"), stopStep(), usageStep(10, 0)), full},
		"usage beyond belief in full":               {one(textStep("yes"), stopStep(), usageStep(1<<62, 1)), full},
		"a wrong key at nothing":                    {one(reasonStep(ReasonKey)), policy.Settlement{}},
		"nobody there at nothing":                   {one(reasonStep(ReasonUnreachable)), policy.Settlement{}},
		"too many requests at nothing":              {one(reasonStep(ReasonRateLimit)), policy.Settlement{}},
		"a broken server in full":                   {one(reasonStep(ReasonServer)), full},
		"a timeout in full":                         {one(reasonStep(ReasonTimeout)), full},
		"a cut answer in full, whatever it counted": {one(textStep("ye"), usageStep(10, 1), reasonStep(ReasonDisconnected)), full},
		"a refusal after words in full":             {one(textStep("ye"), reasonStep(ReasonRateLimit)), full},
		"an error of another kind in full":          {one(errorStep(context.Canceled)), full},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &dayLedger{}
			_, err := Complete(t.Context(), budgetedBy(t, b, newScript(c.steps)), request100())
			require.Equal(t, c.steps[len(c.steps)-1].err, err)
			require.Equal(t, map[int64]policy.Settlement{1: c.want}, b.settled)
		})
	}
}

func TestBudget_ChargesFullyOnEarlyStop(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	for _, err := range budgetedBy(t, b, newScript(one(textStep("yes"), usageStep(10, 3), stopStep()))).Stream(t.Context(), request100()) {
		require.NoError(t, err)
		break
	}
	require.Equal(t, map[int64]policy.Settlement{1: {Amount: worstCost}}, b.settled)
}

func TestBudget_SettlesAfterCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &dayLedger{}
	for _, err := range budgetedBy(t, b, newScript(one(textStep("yes"), errorStep(context.Canceled)))).Stream(ctx, request100()) {
		cancel()
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	require.Equal(t, map[int64]policy.Settlement{1: {Amount: worstCost}}, b.settled)
}

func TestBudget_RefusesWithoutCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse policy.Reservation
		says   string
	}{
		"the day's cap":  {policy.Reservation{Refused: "day", FirstRefusal: true}, "test/model: today's budget is used up"},
		"the chat's cap": {policy.Reservation{Refused: "chat"}, "test/model: today's budget of this chat is used up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(one(textStep("yes"), stopStep()))
			m, _ := newRecordingRetry(budgetedBy(t, &dayLedger{refuse: c.refuse}, s))
			_, err := Complete(t.Context(), m, request100())
			require.ErrorIs(t, err, ErrOverBudget)
			require.EqualError(t, err, c.says)
			var over *OverBudgetError
			require.ErrorAs(t, err, &over)
			require.Equal(t, c.refuse.FirstRefusal, over.FirstToday)
			require.Equal(t, c.refuse.Refused, over.Cap)
			require.Zero(t, s.made)
		})
	}
}

func TestBudget_FailsWithoutLedger(t *testing.T) {
	t.Parallel()
	gone := errors.New("database is gone")
	s := newScript(one(textStep("yes"), stopStep()))
	_, err := Complete(t.Context(), budgetedBy(t, &dayLedger{err: gone}, s), request100())
	require.ErrorIs(t, err, gone)
	require.Zero(t, s.made)
}

func TestRetry_PaysEachAttempt(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	m, _ := newRecordingRetry(budgetedBy(t, b, newScript(one(reasonStep(ReasonServer)), one(reasonStep(ReasonRateLimit)),
		one(textStep("yes"), stopStep(), usageStep(10, 3)))))
	_, err := Complete(t.Context(), m, request100())
	require.NoError(t, err)
	require.Equal(t, map[int64]policy.Settlement{1: {Amount: worstCost}, 2: {}, 3: {Amount: 16, In: 10, Out: 3}}, b.settled)
}

func TestMaxUsage_BoundsUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		request Request
		in, out int64
	}{
		"an empty request":  {Request{MaxTokens: 5}, requestOverhead + messageOverhead, 5},
		"instructions":      {Request{System: "be kind"}, requestOverhead + messageOverhead + 7, 0},
		"all messages":      {Request{Messages: append(user("ab"), user("cde")...)}, requestOverhead + 3*messageOverhead + 5, 0},
		"other scripts":     {Request{Messages: user("日本")}, requestOverhead + 2*messageOverhead + 6, 0},
		"broken characters": {Request{Messages: user("\xff\xfe")}, requestOverhead + 2*messageOverhead + 6, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, Usage{In: c.in, Out: c.out}, maxUsage(c.request))
		})
	}
}

func TestBudget_LimitsEveryRequest(t *testing.T) {
	t.Parallel()
	b := &dayLedger{}
	_, err := Complete(t.Context(), budgetedBy(t, b, newScript(one(stopStep()))), newRequest(strings.Repeat("x", 2)))
	require.NoError(t, err)
	require.EqualValues(t, worstCost-200+2*DefaultMaxTokens, b.spends[0].Amount)
}

func TestCostIsRoundedUp(t *testing.T) {
	t.Parallel()
	price := Price{In: 150_000, Out: 600_000}
	require.EqualValues(t, 0, price.Cost(Usage{}))
	require.EqualValues(t, 1, price.Cost(Usage{In: 1}))
	require.EqualValues(t, 750_000, price.Cost(Usage{In: 1_000_000, Out: 1_000_000}))
	require.EqualValues(t, 2, price.Cost(Usage{In: 6, Out: 1}))
	require.EqualValues(t, 3, price.Cost(Usage{In: 20}))
}

func TestIsCut_TellsPartlyReadPrompt(t *testing.T) {
	t.Parallel()
	const words = 5000
	prompt := Request{System: strings.Repeat("words ", words)} // 30,000 bytes
	for name, c := range map[string]struct {
		in  int64
		cut bool
	}{
		"as many as usual":           {7_000, false},
		"a frugal tokenizer":         {5_001, false},
		"a window of 4,096":          {4_096, true},
		"a window of 8,192":          {8_192, true},
		"far too few":                {2_000, true},
		"a power of two that is all": {16_384, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.cut, isCut(prompt, Usage{In: c.in, Out: 10}))
		})
	}
	require.False(t, isCut(Request{System: "short"}, Usage{In: 1}))
}

// A reasoning model whose thoughts use up the limit is asked once more with a higher one.
func TestComplete_AsksLongerOnce(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(t, func(_ context.Context, r llmtest.Request) llmtest.Reply {
		if r.MaxTokens < 4000 {
			return llmtest.Reply{Text: "half an ans", Stop: "length"}
		}
		return llmtest.Reply{Text: "a whole answer"}
	})
	models, err := New(Options{
		Providers: map[string]Provider{"openai": {BaseURL: server.URL, Local: true}},
		MaxTokens: 1000,
		Budget:    Budget{Ledger: &dayLedger{}, DayCap: 1 << 50, Today: func() string { return "2026-11-20" }},
	})
	require.NoError(t, err)
	m, err := models.Open([]string{"openai/test"}, "")
	require.NoError(t, err)
	res, err := Complete(t.Context(), m, Request{Messages: []Message{{Role: RoleUser, Text: "why?"}}})
	require.NoError(t, err)
	require.Equal(t, "a whole answer", res.Text)
	require.Len(t, server.Requests(), 2)
	require.Equal(t, 1000, server.Requests()[0].MaxTokens)
	require.Equal(t, 4000, server.Requests()[1].MaxTokens)
}
