package llm

import (
	"context"
	"errors"
	"io"
	"iter"
	"log" //nolint:depguard // net/http takes no other
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

// script is a Model. Each call yields the next list of steps; the last list is repeated.
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

func textStep(s string) step         { return step{delta: Delta{Text: s}} }
func stopStep() step                 { return step{delta: Delta{Stop: StopEnd}} }
func usageStep(in, out int64) step   { return step{delta: Delta{Usage: Usage{In: in, Out: out}}} }
func errorStep(err error) step       { return step{err: err} }
func reasonStep(reason Reason) step  { return errorStep(&Error{Model: "test/model", Reason: reason}) }
func user(text string) []Message     { return []Message{{Role: RoleUser, Text: text}} }
func newRequest(text string) Request { return Request{Messages: user(text), Purpose: "ask"} }
func newScript(c ...[]step) *script  { return &script{calls: c} }
func one(steps ...step) []step       { return steps }
func reasonOf(err error) (r Reason) {
	if e, ok := errors.AsType[*Error](err); ok {
		r = e.Reason
	}
	return r
}

func TestComplete_CollectsAnswer(t *testing.T) {
	t.Parallel()
	res, err := Complete(t.Context(), newScript(one(textStep("On "), usageStep(5, 1), textStep("Sunday."), stopStep(), usageStep(5, 2))),
		newRequest("when?"))
	require.NoError(t, err)
	require.Equal(t, Response{Text: "On Sunday.", Stop: StopEnd, Usage: Usage{In: 5, Out: 2}, Model: "test/model"}, res)
}

func TestComplete_ReturnsIncompleteAnswer(t *testing.T) {
	t.Parallel()
	res, err := Complete(t.Context(), newScript(one(textStep("On "), reasonStep(ReasonDisconnected))), newRequest("when?"))
	require.Equal(t, ReasonDisconnected, reasonOf(err))
	require.Equal(t, Response{Text: "On ", Model: "test/model"}, res)
}

func TestNoneHasNoAnswer(t *testing.T) {
	t.Parallel()
	_, err := Complete(t.Context(), None{}, newRequest("when?"))
	require.ErrorIs(t, err, ErrNoModel)
}

// quiet is for servers that are expected to be refused.
var quiet = log.New(io.Discard, "", 0)
