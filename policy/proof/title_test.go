package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDenial_OfTitles(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		passage string
		want    bool
	}{
		"What we do not do":                           {"Bodywork and windscreens.", true},
		"WHAT WE DON'T DO":                            {"Bodywork and windscreens.", true},
		"Not included":                                {"Drinks and towels.", true},
		"QUÉ NO HACEMOS":                              {"Chapa y pintura, lunas.", true},
		"Was wir nicht machen":                        {"Lackierung und Autoglas.", true},
		"Ce que nous ne faisons pas":                  {"La carrosserie et les vitres.", true},
		"What we do":                                  {"Servicing and brakes.", false},
		"No-show policy":                              {"You pay half of the price.", false},
		"Without an appointment":                      {"Come on Monday from 9 to 12.", false},
		"Ohne Anmeldung":                              {"Kommen Sie am Montag.", false},
		"Dogs are not allowed at breakfast in summer": {"Breakfast is from 8 to 10.", false},
		"": {"Breakfast is from 8 to 10.", false},
	} {
		require.Equal(t, c.want, Denial(title, c.passage, 2), title)
	}
}
