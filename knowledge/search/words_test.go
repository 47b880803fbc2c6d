package search

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestWords_FoldSpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"case and marks of punctuation", "Hello, WORLD!", "hello world"},
		{"accents", "Café Müller naïve Ångström", "cafe muller naive angstrom"},
		{"accents written apart", "Cafe\u0301", "cafe"},
		{"letters of another width", "ＡＢＣ１２", "abc 12"},
		{"numbers with units", "5kg 2.50€ 9:00", "5 kg 2 50 9 00"},
		{"irregular forms", "children bought loaves", "child buy loaf"},
		{"nouns of verbs", "Delivery and payment", "deliver and pay"},
		{"names of days", "Mon-Sat", "monday saturday"},
		{"apostrophes", "Caroline's don't", "caroline s don t"},
		{"other scripts keep their marks", "Привет हिन्दी 日本", "привет हिन्दी 日本"},
		{"nothing", " -- ", ""},
	} {
		require.Equal(t, c.want, strings.Join(Words(c.text), " "), c.name)
	}
}

func TestWords_JoinLetterAndHyphen(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"an", "e", "bike", "ebike", "or", "a", "b", "shirts"}, Words("An E-Bike, or a B: shirts"))
	require.Equal(t, []string{"x", "2", "y", "no"}, Words("x-2 y — no"))
}

func TestWords_OmitFileExtension(t *testing.T) {
	t.Parallel()
	require.Equal(t, "price list bread rye", IndexText("price-list.md", "Bread", "Rye"))
}

func TestIsQuestion_Forms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"Really? ": true, "本当？": true, "حقا؟": true, "What? No.": false, "": false} {
		require.Equal(t, want, IsQuestion(text), text)
	}
}

func pieces(text string) []string {
	var list []string
	from := 0
	for _, to := range BreakOffsets(text) {
		if piece := strings.TrimSpace(text[from:to]); piece != "" {
			list = append(list, piece)
		}
		from = to
	}
	return list
}

func TestBreaks_OfText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 13)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"sentences", "One. Two? Three! Four", []string{"One.", "Two?", "Three!", "Four"}},
		{"quotes and brackets behind the end", `He said "no." Then (he left.) Gone.`, []string{`He said "no."`, "Then (he left.)", "Gone."}},
		{"abbreviations", "Dr. Who pays approx. 5 €, e.g. No. 7. Done.", []string{"Dr. Who pays approx. 5 €, e.g. No. 7.", "Done."}},
		{"days with points", "Vom 4. bis 22. August zu. Danach offen.", []string{"Vom 4. bis 22. August zu.", "Danach offen."}},
		{"ordinals", "Graben 8, 1. Stock, im 2. Hof. Jeden 3. Samstag.", []string{"Graben 8, 1. Stock, im 2. Hof.", "Jeden 3. Samstag."}},
		{"a number at the end", "We close at 8. On Sundays at 6.", []string{"We close at 8.", "On Sundays at 6."}},
		{"abbreviations of other languages", "Biuro: ul. Nowa 12, tel. 5. Otwarte.", []string{"Biuro: ul. Nowa 12, tel. 5.", "Otwarte."}},
		{"numbers with points", "It costs 2.50 now. Fine.", []string{"It costs 2.50 now.", "Fine."}},
		{"a small letter goes on", "Open 9 a.m. to noon.", []string{"Open 9 a.m. to noon."}},
		{"sentences without blanks", "一。二。三", []string{"一。", "二。", "三"}},
		{"items", "- one\n- two\n1. three\n   goes on", []string{"- one", "- two", "1. three\n   goes on"}},
		{"rows", "| a. B | c |\n|---|---|\n| d | e |", []string{"| a. B | c |", "|---|---|", "| d | e |"}},
		{"short lines", "Mon: 9-18\nTue: 9-18", []string{"Mon: 9-18", "Tue: 9-18"}},
		{"wrapped lines", long + "\nThe line goes on.", []string{long + "\nThe line goes on."}},
		{"a line that goes on small", "We deliver\nin town.", []string{"We deliver\nin town."}},
		{"paragraphs", "One\n\ntwo", []string{"One", "two"}},
		{"code", "```\na. B\nc\n```\nD", []string{"```", "a. B", "c", "```", "D"}},
	} {
		require.Equal(t, c.want, pieces(c.text), c.name)
	}
}

func FuzzBreaks(f *testing.F) {
	for _, seed := range []string{
		"One. Two", "- a\n- b", "| a |\n|---|\n| b |", "```\nx\n```", "Hours:\n9-18", "Q: a?\nA: b.", "é. É",
		"1. \n|",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return
		}
		last := 0
		for _, at := range BreakOffsets(text) {
			require.Greater(t, at, last)
			require.True(t, at == len(text) || utf8.RuneStart(text[at]))
			last = at
		}
		require.Equal(t, len(text), last)
		end := 0
		for i, u := range units(text) {
			require.LessOrEqual(t, end, u.from)
			require.Less(t, u.from, u.to)
			require.Less(t, u.lead, i)
			end = u.to
		}
		Words(text)
	})
}

func TestUnits_HaveLead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, unit, lead string }{
		{"a row, by the head of its table", "| Item | Price |\n|---|---|\n| Rolls | 2 € |\n| Bread | 4 € |", "Bread | 4 €", "Item | Price"},
		{"an item, by the line above", "Opening hours:\n- Mon: 9-18\n- Sat: 9-12", "Sat: 9-12", "Opening hours:"},
		{"an item below a blank line", "We bake:\n\n- rolls\n- bread", "bread", "We bake:"},
		{"a sentence, by the title above", "RETURNS\n\nWithin 30 days.", "Within 30 days.", "RETURNS"},
		{"an answer, by its question", "Q: How do I book?\nA: Write to us.", "A: Write to us.", "Q: How do I book?"},
		{"a paragraph after the list, by nothing", "We bake:\n- rolls\n\nWe close at noon.", "We close at noon.", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, u := range units(c.text) {
				if c.text[u.from:u.to] != c.unit {
					continue
				}
				lead := ""
				if u.lead >= 0 {
					l := units(c.text)[u.lead]
					lead = c.text[l.from:l.to]
				}
				require.Equal(t, c.lead, lead)
				return
			}
			require.Fail(t, "no such unit")
		})
	}
}

func TestLandmarks_HaveHint(t *testing.T) {
	t.Parallel()
	for _, named := range []string{
		"beside the station", "Near town", "opposite our shop", "behind a wall", "next to it", "close to the park", "across from you",
		"in front of us", "Baker Street", "old road", "Penny Lane",
		"Fifth avenue", "Market square", "neben dem Bahnhof", "hinter einer Wand", "Gegenüber von unserem Hof", "GEGENÜBER DER Post",
		"nahe der Post", "unweit des Doms", "unweit der Post", "en face de la gare",
		"près du port", "à côté des halles", "derrière l'église", "devant la poste", "au-dessus de l’eau", "junto al río", "frente a la plaza",
		"cerca del mar", "al lado de la iglesia",
		"detrás de los pinos", "delante del banco", "enfrente de las casas",
	} {
		matches := landmark.MatchString(named)
		require.Equal(t, matches, withoutLandmarks(named) != named, named)
	}
}
