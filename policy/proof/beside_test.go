package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLimits_LineBefore(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"Only from May to September.":              true,
		"Not on Sundays.":                          true,
		"Under 12 only with an adult.":             true,
		"Except the double kayak.":                 true,
		"From May to September.":                   true,
		"Nur mit Voranmeldung.":                    true,
		"Bis 22 Uhr.":                              true,
		"Solo de mayo a septiembre.":               true,
		"Under 12: 9 EUR.":                         false,
		"Ab 13 Jahren: 7 €":                        false,
		"Dogs are not allowed.":                    false,
		"No dogs in the boats.":                    false,
		"Ab dem Bahnhof fährt ein Bus zum Strand.": false,
		"The canoe has three seats.":               false,
		"":                                         false,
	} {
		require.Equal(t, want, Limits(line, line), line)
	}
	require.True(t, Limits("Sauf le dimanche.", "Le canoë est à 20 € pour deux heures. Sauf le dimanche."))
}

func TestCheck_SaysLimitBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said, beside, question string
		want                   Outcome
	}{
		"left out":       {"The kayak is 25 EUR for 2 hours.", "Only from May to September.", "what is the kayak", Unknown},
		"left of a copy": {"Kayak, 2 hours: 25 EUR.", "Only from May to September.", "", Unknown},
		"not cited":      {"The kayak is 25 EUR for 2 hours, only from May to September.", "Only from May to September.", "", Contradicts},
		"in the season":  {"The kayak is 25 EUR for 2 hours.", "Only from May to September.", "what is the kayak in June", Follows},
		"for whom":       {"The kayak is 25 EUR for 2 hours.", "Under 12 only with an adult.", "kayak for my 9-year-old?", Unknown},
		"none":           {"The kayak is 25 EUR for 2 hours.", "", "", Follows},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			claim := Claim{Sentence: c.said, Units: []string{"Kayak, 2 hours: 25 EUR."}, Question: c.question}
			if c.beside != "" {
				claim.Beside = []string{c.beside}
			}
			found := Check(claim)
			require.Equal(t, c.want, found.Outcome, found.Reason)
		})
	}
}
