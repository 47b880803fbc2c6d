package llm

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// step is one thing a scripted call yields.
type step struct {
	delta Delta
	err   error
}

// script is a model that yields one list of steps a call, the last list for all further calls.
type script struct {
	calls [][]step
	made  int
}

func (*script) Name() string { return "test/model" }

func (s *script) Stream(context.Context, Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		steps := s.calls[min(s.made, len(s.calls)-1)]
		s.made++
		for _, step := range steps {
			if !yield(step.delta, step.err) {
				return
			}
		}
	}
}

func text(s string) step         { return step{delta: Delta{Text: s}} }
func stop() step                 { return step{delta: Delta{Stop: StopEnd}} }
func usage(in, out int64) step   { return step{delta: Delta{Usage: Usage{In: in, Out: out}}} }
func fails(err error) step       { return step{err: err} }
func because(reason Reason) step { return fails(&Error{Model: "test/model", Reason: reason}) }
func user(text string) []Message { return []Message{{Role: RoleUser, Text: text}} }
func asks(text string) Request   { return Request{Messages: user(text), Purpose: "ask"} }
func calls(c ...[]step) *script  { return &script{calls: c} }
func one(steps ...step) []step   { return steps }
func reasonOf(err error) (r Reason) {
	if e, ok := errors.AsType[*Error](err); ok {
		r = e.Reason
	}
	return r
}

func TestCompleteCollectsTheAnswer(t *testing.T) {
	t.Parallel()
	res, err := Complete(t.Context(), calls(one(text("On "), usage(5, 1), text("Sunday."), stop(), usage(5, 2))), asks("when?"))
	require.NoError(t, err)
	require.Equal(t, Response{Text: "On Sunday.", Stop: StopEnd, Usage: Usage{In: 5, Out: 2}}, res)
}

func TestCompleteReturnsWhatCameBeforeAnError(t *testing.T) {
	t.Parallel()
	res, err := Complete(t.Context(), calls(one(text("On "), because(ReasonCut))), asks("when?"))
	require.Equal(t, ReasonCut, reasonOf(err))
	require.Equal(t, Response{Text: "On "}, res)
}

func TestNoneHasNoAnswer(t *testing.T) {
	t.Parallel()
	_, err := Complete(t.Context(), None{}, asks("when?"))
	require.ErrorIs(t, err, ErrNoModel)
}

func TestOpenChecksItsSettings(t *testing.T) {
	t.Parallel()
	price := Budget{Price: Price{In: 1, Out: 1}}
	for name, c := range map[string]struct {
		config Config
		budget Budget
		err    error
		says   string
	}{
		"no provider":                 {config: Config{Model: "gpt"}, budget: price, err: ErrConfig, says: `model must be none or openai/NAME, not "gpt"`},
		"no name":                     {config: Config{Model: "openai/"}, budget: price, err: ErrConfig, says: "model must be"},
		"an address without a scheme": {config: Config{Model: "openai/m", BaseURL: "localhost:11434"}, budget: price, err: ErrConfig, says: "base_url must look like"},
		"an address that is none":     {config: Config{Model: "openai/m", BaseURL: "http://%zz"}, budget: price, err: ErrConfig, says: "base_url must look like"},
		"no price":                    {config: Config{Model: "openai/m"}, err: ErrNoPrice, says: "openai/m: "},
		"half a price":                {config: Config{Model: "openai/m"}, budget: Budget{Price: Price{In: 1}}, err: ErrNoPrice},
		"a negative price":            {config: Config{Model: "openai/m"}, budget: Budget{Price: Price{In: -1, Out: 1}, Local: true}, err: ErrNoPrice},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(c.config, c.budget)
			require.ErrorIs(t, err, c.err)
			require.ErrorContains(t, err, c.says)
		})
	}
}

func TestOpenReturnsTheModelThatWasConfigured(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		config Config
		budget Budget
	}{
		"none":            {config: Config{}},
		"none ":           {config: Config{Model: "none"}},
		"openai/m":        {config: Config{Model: "openai/m"}, budget: Budget{Price: Price{In: 1, Out: 1}}},
		"openai/qwen3:4b": {config: Config{Model: "openai/qwen3:4b", BaseURL: "http://localhost:11434/v1"}, budget: Budget{Local: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := Open(c.config, c.budget)
			require.NoError(t, err)
			if c.config.Model == "" {
				require.Equal(t, None{}, m)
			} else {
				require.Equal(t, c.config.Model, m.Name())
			}
		})
	}
}
