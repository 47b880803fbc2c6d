package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// hotel is what the sentences of the tests cite.
var hotel = []string{ //nolint:gochecknoglobals // a constant, were there constant lists
	"Dogs: 12 EUR per night, not in the family suite.",
	"Cancellation is free until 14 days before arrival; from 13 to 3 days before arrival we keep the deposit.",
	"Breakfast is from 7:00 to 10:30 and costs 16.50 EUR per person.",
	"The sauna is for guests aged 16 and over.",
}

func TestFindGap_TrueSentencesPass(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct{ unit, question string }{
		"Dogs are 12 EUR per night, but not in the family suite.":                   {hotel[0], "Can I bring my dog?"},
		"Breakfast is from seven to half past ten.":                                 {hotel[2], "When is breakfast?"},
		"Breakfast costs €16.50 per person.":                                        {hotel[2], "How much is breakfast?"},
		"At 17 your daughter can use the sauna, it is for guests aged 16 and over.": {hotel[3], "Can my daughter use the sauna? She is 17."},
		"Cancellation is free until 14 days before arrival.":                        {hotel[1], "Can I cancel?"},
		"Sorry, dogs are not allowed in the family suite.":                          {hotel[0], "Dogs in the family suite?"},
		"Das Frühstück gibt es von sieben bis halb elf.": {
			"Frühstück gibt es von 7:00 bis 10:30 Uhr.",
			"Wann gibt es Frühstück?",
		},
		"Avbokning är kostnadsfri till och med tre dagar före ankomst.": {"Avbokning är kostnadsfri till och med tre dagar före ankomst.", ""},
		"Sí, la piscina abre de diez a ocho de la tarde.":               {"La piscina abre de 10:00 a 20:00.", "¿Abre la piscina?"},
		"Les chiens sont acceptés, sauf dans la suite.": {
			"Les chiens sont acceptés, sauf dans la suite.",
			"Et mon chien ?",
		},
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, FindGap(Claim{Sentence: said, Units: []string{c.unit}, Question: c.question}))
		})
	}
}

func TestFindGap_FalseSentencesFail(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"Yes, dogs are welcome in the family suite and in the sauna.",
		"Dogs are allowed in the family suite.",
		"Yes, cancellation is free until 3 days before arrival.",
		"Cancellation is free from 14 days before arrival.",
		"Cancellation is free.",
		"Breakfast costs 33 EUR for two.",
		"Breakfast costs 16.50 forint per person.",
		"Breakfast costs -16.50 EUR per person.",
		"Breakfast costs 16.50 EUR per night.",
		"Breakfast is included.",
		"Breakfast is from 7:00 to 11:30.",
		"Breakfast is not served.",
		"I have booked breakfast for two persons.",
		"We will keep the deposit for you.",
		"The sauna is for guests under 16.",
		"Breakfast costs 🖐 EUR.",
		"It is on us.",
		"Yes.",
		"",
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, FindGap(Claim{Sentence: said, Units: hotel, Question: "Can I bring two dogs, and cancel 3 days before?"}))
		})
	}
}

func TestFindGap_KeepsToRow(t *testing.T) {
	t.Parallel()
	rows := []string{
		"Room: Double, lake view | Low season: 118 EUR | High season: 159 EUR",
		"Room: Single | Low season: 69 EUR | High season: 89 EUR",
	}
	for said, follows := range map[string]bool{
		"A double with lake view is 118 EUR in the low season.": true,
		"A single is 89 EUR in the high season.":                true,
		"A single is 159 EUR in the high season.":               false,
		"The double costs 69 EUR.":                              false,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			gap := FindGap(Claim{Sentence: said, Units: rows, Question: "What is a room?"})
			require.Equal(t, follows, gap == "", gap)
		})
	}
}

// FuzzFindGap checks that no claim makes the check panic, and that a sentence with another number is never taken.
func FuzzFindGap(f *testing.F) {
	f.Add("Breakfast costs 16.50 EUR per person.", hotel[2], "How much for 2?")
	f.Fuzz(func(_ *testing.T, said, unit, question string) {
		FindGap(Claim{Sentence: said, Units: []string{unit}, Headings: []string{question}, Question: question})
	})
}
