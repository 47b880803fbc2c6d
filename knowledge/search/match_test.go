package search

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMatchQuotes_NeedsEveryWord(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{
			Title:   "camp.md",
			Section: "Pitches",
			Text:    "| Pitch: Tent, small; April–June: £14; July: £19\n| Pitch: Tent, large; April–June: £21; July: £28\n| Pitch: Pod",
		},
		{
			Title:   "camp.md",
			Section: "Rules",
			Text: "Campfires are allowed on the beach only.\n\nChildren under 12 need an adult at the lake.\n\n" +
				"We are open Wednesday to Sunday.",
		},
		{
			Title: "camp.md", Section: "Contact",
			Text: "Lake Road 3, 9990-001 Pinewood. We have 40 pitches.\n\n| Hut without power: £30\n| Hut with power: £40",
		},
		{Title: "salon.txt", Text: "Hunde sind im Salon nicht erlaubt.\n\nDie Dauerwelle kostet 60 Euro."},
	}
	for question, want := range map[string]string{
		"how much is a small tent":                     "Pitch: Tent, small; April–June: £14; July: £19",
		"how much is the pod":                          "",
		"where are you":                                "Lake Road 3, 9990-001 Pinewood. We have 40 pitches.",
		"when can I come by":                           "We are open Wednesday to Sunday.",
		"how much is a hut without power":              "Hut without power: £30",
		"how much is a hut with power":                 "Hut with power: £40",
		"when are those":                               "",
		"r campfirs allowed at the beach":              "Campfires are allowed on the beach only.",
		"can my 9 year old swim in the lake":           "",
		"does our 9 year old need an adult":            "Children under 12 need an adult at the lake.",
		"are you open on fridays":                      "We are open Wednesday to Sunday.",
		"was kostet die dauerwelle bei euch":           "Die Dauerwelle kostet 60 Euro.",
		"what does a perm for my aunt cost":            "",
		"puis-je venir avec mon chien ?":               "",
		"do you have a swimming pool":                  "",
		"kann ich meinen hund in den salon mitbringen": "Hunde sind im Salon nicht erlaubt.",
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			m := MatchQuotes(hits, Asked{Text: question})
			if want == "" {
				require.False(t, m.Found, m.Quote.Text)
				return
			}
			require.True(t, m.Found, m.Near)
			require.Equal(t, want, m.Quote.Text)
		})
	}
}

// A question how long something takes is not answered by what it costs, one about opening hours not by a sentence that says
// more than that, and hours count with full stops as well.
func TestMatchQuotes_SaysWhatIsAsked(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{Title: "werkplaats.md", Section: "Prijzen", Text: "| Werk: Grote beurt; Prijs: € 95,00\n| Werk: Kleine beurt; Prijs: € 60,00"},
		{Title: "werkplaats.md", Section: "Zo werkt het", Text: "Een grote beurt duurt in april en mei 3 dagen, want dan is het druk."},
		{
			Title:   "wall.md",
			Section: "Opening hours",
			Text: "Sunday 10am - 6pm\n\nWe close for three days at Christmas and on Easter Sunday, and the last entry is one hour " +
				"before that.",
		},
		{
			Title:   "winkel.md",
			Section: "Openingstijden",
			Text:    "zaterdag 9.00 - 16.00\n\nMet carnaval zijn we dicht van zaterdag tot en met dinsdag.",
		},
		{Title: "vet.md", Section: "Prices", Text: "A nail trim on a small rabbit takes about ten minutes, from then on it is quicker."},
	}
	for question, want := range map[string]string{
		"hoe lang duurt een grote beurt":         "",
		"wat kost een grote beurt":               "Werk: Grote beurt; Prijs: € 95,00",
		"what time are you open til on sundays?": "Sunday 10am - 6pm",
		"tot hoe laat zijn jullie zaterdag open": "zaterdag 9.00 - 16.00",
		"where abouts do you trim the rabbit?":   "",
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			m := MatchQuotes(hits, Asked{Text: question})
			if want == "" {
				require.False(t, m.Found, m.Quote.Text)
				return
			}
			require.True(t, m.Found, m.Near)
			require.Equal(t, want, m.Quote.Text)
		})
	}
}

func TestMatchQuotes_JoinsFollowUp(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{Title: "camp.md", Section: "Pitches", Text: "| Pitch: Tent, small; Price: £14\n| Pitch: Tent, large; Price: £21"},
		{Title: "camp.md", Section: "Kiosk", Text: "Fresh rolls are sold on Saturdays. A large coffee costs £3."},
	}
	before := []string{"how much is a small tent"}
	m := MatchQuotes(hits, Asked{Text: "and a large one?", Before: before})
	require.True(t, m.Found, m.Near)
	require.Equal(t, "Pitch: Tent, large; Price: £21", m.Quote.Text)
	m = MatchQuotes(hits, Asked{Text: "and on saturdays?", Before: before})
	require.False(t, m.Found, m.Quote.Text)
}

func TestMatchQuotes_ToleratesUnknownWord(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{Title: "shop.md", Section: "Prices", Text: "| Item: Kettle; Price: £21\n| Item: Teapot; Price: £18"},
		{Title: "shop.md", Section: "Dentist", Text: "| Treatment: Metal braces; Price: £2100"},
		{Title: "shop.md", Section: "Payment", Text: "You pay by card."},
	}
	for question, want := range map[string]string{
		"how much is a shiny kettle":       "Item: Kettle; Price: £21",
		"would you sharpen a shiny teapot": "",
		"how much is a shiny curvy kettle": "",
		"can i pay in metal":               "",
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			m := MatchQuotes(hits, Asked{Text: question})
			require.Equal(t, want != "", m.Found, m.Near)
			if m.Found {
				require.Equal(t, want, m.Quote.Text)
			}
		})
	}
}

func TestMatchQuotes_ComparesLimits(t *testing.T) {
	t.Parallel()
	hits := []Hit{{
		Title:   "kennel.md",
		Section: "Prices",
		Text:    "| Stay: dog up to 10 kg; Price: £60\n| Stay: dog from 10 to 25 kg; Price: £72\n| Stay: dog over 25 kg; Price: £88",
	}}
	for question, want := range map[string]string{
		"how much is a stay for a dog of 8 kg":  "Stay: dog up to 10 kg; Price: £60",
		"how much is a stay for a dog of 15 kg": "Stay: dog from 10 to 25 kg; Price: £72",
		"how much is a stay for a dog of 30 kg": "Stay: dog over 25 kg; Price: £88",
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			m := MatchQuotes(hits, Asked{Text: question})
			require.True(t, m.Found, m.Near)
			require.Equal(t, want, m.Quote.Text)
		})
	}
}

func TestMatchQuotes_LeadsAllOthers(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{Title: "salon.md", Section: "Prices", Text: "| Service: Cut and blow-dry; Price: £39\n| Service: Cut with beard trim; Price: £37"},
		{Title: "salon.md", Section: "Rules", Text: "We heat with wood.\n\nThe pool opens in June."},
	}
	for question, isFound := range map[string]bool{
		"how much is a cut and blow-dry":   true,
		"how much is a cut":                false, // two have it
		"how many calories does wood have": false, // what is counted is unknown
		"when does the sauna open":         false, // a half is unknown
		"when does the pool open":          true,
	} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			m := MatchQuotes(hits, Asked{Text: question})
			require.Equal(t, isFound, m.Found, m.Near)
		})
	}
}

func TestMatchQuotes_HeedsRestOfMessage(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{Title: "dentist.md", Section: "Payment", Text: "You pay in three parts from £300."},
		{Title: "dentist.md", Section: "Warranty", Text: "A filling that falls out within two years is replaced."},
	}
	m := MatchQuotes(hits, Asked{Text: "My filling fell out after a year. Do I have to pay?"})
	require.False(t, m.Found, m.Quote.Text)
}

func TestMatchQuotes_SaysWhatIsWhole(t *testing.T) {
	t.Parallel()
	hits := []Hit{{Title: "prices.md", Section: "Prices", Text: "Tuning an upright piano costs £90.\n\nDelivery costs £5."}}
	require.True(t, MatchQuotes(hits, Asked{Text: "what does tuning an upright piano cost"}).Whole)
	require.False(t, MatchQuotes(hits, Asked{Text: "how much is delivery and tuning an upright piano"}).Whole)
}

func TestQuote_HasValuesOfEachQuestion(t *testing.T) {
	t.Parallel()
	q := Quote{Text: "A workshop costs £38.", Hit: Hit{Language: "english"}}
	require.True(t, q.HasValues([]string{"how much is a workshop", "is there tea"}))
	require.False(t, q.HasValues([]string{"how much is a workshop", "when is it"}))
	q.Text = "Each workshop is on Sunday at 10:00 and costs £38."
	require.True(t, q.HasValues([]string{"how much is a workshop", "when is it"}))
}

func TestMatchQuotes_ReplacesDayOfFollowUp(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{Title: "salon.md", Section: "Hours", Text: "| Day: Tuesday; Kinga: 9:00–17:00; Ola: 11:00–19:00"},
		{Title: "salon.md", Section: "Discounts", Text: "Students pay less from Tuesday to Thursday until 14:00."},
	}
	before := []string{"when does Kinga work on Tuesday"}
	m := MatchQuotes(hits, Asked{Text: "and on Thursday?", Before: before})
	require.False(t, m.Found, m.Quote.Text)
}

func TestIsForm_CountsLetters(t *testing.T) {
	t.Parallel()
	for words, want := range map[[2]string]bool{
		{"колесо", "колеса"}:             true,
		{"балансировка", "балансировки"}: true,
		{"шина", "шиш"}:                  false,
		{"duvet", "duvets"}:              true,
		{"with", "without"}:              true,
		{"tune", "tent"}:                 false,
		{"bus", "buses"}:                 true,
		{"bed", "beds"}:                  true,
		{"car", "cards"}:                 false,
	} {
		t.Run(words[0]+" "+words[1], func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, isForm(words[0], words[1]))
		})
	}
}

// No other sentence makes a denial untrue, and a row of Tuesday says nothing of Monday.
func TestMatchQuotes_LeadsByWhatItSays(t *testing.T) {
	t.Parallel()
	hits := []Hit{
		{
			Title:   "garage.md",
			Section: "Garage",
			Text:    "We repair cars and vans.\n\nMotorbikes we do not take.\n\nEach repair has a guarantee of three months.",
		},
		{Title: "garage.md", Section: "Hours", Text: "| Day: Monday; Desk: closed\n| Day: Tuesday - Thursday; Desk: 9 am - 6 pm\n| Day: Friday; Desk: 9 am - 4 pm"},
		{Title: "garage.md", Section: "Water", Text: "Damage by water is not covered.\n\nSwitch a wet phone off and bring it to us."},
	}
	for question, want := range map[string]string{
		"can you repair motorbikes": "Motorbikes we do not take.",
		"are you open on mondays":   "Day: Monday; Desk: closed",
		"can you repair tractors":   "",
		"are you open on saturdays": "",

		"my phone has water damage, what should i do": "",
	} {
		m := MatchQuotes(hits, Asked{Text: question})
		require.Equal(t, want != "", m.Found, "%s: %v", question, m.Near)
		if m.Found {
			require.Equal(t, want, m.Quote.Text)
		}
	}
}
