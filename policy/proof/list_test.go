package proof

import "testing"

func TestCheck_ListsNothingDenied(t *testing.T) {
	t.Parallel()
	checkEach(t, map[string]checkCase{
		"denied by its verb":       {"We repair clocks, watches and radios.", "We repair clocks and watches; radios are not taken.", "", Contradicts},
		"denied as an object":      {"Wir liefern Torten, Brot oder Eis.", "Wir liefern Torten und Brot, Eis liefern wir nicht.", "", Contradicts},
		"denied in Portuguese":     {"Temos canoas, pranchas e coletes.", "Temos canoas e pranchas; não temos coletes.", "", Contradicts},
		"behind “or with”":         {"You can pay in cash or with vouchers.", "You can pay in cash; vouchers are not taken.", "", Contradicts},
		"denies it, too":           {"We repair clocks and watches, but radios are not taken.", "We repair clocks and watches; radios are not taken.", "", Follows},
		"something else of it":     {"Wir verleihen Zelte und Schlafsäcke.", "Zelte verleihen wir für 9 €, für Schlafsäcke nehmen wir kein Pfand.", "", Unknown},
		"the denial goes on":       {"Bring your sheets, hire them or buy them.", "Pillows are there, sheets are not; they can be hired or bought.", "", Unknown},
		"who does not pay":         {"Adults and toddlers may climb.", "Adults pay 9 EUR to climb, toddlers do not pay.", "", Unknown},
		"denied under a condition": {"We take dogs and cats.", "We take dogs; cats are not taken if it is full.", "", Unknown},
	})
}
