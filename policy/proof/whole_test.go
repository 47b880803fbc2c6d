package proof

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck_SaysAssertionWhole(t *testing.T) {
	t.Parallel()
	checkEach(t, map[string]checkCase{
		"only of a row's remark":    {"Sí, los jueves de 8:00 a 12:00.", "Día: jueves | Horario: 8:00–12:00 | Notas: solo socios", "¿los jueves abrís?", Unknown},
		"asked beyond a range":      {"We hire skates for 3 €.", "Item: skates | Price: 3 € | Size: 36 to 45", "do you hire size 46", Unknown},
		"asked within a range":      {"We hire skates for 3 €.", "Item: skates | Price: 3 € | Size: 36 to 45", "do you hire size 40", Follows},
		"part of the year":          {"The lido is open from 9:00 to 18:00.", "The lido is open from 1 May to 30 September, from 9:00 to 18:00.", "when is the lido open", Unknown},
		"part of the year is asked": {"The lido is open from 9:00 to 18:00.", "The lido is open from 1 May to 30 September, from 9:00 to 18:00.", "when is the lido open in September", Follows},
		"denial behind a but":       {"Frames have a warranty of 2 years.", "Frames have a warranty of 2 years, but there is none on paint.", "", Unknown},
		"value of the next part":    {"Breakfast costs 28 EUR.", "Breakfast is from 7 to 10, and dinner costs 28 EUR.", "", Unknown},
		"value of a joined part":    {"Bikes cost 3 EUR.", "Bikes cost 15 EUR and helmets 3 EUR.", "", Unknown},
		"own value of a part":       {"Helmets cost 3 EUR.", "Bikes cost 15 EUR and helmets 3 EUR.", "", Follows},
		"subject of the first part": {"The pool costs 12 EUR.", "The pool has four lanes and costs 12 EUR.", "", Follows},
		"two subjects for one":      {"The pool and the sauna open at 10.", "The pool opens at 9, the sauna at 10.", "", Unknown},
		"two parts in turn":         {"The pool opens at 9, the sauna at 10.", "The pool opens at 9, the sauna at 10.", "", Follows},
		"day left out":              {"Seniors pay 7 EUR.", "On Wednesdays, seniors pay 7 EUR.", "", Unknown},
		"day that is asked":         {"Seniors pay 7 EUR.", "On Wednesdays, seniors pay 7 EUR.", "what do seniors pay on wednesday", Follows},
		"one day of several":        {"On Tuesday we are open from 9 to 18.", "We are open Monday to Friday from 9 to 18.", "", Follows},
		"ages left out":             {"Children pay 6 EUR.", "Children from 4 to 12 pay 6 EUR.", "what do kids pay", Unknown},
		"ages that the child keeps": {"Your son pays 6 EUR.", "Children from 4 to 12 pay 6 EUR.", "my son is 9, what does he pay", Follows},
		"first hour":                {"Parking is free.", "The first hour of parking is free.", "is parking free", Unknown},
		"every three days":          {"Towels are changed every day.", "Towels are changed every three days.", "", Unknown},
		"every second Saturday":     {"We are open on Saturdays.", "We are open every second Saturday.", "", Unknown},
		"for whom":                  {"A ticket costs 22 EUR.", "A ticket costs 22 EUR for adults.", "what is a ticket", Unknown},
		"who may":                   {"You may bring one dog.", "Members may bring one dog.", "can i bring a dog", Unknown},
		"unit of a price":           {"A bike costs 15 EUR.", "A bike costs 15 EUR a day.", "", Unknown},
		"limit behind a comma":      {"The trip costs 160 EUR.", "The trip costs 160 EUR, at least 2 hours.", "", Unknown},
		"begin of a time":           {"We open at 9:00.", "We are open from 9:00 to 18:00.", "", Follows},
		"name of a cell":            {"A kayak is 12 EUR.", "Boat: kayak | Hour: 12 EUR | Day: 40 EUR", "", Unknown},
		"two cells of a row":        {"A kayak is 12 EUR an hour, 40 EUR a day.", "Boat: kayak | Hour: 12 EUR | Day: 40 EUR", "", Follows},
		"remark of a row":           {"A scan costs 25 EUR.", "Service: scan | Price: 90 EUR | Note: report 25 EUR", "", Contradicts},
		"remark that is asked": {
			"A wash is 30 EUR.",
			"Service: wash | Price: 30 EUR | Note: thick hair + 8 EUR",
			"how much is a wash, my hair is thick",
			Unknown,
		},
		"remark with its price": {"A scan is 90 EUR, a report 25 EUR.", "Service: scan | Price: 90 EUR | Note: report 25 EUR", "", Follows},
		"condition behind":      {"The spare key is free.", "The spare key is free if you return the old one.", "", Unknown},
		"unit of two prices": {
			"A kayak is 12 EUR and a canoe 20 EUR per hour.",
			"A kayak is 12 EUR per hour, a canoe 20 EUR per hour.",
			"",
			Follows,
		},
		"unit of another price": {
			"A kayak is 12 EUR and a canoe 20 EUR per hour.",
			"A kayak is 12 EUR per day, a canoe 20 EUR per hour.",
			"",
			Unknown,
		},
		"condition in other words": {"With the old key, a spare one is free.", "A spare key is free if you return the old one.", "", Follows},
		"condition before a price": {"The fitting costs 20 EUR.", "The fitting costs when you order the dress elsewhere 20 EUR.", "", Unknown},
		"condition in Spanish":     {"La primera visita es gratis.", "La primera visita si luego contrata el bono es gratis.", "", Unknown},
		"condition in German":      {"Die Anprobe kostet 20 €.", "Die Anprobe kostet wenn Sie dann bestellen 20 €.", "", Unknown},
		"key of a row":             {"Adults pay 20 EUR.", "Ticket: adults | Day: weekend | Price: 20 EUR", "", Unknown},
	})
}

func TestCheck_KeepsUnitsApart(t *testing.T) {
	t.Parallel()
	units := []string{"The museum shop closes at 17:00.", "The café closes at 18:30."}
	for said, want := range map[string]Outcome{
		"The café closes at 18:30.":                                  Follows,
		"The museum shop closes at 17:00. The café closes at 18:30.": Follows,
		"The museum shop closes at 18:30.":                           Unknown,
		"The museum shop and the café close at 18:30.":               Unknown,
		"The café closes at 17:00 and the museum shop at 18:30.":     Unknown,
		"The museum shop closes at 17:00. The café closes at 7pm.":   Contradicts,
	} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			found := Check(Claim{Sentence: said, Units: units})
			require.Equal(t, want, found.Outcome, found.Reason)
		})
	}
}
