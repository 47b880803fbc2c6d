package proof

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/language/lexicon"
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

func TestFindGap_NamesRowByItsWord(t *testing.T) {
	t.Parallel()
	rows := []string{"Karte: Tageskarte | Preis: 20 € | Hinweis: ohne Sauna", "Karte: Abendkarte Rentner | Preis: 12 €"}
	for said, want := range map[string]Outcome{
		"Eine Tageskarte kostet 20 € und eine Abendkarte für Rentner 12 €.": Follows,
		"Eine Tageskarte kostet 12 € und eine Abendkarte für Rentner 20 €.": Contradicts,
	} {
		found := Check(Claim{Sentence: said, Units: rows})
		require.Equal(t, want, found.Outcome, found.Reason)
	}
}

func TestFindGap_TakesRowsInTurn(t *testing.T) {
	t.Parallel()
	rows := []string{"Pitch: tent | Night: 14 €", "Pitch: camper | Night: 27 €"}
	for said, want := range map[string]Outcome{
		"A night with a tent costs 14 € and with a camper 27 €.":  Follows,
		"The nights with a tent and a camper cost 14 € and 27 €.": Unknown,
		"The nights with a tent and a camper cost 27 € and 14 €.": Contradicts,
		"A night costs 14 € and 27 €.":                            Unknown,
	} {
		found := Check(Claim{Sentence: said, Units: rows, Question: "what do you charge for a tent and a camper"})
		require.Equal(t, want, found.Outcome, "%s: %s", said, found.Reason)
	}
	found := Check(Claim{Sentence: "A night costs 14 € and 27 €.", Units: rows})
	require.Equal(t, Contradicts, found.Outcome, "rows that nobody named")
}

func TestFindGap_NamesRowByNumber(t *testing.T) {
	t.Parallel()
	rows := []string{"Locker: 40 litres | Month: £9 | Deposit: £5", "Locker: 90 litres | Month: £15 | Deposit: £8"}
	for said, want := range map[string]Outcome{
		"The locker of 90 litres costs £15 a month, the deposit is £8.": Follows,
		"The locker of 90 litres costs £9 a month.":                     Contradicts,
	} {
		found := Check(Claim{Sentence: said, Units: rows})
		require.Equal(t, want, found.Outcome, "%s: %s", said, found.Reason)
	}
}

func TestFindGap_KeepsToPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unit, said string
		follows    bool
	}{
		{"Dogs are welcome on the terrace, but not in the dining room.", "Dogs are welcome in the dining room.", false},
		{"Dogs are welcome on the terrace, but not in the dining room.", "Dogs are welcome on the terrace, but not in the dining room.", true},
		{"The cheesecake has no flour, but it is not suitable for coeliacs.", "The cheesecake has no flour and is suitable for coeliacs.", false},
		{"At most 14 people a class, in chair yoga 9.", "In chair yoga at most 14 people.", false},
		{"With the travel cover you get the money back if you are ill.", "You get the money back if you are ill.", false},
		{"Boat: Pedalo | 1 hour: £18 | whole day: none | deposit: £30", "There is no deposit for a pedalo.", false},
		{"Boat: Pedalo | 1 hour: £18 | whole day: none | deposit: £30", "A pedalo is £18 for 1 hour.", true},
		{"Season: March | Open: 10:00–16:30 | Bikes back by: 16:15", "In March bikes are back by 16:30.", false},
		{"Season: March | Open: 10:00–16:30 | Bikes back by: 16:15", "In March bikes are back by 16:15.", true},
		{"Season: March to May | Open: 10:00–16:30", "In July we are open from 10:00 to 16:30.", false},
		{"Season: March to May | Open: 10:00–16:30", "In April we are open from 10:00 to 16:30.", true},
		{"We close at 9 pm.", "We close at 9 am.", false},
		{"We close at 9 pm.", "We close at 9.", true},
		{"Treatment: Hands | Price EUR: 34 | Varnish: without", "Hands are 34 EUR.", true},
	} {
		t.Run(c.said, func(t *testing.T) {
			t.Parallel()
			gap := FindGap(Claim{Sentence: c.said, Units: []string{c.unit}})
			require.Equal(t, c.follows, gap == "", gap)
		})
	}
}

// pair is a sentence with what it cites. The pairs were written by somebody who had not seen the check. It was tuned on those of
// open.jsonl; those of closed.jsonl were asked once, at the end.
type pair struct {
	ID       string   `json:"id"`
	Language string   `json:"lang"`
	Headings []string `json:"headings"`
	Units    []string `json:"units"`
	Question string   `json:"question"`
	Sentence string   `json:"sentence"`
	Follows  bool     `json:"follows"`
	Kind     string   `json:"kind"`
}

func readPairs(t testing.TB, name string) (pairs []pair) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var p pair
		require.NoError(t, json.Unmarshal(line, &p))
		pairs = append(pairs, p)
	}
	return pairs
}

func (p pair) claim() Claim {
	return Claim{
		Sentence: p.Sentence,
		Units:    p.Units,
		Headings: p.Headings,
		Question: p.Question,
	}
}

// The counts are what the check does today. They must not grow. A failure names no sentence, so that nobody tunes the check
// on those of closed.jsonl. Those of recombined.jsonl attack the check: they leave a limit out, or put the parts of their units
// together otherwise. The sentences of played.jsonl are those of somebody who played the model: what was said to
// customers, and 100 false ones about the same units.
func TestFindGap_PairsOfOthers(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]struct{ falseTaken, falseUnknown, trueRefused, trueContradicted int }{
		"open.jsonl":       {0, 41, 45, 0},
		"closed.jsonl":     {0, 45, 61, 2},
		"fresh.jsonl":      {0, 40, 67, 3},
		"played.jsonl":     {2, 46, 70, 5},
		"unseen.jsonl":     {1, 25, 39, 0},
		"recombined.jsonl": {0, 112, 14, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := map[bool]map[Outcome]int{true: {}, false: {}}
			pairs := readPairs(t, name)
			require.GreaterOrEqual(t, len(pairs), 120)
			for _, p := range pairs {
				found[p.Follows][Check(p.claim()).Outcome]++
			}
			t.Logf("%d false ones taken, %d left to the judge; %d true ones refused, %d of them by facts", found[false][Follows],
				found[false][Unknown], found[true][Unknown]+found[true][Contradicts], found[true][Contradicts])
			require.LessOrEqual(t, found[false][Follows], most.falseTaken)
			require.LessOrEqual(t, found[false][Unknown], most.falseUnknown)
			require.LessOrEqual(t, found[true][Unknown]+found[true][Contradicts], most.trueRefused)
			require.LessOrEqual(t, found[true][Contradicts], most.trueContradicted)
		})
	}
}

var (
	// digits matches a number of a sentence, or a time.
	digits = regexp.MustCompile(`\d+`)
	// money matches a currency of a sentence.
	money = regexp.MustCompile(`[€£$₺]|\b(?:euros?|EUR|CHF|TL|zł|kr|dollars?|pounds?)\b`)
	// word matches a word of a sentence.
	word = regexp.MustCompile(`\p{L}+`)
)

// A true sentence with one fact that is in no source, in place of one that is, never passes, and no judge is asked about it.
func TestCheck_ChangedFactContradicts(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		fact    *regexp.Regexp
		changed func(Claim, string) string
		want    Outcome
		least   int
	}{
		"number":   {digits, func(Claim, string) string { return "7361" }, Contradicts, 50},
		"currency": {money, func(Claim, string) string { return "HUF" }, Unknown, 20},
		"weekday":  {word, otherDay, Unknown, 5},
		"name":     {word, otherName, Unknown, 5},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			changed := 0
			for _, name := range []string{"open.jsonl", "closed.jsonl", "fresh.jsonl"} {
				for _, p := range readPairs(t, name) {
					claim := p.claim()
					if Check(claim).Outcome != Follows {
						continue
					}
					for _, at := range c.fact.FindAllStringIndex(p.Sentence, -1) {
						other := c.changed(claim, p.Sentence[at[0]:at[1]])
						if other == "" {
							continue
						}
						claim.Sentence = p.Sentence[:at[0]] + other + p.Sentence[at[1]:]
						require.GreaterOrEqual(t, Check(claim).Outcome, c.want, claim.Sentence)
						changed++
					}
				}
			}
			require.Greater(t, changed, c.least)
		})
	}
}

// otherDay returns a weekday that the claim has nowhere, in place of one; empty for another word.
func otherDay(c Claim, said string) string {
	v, _ := c.vocabularies()
	if v.day(fold(said)) < 0 {
		return ""
	}
	p := newProver(c)
	for _, row := range lexicon.Rows(v.code, "days") {
		name := row.Words()[0]
		t := v.token(fold(name), false)
		if t.day >= 0 && !hasWord(p.source, t) && !hasWord(p.asked, t) && !hasWord(p.headings, t) {
			return name
		}
	}
	return ""
}

// otherName returns another name in place of a name of the sources that is written within the sentence.
func otherName(c Claim, said string) string {
	v, _ := c.vocabularies()
	if newProver(c).names[fold(said)] && !v.isFunction(fold(said)) {
		return "Zanzibar"
	}
	return ""
}

// A denial that is added to a true sentence, or taken away, never passes.
func TestCheck_ChangedDenialFails(t *testing.T) {
	t.Parallel()
	denial := regexp.MustCompile(`(?i)\b(not|nicht|kein|keine|non|niet|geen|inte|nie|não) `)
	changed := 0
	for _, p := range readPairs(t, "open.jsonl") {
		claim := p.claim()
		at := denial.FindStringIndex(p.Sentence)
		if at == nil || Check(claim).Outcome != Follows {
			continue
		}
		claim.Sentence = p.Sentence[:at[0]] + p.Sentence[at[1]:]
		require.NotEqual(t, Follows, Check(claim).Outcome, claim.Sentence)
		changed++
	}
	require.Greater(t, changed, 2)
}

// checkCase is a sentence with the unit that it cites and the question, and what the check finds.
type checkCase struct {
	sentence, unit, question string
	want                     Outcome
}

func checkEach(t *testing.T, cases map[string]checkCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := Check(Claim{Sentence: c.sentence, Units: []string{c.unit}, Question: c.question})
			require.Equal(t, c.want, found.Outcome, found.Reason)
		})
	}
}

func TestCheck_FactsInOtherForms(t *testing.T) {
	t.Parallel()
	checkEach(t, map[string]checkCase{
		"currency of the table":     {"The child bike is £14 for a day.", "All prices in GBP: child bike | day: 14 | deposit: 30", "", Follows},
		"no currency anywhere":      {"The child bike is £14.", "Bike: child bike | day: 14", "", Unknown},
		"another currency":          {"The child bike is £14.", "Bike: child bike | day: 14 €", "", Contradicts},
		"word of the label":         {"Mending a boxed saddle is £58.", "Item: mending a boxed saddle | price: £58 | remark: racing saddle £76", "", Follows},
		"time beside a count":       {"Der Kurs für Anfänger ist von 19:00 bis 20:30 Uhr.", "Kurs: Tango | Uhrzeit: 19:00–20:30 | Bemerkung: Anfänger, 8 Abende", "", Unknown},
		"price beside a length":     {"A raft costs 40 € and is booked days ahead.", "Item: raft | price: 40 € | remark: book 3 days ahead", "", Unknown},
		"other cell by its number":  {"The boat costs 30 € for 1 hour.", "Item: boat | 1 hour: 18 € | deposit: 30 €", "", Contradicts},
		"row of another size":       {"The 24 inch bike is £14.", "Item: bike 20 inch | day: £14", "how much is the 24 inch bike", Contradicts},
		"afternoon":                 {"Nós fechamos às oito da noite.", "Fechamos às 20h.", "", Follows},
		"morning is no afternoon":   {"We close at three in the morning.", "We close at 15:00.", "", Contradicts},
		"between":                   {"It takes 5 to 10 days.", "It takes between 5 and 10 days.", "", Follows},
		"quarters of an hour":       {"It takes three quarters of an hour.", "It takes 45 minutes.", "", Follows},
		"number of two words":       {"Garanti on iki ay.", "Garanti 12 ay.", "", Follows},
		"more than":                 {"Groups of fewer than eight need a table.", "Groups of more than eight need a table.", "", Contradicts},
		"Cyrillic letters":          {"Подшить брюки стоит 600 рублей.", "Подшить брюки — 600 ₽.", "", Follows},
		"another price in Cyrillic": {"Подшить брюки стоит 700 рублей.", "Подшить брюки — 600 ₽.", "", Contradicts},
		"copy of a whole unit": {
			`The sign says: "No swimming - boats only!"`,
			`The sign says: "No swimming - boats only!"`,
			"can we swim",
			Follows,
		},
		"unit without a number":      {"Please tell us at least seven days ahead.", "Please tell us at least a week ahead.", "", Unknown},
		"limit turned round":         {"Children up to 8 sleep free.", "Children from 8 sleep free.", "", Contradicts},
		"length of time for a price": {"It takes 95 minutes.", "Service: manicure | Price EUR: 95 | Takes: 50 minutes", "", Contradicts},
		"limit of the next number":   {"It is £35.", "It is £60, £35 for under 26.", "", Unknown},
		"number behind a name":       {"The A4 650 g is ready.", "The A4 650 g is ready.", "", Follows},
		"one and a half":             {"Los sábados cerramos a la una y media.", "Los sábados abrimos hasta las 13:30.", "", Follows},
		"number of a month":          {"We are closed from 03/04 to 10/6.", "We are closed from 3 April to 10 June.", "", Follows},
		"number of another month":    {"We are closed from 03/05.", "We are closed from 3 April.", "", Contradicts},
		"word for before and for":    {"Voor € 4 zwemmen kinderen tot 10 jaar.", "Kinderen tot 10 jaar zwemmen voor € 4.", "", Follows},
		"asked day of every day":     {"Yes, on Sunday too.", "We are open every day.", "are you open on sunday", Unknown},
		"another day":                {"We are open on Sunday.", "We are open on Monday.", "are you open on sunday", Contradicts},
		"header of a table": {
			"The scale is 260 for a cat.",
			"Price list: Scale | From: 260 | 290",
			"",
			Unknown,
		},
		"more behind a price": {"Una gita costa 20 €, con 6 € in più per la guida.", "Una gita costa 20 €, con guida + 6 €.", "", Follows},
		"more of an extra":    {"A boat costs 12 €, a vest 2 € more.", "Boat: 12 €, vest + 2 €.", "", Follows},
		"price of a remark": {
			"A polish costs 12 €.",
			"Service: polish | Price: 40 € | Note: 12 € collection within the city",
			"what does a polish cost",
			Contradicts,
		},
		"price of a remark, named": {
			"A polish costs 40 €, collection within the city 12 €.",
			"Service: polish | Price: 40 € | Note: 12 € collection within the city",
			"",
			Follows,
		},
		"price of a remark in other words": {
			"A polish costs 12 € to fetch.",
			"Service: polish | Price: 40 € | Note: 12 € collection within the city",
			"",
			Unknown,
		},
		"price of another column": {"A pass costs 7 €.", "Item: pass | Price: 50 € | Each further visit: 7 €", "", Contradicts},
		"up behind a number":      {"Six tents of 4 places make up the camp.", "The camp has six tents of 4 places.", "", Follows},
		"years and up":            {"The climb is for children of 9 and up.", "The climb is for children up to 9.", "", Contradicts},
		"younger than":            {"Wij geven geen les aan kinderen onder de 7.", "Aan kinderen jonger dan 7 jaar geven wij geen les.", "", Follows},
		"older than":              {"Wij geven geen les aan kinderen ouder dan 7.", "Aan kinderen jonger dan 7 jaar geven wij geen les.", "", Contradicts},
		"at the latest before":    {"Bilet en geç 3 gün önce alınır.", "Bilet en geç 3 gün öncesine kadar alınır.", "", Follows},
		"twelve noon":             {"La visita es hasta las doce del mediodía.", "La visita es hasta las 12:00.", "", Follows},
		"hours of the day":        {"Экскурсия с двух часов дня.", "Экскурсия с 14:00.", "", Follows},
		"hours of a length":       {"Экскурсия длится два часа.", "Экскурсия с 14:00.", "", Unknown},
		"what is permitted":       {"Am Ufer dürfen Sie angeln.", "Am Ufer ist Angeln gestattet.", "", Follows},
		"column of a time":        {"The Bronze course is $165 on Thursday.", "Course: Bronze | Day: Thursday | Fee: $165", "", Follows},
		"what holds later": {
			"If you arrive after 22:00, please call the porter.",
			"The desk is open until 22:00; whoever arrives later calls the porter.",
			"",
			Unknown,
		},
		"times of a denial": {
			"At midnight the gate is closed, from 22:00 to 6:00.",
			"The gate is closed from 22:00 to 6:00.",
			"can we leave at midnight",
			Follows,
		},
		"condition left out":    {"You get the money back.", "With the travel cover you get the money back.", "", Unknown},
		"word behind an “only”": {"We repair player pianos on Friday.", "We repair player pianos only on Friday.", "", Unknown},
		"copy of half a unit": {
			"The pool is open.",
			"The pool is open only in July.",
			"",
			Contradicts,
		},
		"yes to a word of the question": {
			"Yes, we repair metal frames too.",
			"We repair wooden frames.",
			"do you repair metal frames",
			Unknown,
		},
	})
}

func TestCheck_ReasonHasWordAsWritten(t *testing.T) {
	t.Parallel()
	for said, c := range map[string]struct{ unit, quoted string }{
		"Чистка ковра — 7 дней.":                {"Ковры — 7 дней.", "“Чистка”"},
		"The service costs £44.":                {"The service costs £45.", "“£44”"},
		"The service costs 44 pounds a day.":    {"The service costs 45 pounds a day.", "“44 pounds”"},
		"We open at half past nine on Fridays.": {"We open at 9:00 on Fridays.", "“half past nine”"},
		"The Service costs £45.":                {"The Service costs £45 an Hour.", "“Hour”"},
	} {
		require.Contains(t, FindGap(Claim{Sentence: said, Units: []string{c.unit}}), c.quoted, said)
	}
}

// A true sentence does not follow from what another pair cites, unless it says the same.
func TestCheck_OtherSourceFails(t *testing.T) {
	t.Parallel()
	pairs := readPairs(t, "open.jsonl")
	asked := 0
	var taken []string
	for _, p := range pairs {
		if !p.Follows || Check(p.claim()).Outcome != Follows {
			continue
		}
		for _, other := range pairs {
			c := p.claim()
			c.Units = other.Units
			if p.Language != other.Language || slices.ContainsFunc(other.Units, func(u string) bool { return slices.Contains(p.Units, u) }) {
				continue
			}
			asked++
			if Check(c).Outcome == Follows {
				taken = append(taken, p.Sentence+" | "+strings.Join(other.Units, " "))
			}
		}
	}
	require.Greater(t, asked, 1000)
	require.Empty(t, taken)
}

// FuzzFindGap checks that no claim makes the check panic.
func FuzzFindGap(f *testing.F) {
	f.Add("Breakfast costs 16.50 EUR per person.", hotel[2], "How much for 2?")
	f.Fuzz(func(_ *testing.T, said, unit, question string) {
		FindGap(Claim{Sentence: said, Units: []string{unit}, Headings: []string{question}, Question: question})
	})
}
