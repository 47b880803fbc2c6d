package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/policy"
	"multis/store/storetest"
)

// A number is a weight only with a unit of weight: neither a price nor a name with a number in it answers how heavy something is.
func TestAnswerType_WeightNeedsWeight(t *testing.T) {
	t.Parallel()
	st := storetest.New(t)
	putTexts(t, st, "The country loaf has 750 g.", "A baguette is 1.80 EUR.", "We repair the Fairphone 5.",
		"Wedding cakes are ordered four weeks ahead.")
	s := New(st)
	for question, want := range map[string]string{
		"How heavy is the country loaf?":                 "The country loaf has 750 g.",
		"How much does the country loaf weigh?":          "The country loaf has 750 g.",
		"How heavy is a baguette?":                       "",
		"What does the Fairphone weigh?":                 "",
		"How long in advance are wedding cakes ordered?": "Wedding cakes are ordered four weeks ahead.",
		"How much is a baguette?":                        "A baguette is 1.80 EUR.",
	} {
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), Query{Text: question})
		require.NoError(t, err)
		q, ok, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		require.Equal(t, want != "", ok, "%s: %s", question, q.Text)
		require.Equal(t, want, q.Text, question)
	}
}
