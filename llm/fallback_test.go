package llm

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
)

// named is a scripted model with a name of its own.
type named struct {
	*script
	name string
}

func (n named) Name() string { return n.name }

func TestFallback_TriesNextModel(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		next bool
	}{
		"a wrong key":                 {failure(ReasonKey), true},
		"a model that is gone":        {failure(ReasonModel), true},
		"no credit":                   {failure(ReasonQuota), true},
		"too many requests":           {failure(ReasonRateLimit), true},
		"an overloaded provider":      {failure(ReasonOverloaded), true},
		"nobody there":                {failure(ReasonUnreachable), true},
		"no trust":                    {failure(ReasonTLS), true},
		"no answer in time":           {failure(ReasonTimeout), true},
		"a broken server":             {failure(ReasonServer), true},
		"a cut line":                  {failure(ReasonDisconnected), true},
		"nonsense":                    {failure(ReasonMalformedReply), true},
		"a call that nobody can read": {failure(ReasonMalformedCall), true},
		"a provider at rest":          {failure(ReasonCircuitOpen), true},
		"a model that is too dear for what's left": {&OverBudgetError{Model: "a/one", Cap: policy.CapDay}, true},
		"a request that nobody would take":         {failure(ReasonRequest), false},
		"a ledger that is gone":                    {errors.New("database is gone"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newScript(one(errorStep(c.err))), newScript(one(textStep("yes"), stopStep()))
			res, err := Complete(t.Context(), fallback{named{first, "a/one"}, named{second, "b/two"}}, newRequest("hi"))
			require.Equal(t, 1, first.made)
			if !c.next {
				require.Equal(t, c.err, err)
				require.Zero(t, second.made)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "yes", res.Text)
			require.Equal(t, "b/two", res.Model, "it says who answered")
		})
	}
}

func TestFallback_StopsAfterBegunAnswer(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]step{"words": textStep("ye"), "a call": {delta: Delta{Call: &ToolCall{ID: "1", Name: "search"}}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			second := newScript(one(textStep("yes"), stopStep()))
			_, err := Complete(t.Context(), fallback{newScript(one(begun, reasonStep(ReasonDisconnected))), second}, newRequest("hi"))
			require.Equal(t, ReasonDisconnected, reasonOf(err))
			require.Zero(t, second.made)
		})
	}
}

func TestFallback_IgnoresUsageAlone(t *testing.T) {
	t.Parallel()
	res, err := Complete(t.Context(), fallback{
		newScript(one(usageStep(10, 0), reasonStep(ReasonOverloaded))),
		newScript(one(textStep("yes"), stopStep())),
	}, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text)
}

func TestFallback_ErrorHasAll(t *testing.T) {
	t.Parallel()
	over := &OverBudgetError{Model: "b/two", Cap: policy.CapChat}
	_, err := Complete(t.Context(), fallback{newScript(one(reasonStep(ReasonQuota))), newScript(one(errorStep(over)))}, newRequest("hi"))
	require.EqualError(t, err, "test/model: the account has no credit left; then b/two: today's budget of this chat is used up")
	require.Equal(t, ReasonQuota, reasonOf(err))
	require.ErrorIs(t, err, ErrOverBudget)
}

func TestFallback_EndsWithContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	second := newScript(one(textStep("yes"), stopStep()))
	_, err := Complete(ctx, fallback{newScript(one(reasonStep(ReasonTimeout))), second}, newRequest("hi"))
	require.Error(t, err)
	require.Zero(t, second.made)
}

func TestReaderMayStopEarly(t *testing.T) {
	t.Parallel()
	second := newScript(one(textStep("yes"), stopStep()))
	for d, err := range (fallback{newScript(one(textStep("a"), textStep("b"), reasonStep(ReasonServer))), second}).Stream(t.Context(),
		newRequest("hi")) {
		require.NoError(t, err)
		require.Equal(t, "a", d.Text)
		break
	}
	require.Zero(t, second.made)
}
