package run

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutComputed_LeavesInventedNumbers(t *testing.T) {
	t.Parallel()
	source := "Breakfast is 16.50 EUR per person. A double is 118 EUR, a single 89 EUR."
	for sentence, want := range map[string][2]string{
		"33 EUR for two":               {" EUR for two", "2"},
		"Together 207 EUR":             {"Together  EUR", ""},
		"29 EUR less":                  {" EUR less", ""},
		"Breakfast is 16,50":           {"Breakfast is 16,50", ""},
		"It costs 34 EUR":              {"It costs 34 EUR", ""},
		"Five nights are 590 EUR":      {"Five nights are  EUR", "5"},
		"Call +43 1 234":               {"Call +43 1 234", ""},
		"A double and breakfast 134.5": {"A double and breakfast ", ""},
		"The single is 89 EUR":         {"The single is 89 EUR", ""},
	} {
		rest, factors := withoutComputed(sentence, source)
		require.Equal(t, want, [2]string{rest, factors}, sentence)
	}
}
