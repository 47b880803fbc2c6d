package memory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// thursday is a morning in November.
var thursday = time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)

func on(day, hour int) time.Time { return time.Date(2026, 11, day, hour, 0, 0, 0, time.UTC) }

func TestATimeInAQuestionIsReadAndTakenOut(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]struct {
		span Span
		rest string
	}{
		"what came in overnight?":          {Span{on(18, 18), on(19, 10)}, "what came in ?"},
		"was kam über nacht?":              {Span{on(18, 18), on(19, 10)}, "was kam ?"},
		"who wrote this morning":           {Span{on(19, 0), on(19, 12)}, "who wrote"},
		"what happened yesterday?":         {Span{on(18, 0), on(19, 0)}, "what happened ?"},
		"who wrote since Monday?":          {Span{From: on(16, 0)}, "who wrote ?"},
		"what did Ana say since yesterday": {Span{From: on(18, 0)}, "what did Ana say"},
		"since 2026-11-01 Ana":             {Span{From: on(1, 0)}, "Ana"},
		"anything new since 24h":           {Span{From: on(18, 9)}, "anything new"},
		"was gab es seit 3 tagen?":         {Span{From: on(16, 9)}, "was gab es ?"},
		"news of the last 3 days":          {Span{From: on(16, 9)}, "news of"},
		"in the past 2 hours":              {Span{From: on(19, 7)}, ""},
		"since nobody asked":               {Span{}, "since nobody asked"},
		"":                                 {},
	} {
		span, rest := When(question, thursday)
		require.Equal(t, want.span, span, question)
		require.Equal(t, want.rest, rest, question)
	}
}

func TestAQuestionIsAboutWhatWasSaidThenUnlessItsDayMayBeToCome(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		"what came in overnight?", "which customers complained since Monday?", "yesterday?", "what did people want last week?", "what happened on Monday?", "who wrote on 12 November?", "sum up the last 24 hours",
	} {
		require.False(t, AskedTime(question, thursday).IsZero(), question)
	}
	for _, question := range []string{"are we open on Sunday?", "what does delivery cost?", "which invoices are due in May?", "what is on 2026-12-24?", "who wrote about 2026-12-24?", ""} {
		require.True(t, AskedTime(question, thursday).IsZero(), question)
	}
}

func TestAQuestionForWhatWasSaidLastNamesNothingElse(t *testing.T) {
	t.Parallel()
	for _, question := range []string{"what did we talk about last", "What did we talk about last?", "what was said lately?", "was haben wir zuletzt besprochen?", "what did I write last?"} {
		require.Equal(t, thursday.Add(-newestSpan), AskedNewest(question, thursday).From, question)
	}
	for _, question := range []string{"what did we talk about", "what did Ana say last?", "what did we say last about the fence?", "last invoice", "write Ana a message about the latest prices", ""} {
		require.True(t, AskedNewest(question, thursday).IsZero(), question)
	}
}

func FuzzWhen(f *testing.F) {
	for _, seed := range []string{"since since since monday", "since 0 days", "overnight", "in the last 999 weeks", "since über nacht", "last 3 days ago in May 2026"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, question string) {
		span, rest := When(question, thursday)
		require.LessOrEqual(t, len(rest), len(question)+1)
		if span.IsZero() {
			require.Equal(t, question, rest)
		}
		AskedTime(question, thursday)
	})
}
