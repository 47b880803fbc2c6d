package knowledge

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestPDFTable_RowsNameColumns(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"a table": {
			"Our bikes for rent.\nBike\t1 day\t3 days\nCity bike\t12 euro\t30 euro\nE-bike\t19 euro\t50 euro\nHelmets are free of charge.",
			"Our bikes for rent.\n\n| Bike: City bike; 1 day: 12 euro; 3 days: 30 euro\n| Bike: E-bike; 1 day: 19 euro; 3 days: 50 euro\nHelmets are free of charge.",
		},
		"an empty cell":         {"Bike\tDay\tWeek\nCity\t12\t70\nCargo\t\t90", "\n| Bike: City; Day: 12; Week: 70\n| Bike: Cargo; Week: 90"},
		"no name for the first": {"\tDay\tWeek\nCity\t12\t70\nCargo\t25\t90", "\n| City; Day: 12; Week: 70\n| Cargo; Day: 25; Week: 90"},
		"a wrapped cell":        {"Bike\tDay\nCity\t12\nwith basket\nCargo\t25", "\n| Bike: City; Day: 12\nwith basket\n| Bike: Cargo; Day: 25"},
		"bars":                  {"Bike | Day\n--- | ---\nCity | 12 euro", "\n\n| Bike: City; Day: 12 euro"},
		"one row":               {"Bike\tDay\nCity\t12", "Bike Day\nCity 12"},
		"no numbers":            {"Name\tTown\nAna\tBerlin\nBen\tKiel", "Name Town\nAna Berlin\nBen Kiel"},
		"no names":              {"10\t20\n30\t40\n50\t60", "10 20\n30 40\n50 60"},
		"cells beside names":    {"Bike\tDay\nCity\t\t12\nCargo\t\t25", "Bike Day\nCity 12\nCargo 25"},
		"labels beside labels": {
			"Type:\tFamily\nDates:\t12 May\nOrder:\t4711",
			"Type: Family\nDates: 12 May\nOrder: 4711",
		},
		"a number above words": {
			"Name\tAna\tYear\t2022\nClaim\tSF-1008\tMake\tJeep\nPhone\t555-11\tColour\tWhite",
			"Name Ana Year 2022\nClaim SF-1008 Make Jeep\nPhone 555-11 Colour White",
		},
		"a year above numbers": {
			"Region\t2021\t2022\nNorth\t12\t14\nSouth\t30\t31",
			"\n| Region: North; 2021: 12; 2022: 14\n| Region: South; 2021: 30; 2022: 31",
		},
		"single digits": {
			"Item\tPrice\tDeposit\nBread\t3\t1\nCake\t7\t2",
			"\n| Item: Bread; Price: 3; Deposit: 1\n| Item: Cake; Price: 7; Deposit: 2",
		},
		"sentences": {
			"We open at nine on all days\nand close at 18 on the 5 days\nfrom Monday on, at 12 else",
			"We open at nine on all days\nand close at 18 on the 5 days\nfrom Monday on, at 12 else",
		},
	} {
		doc, err := readFile(t, "a.pdf", newPDF([]string{test.text}).bytes())
		require.NoError(t, err, name)
		require.Equal(t, test.want, doc.Sections[0].Text, name)
	}
}

func FuzzPlacedTables(f *testing.F) {
	f.Add("Bike Day\nCity 12\nCargo 25", []byte{0, 9, 20, 29, 0, 9, 20, 29, 0, 9, 20, 29})
	f.Add(" \n\n1", []byte{})
	f.Fuzz(func(t *testing.T, text string, places []byte) {
		text = strings.ToValidUTF8(text, "?")
		page := newPositionedText(text, func(at int) (box, bool) {
			if at >= len(places) {
				return box{}, false
			}
			y := float64(-10 * strings.Count(string([]rune(text)[:at]), "\n"))
			return box{float64(places[at]), float64(places[at]) + 5, y, y + 8}, true
		})
		got := page.tables()
		require.LessOrEqual(t, strings.Count(got, "\n"), strings.Count(text, "\n"))
		require.LessOrEqual(t, len(got), (len(text)+10)*(len(text)+10))
		for word := range strings.FieldsSeq(text) {
			first, _ := utf8.DecodeRuneInString(word)
			if unicode.IsDigit(first) {
				require.Contains(t, got, string(first), "no number is lost")
			}
		}
	})
}
