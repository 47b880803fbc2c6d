package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDenial_OfTitles(t *testing.T) {
	t.Parallel()
	for title, passage := range map[string]string{
		"What we do not do":          "Bodywork and windscreens.",
		"WHAT WE DON'T DO":           "Bodywork and windscreens.",
		"Not included":               "Drinks and towels.",
		"QUÉ NO HACEMOS":             "Chapa y pintura, lunas.",
		"Was wir nicht machen":       "Lackierung und Autoglas.",
		"Ce que nous ne faisons pas": "La carrosserie et les vitres.",
	} {
		require.True(t, Denial(title, passage, 2), title)
	}
	for title, passage := range map[string]string{
		"What we do":             "Servicing and brakes.",
		"No-show policy":         "You pay half of the price.",
		"Without an appointment": "Come on Monday from 9 to 12.",
		"Ohne Anmeldung":         "Kommen Sie am Montag.",
		"":                       "Breakfast is from 8 to 10.",
	} {
		require.False(t, Denial(title, passage, 2), title)
	}
	require.False(t, Denial("Dogs are not allowed at breakfast in summer", "Breakfast is from 8 to 10.", 2))
}
