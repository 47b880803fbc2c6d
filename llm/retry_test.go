package llm

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/internal/sleep"
)

// newRecordingRetry returns a retryModel that does not wait, and the list of the waits that it left out.
func newRecordingRetry(m Model) (retryModel, *[]time.Duration) {
	waits := &[]time.Duration{}
	return retryModel{Model: m, breaker: &breaker{now: time.Now}, pause: func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}}, waits
}

func TestRetry_OnlyTransientErrors(t *testing.T) {
	t.Parallel()
	for reason, made := range map[Reason]int{
		ReasonRateLimit:      3,
		ReasonUnreachable:    3,
		ReasonTimeout:        3,
		ReasonServer:         3,
		ReasonDisconnected:   3,
		ReasonOverloaded:     3,
		ReasonMalformedCall:  3,
		ReasonTLS:            1,
		ReasonCircuitOpen:    1,
		ReasonKey:            1,
		ReasonModel:          1,
		ReasonRequest:        1,
		ReasonQuota:          1,
		ReasonMalformedReply: 1,
	} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			s := newScript(one(reasonStep(reason)))
			m, waits := newRecordingRetry(s)
			_, err := Complete(t.Context(), m, newRequest("hi"))
			require.Equal(t, reason, reasonOf(err))
			require.Equal(t, made, s.made)
			require.Len(t, *waits, made-1)
		})
	}
}

func TestRetry_WaitsLongerEachTime(t *testing.T) {
	t.Parallel()
	m, waits := newRecordingRetry(newScript(one(reasonStep(ReasonServer))))
	_, err := Complete(t.Context(), m, newRequest("hi"))
	require.Error(t, err)
	require.GreaterOrEqual(t, (*waits)[0], firstBackoff)
	require.Less(t, (*waits)[0], 2*firstBackoff)
	require.GreaterOrEqual(t, (*waits)[1], 2*firstBackoff)
}

func TestRetry_YieldsLaterAnswer(t *testing.T) {
	t.Parallel()
	s := newScript(one(reasonStep(ReasonServer)), one(textStep("yes"), stopStep()))
	m, _ := newRecordingRetry(s)
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.NoError(t, err)
	require.Equal(t, "yes", res.Text)
	require.Equal(t, 2, s.made)
}

func TestRetry_StopsAfterBegunAnswer(t *testing.T) {
	t.Parallel()
	s := newScript(one(textStep("ye"), reasonStep(ReasonDisconnected)), one(textStep("yes"), stopStep()))
	m, _ := newRecordingRetry(s)
	res, err := Complete(t.Context(), m, newRequest("hi"))
	require.Equal(t, ReasonDisconnected, reasonOf(err))
	require.Equal(t, "ye", res.Text)
	require.Equal(t, 1, s.made)
}

func TestRetry_RespectsRetryAfter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked time.Duration
		waits []time.Duration
	}{
		"a short wait is waited out":                     {asked: 7 * time.Second, waits: []time.Duration{7 * time.Second, 7 * time.Second}},
		"a long wait is left to whoever made the call":   {asked: time.Hour, waits: []time.Duration{}},
		"the longest wait that is waited out right here": {asked: maxPause, waits: []time.Duration{maxPause, maxPause}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, waits := newRecordingRetry(newScript(one(errorStep(&Error{Reason: ReasonRateLimit, RetryAfter: c.asked}))))
			_, err := Complete(t.Context(), m, newRequest("hi"))
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.asked, e.RetryAfter)
			require.Equal(t, c.waits, *waits)
		})
	}
}

func TestRetry_EndsWithCaller(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := newScript(one(reasonStep(ReasonServer)))
	_, err := Complete(ctx, retryModel{Model: s, breaker: &breaker{now: time.Now}, pause: sleep.For}, newRequest("hi"))
	require.Equal(t, ReasonServer, reasonOf(err))
	require.Equal(t, 1, s.made)
}

func TestRetry_LetsReaderLeave(t *testing.T) {
	t.Parallel()
	s := newScript(one(textStep("a"), textStep("b"), reasonStep(ReasonServer)))
	m, _ := newRecordingRetry(s)
	for d, err := range m.Stream(t.Context(), newRequest("hi")) {
		require.NoError(t, err)
		require.Equal(t, "a", d.Text)
		break
	}
	require.Equal(t, 1, s.made)
}
