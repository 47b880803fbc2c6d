package language

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpellDates_TakesThoseOfSources(t *testing.T) {
	t.Parallel()
	sources := []string{"Die Therme ist vom 3. April bis 10. Juni zu.", "Fête le 1er mai", "From October 5 to 30 October.", "7 mayors"}
	for said, want := range map[string]string{
		"Zu vom 03.04. bis zum 10/6": "Zu vom 3. April bis zum 10. Juni",
		"It is 10.06.":               "It is 10.06.",
		"Closed from 3/4 to 10/6":    "Closed from 3. April to 10. Juni",
		"le 1/5.":                    "le 1er mai.",
		"5/10 and 30/10":             "October 5 and 30 October",
		"3/4, 10/6":                  "3. April, 10. Juni",
		"4/4":                        "4/4",
		"7/5":                        "7/5",
		"10.06 €":                    "10.06 €",
		"10.06 euros":                "10.06 euros",
		"Um 10.06 Uhr.":              "Um 10.06 Uhr.",
		"5-10 days":                  "5-10 days",
		"CHF 10.06":                  "CHF 10.06",
		"10.06.2026 and 3/4/26":      "10.06.2026 and 3/4/26",
		"1.3.4, 0,3/4, 3/4-10, 13/4": "1.3.4, 0,3/4, 3/4-10, 13/4",
	} {
		require.Equal(t, want, SpellDates(said, sources...), said)
	}
}
