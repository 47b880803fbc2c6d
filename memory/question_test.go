package memory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// thursday is a morning in November.
var thursday = time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)

func TestQuestionPeriod_Words(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		"what came in overnight?", "which customers complained since Monday?", "yesterday?", "what did people want last week?",
		"what happened on Monday?", "who wrote on 12 November?", "sum up the last 24 hours",
	} {
		require.False(t, QuestionPeriod(question, thursday).IsZero(), question)
	}
	for _, question := range []string{
		"are we open on Sunday?", "what does delivery cost?", "which invoices are due in May?",
		"what is on 2026-12-24?", "who wrote about 2026-12-24?", "",
	} {
		require.True(t, QuestionPeriod(question, thursday).IsZero(), question)
	}
}

func TestLatestPeriod_Words(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		"what did we talk about last", "What did we talk about last?", "what was said lately?",
		"was haben wir zuletzt besprochen?", "what did I write last?",
	} {
		require.Equal(t, thursday.Add(-newestAge), LatestPeriod(question, thursday).From, question)
	}
	for _, question := range []string{
		"what did we talk about", "what did Ana say last?", "what did we say last about the fence?",
		"last invoice", "write Ana a message about the latest prices", "",
	} {
		require.True(t, LatestPeriod(question, thursday).IsZero(), question)
	}
}

func FuzzQuestionPeriod(f *testing.F) {
	for _, seed := range []string{
		"since since since monday", "since 0 days", "overnight", "in the last 999 weeks", "since über nacht",
		"last 3 days ago in May 2026",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, question string) {
		QuestionPeriod(question, thursday)
	})
}
