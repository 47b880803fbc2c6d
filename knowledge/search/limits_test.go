package search

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestQuote_KeepsLimitBesideIt(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat(" The old mill by the river was built of stone by the monks of the abbey.", 5)
	for name, c := range map[string]struct {
		passage, question string
		want              []string
	}{
		"an exception after it": {
			"Guests park free of charge in the yard. Except in August, when a place costs 5 euro." + rest, "Is parking in the yard free?",
			[]string{"Guests park free of charge", "Except in August"},
		},
		"a limit before it": {
			"Only for members of the club. Guests park free of charge in the yard." + rest, "Is parking in the yard free?",
			[]string{"Only for members", "Guests park free of charge"},
		},
		"in German": {
			"Hunde sind in den Zimmern willkommen. Ausgenommen sind Kampfhunde." + strings.Repeat(" Die alte Mühle am Fluss ist aus Stein, und die Mönche haben sie gebaut.", 5),
			"Sind Hunde in den Zimmern willkommen?",
			[]string{"Hunde sind", "Ausgenommen"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := MatchQuotes([]Hit{{Text: c.passage, Section: "House"}}, Asked{Text: c.question})
			require.NotEmpty(t, m.Near)
			for _, part := range c.want {
				require.Contains(t, m.Near[0].Text, part)
			}
			require.NotContains(t, m.Near[0].Text, strings.TrimSpace(rest))
		})
	}
}
