package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/run"
	"multis/knowledge/search"
)

func TestPlainQuote_ReadsAsMessage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ quote, want string }{
		"a row":                     {"Item: Curtains per kg; Dry clean: 11.60; Ready after: 7 days", "Item: Curtains per kg\nDry clean: 11.60\nReady after: 7 days"},
		"a value with a semicolon":  {"Item: Mountain bike; Price: £36; Remark: week £155; not on Mondays", "Item: Mountain bike\nPrice: £36\nRemark: week £155; not on Mondays"},
		"several rows":              {"| Item: Bread; Price: 3 €\n| Item: Cake; Price: 4 €", "Item: Bread\nPrice: 3 €\n\nItem: Cake\nPrice: 4 €"},
		"cells without names":       {"| Bread | 3 € |\n| Cake | 4 € |", "Bread: 3 €\nCake: 4 €"},
		"wrapped lines of a PDF":    {"The reception is staffed from seven in the morning until\nlate in the evening. Dogs are\nwelcome.", "The reception is staffed from seven in the morning until late in the evening. Dogs are welcome."},
		"items":                     {"- Towels\n- Soap", "Towels\nSoap"},
		"numbered items":            {"1. Ring the bell.\n2. Wait.", "1. Ring the bell.\n2. Wait."},
		"a question with its reply": {"**Is there parking?**\nYes, behind the house.", "Is there parking? Yes, behind the house."},
		"prose with a semicolon":    {"We open at nine; on Sundays we are closed.", "We open at nine; on Sundays we are closed."},
		"an empty quote":            {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, plainQuote(c.quote))
		})
	}
}

// What is checked is the quote, so what is sent has its words, whatever it consists of.
func FuzzPlainQuote(f *testing.F) {
	for _, seed := range []string{"A: 1; B: 2", "| a | b |", "1. a\n2) b\n```\nc\n```", "# a\n> b\n\n- c: d; e: ", "a\u200bb | **c**", "12. \n3. 4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, quote string) {
		require.Equal(t, plainWords(run.WithoutMarkup(quote)), plainWords(plainQuote(quote)))
	})
}

// Without the title that denies it, a quote says the opposite.
func TestQuoteText_KeepsDenyingTitle(t *testing.T) {
	t.Parallel()
	const text = "Lackierung, Autoglas und Polster."
	for title, want := range map[string]string{
		"Was wir nicht machen": "Was wir nicht machen: " + text,
		"Was wir machen":       text,
		"Kein Termin frei?":    text,
	} {
		hit := search.Hit{Section: "Werkstatt" + search.SectionSeparator + title, Text: text}
		require.Equal(t, want, quoteText(search.Quote{Hit: hit, Text: text}), title)
		hit = search.Hit{Section: "Werkstatt", Text: title + "\n" + text}
		require.Equal(t, want, quoteText(search.Quote{Hit: hit, Text: text, From: len(title) + 1}), title)
	}
}
