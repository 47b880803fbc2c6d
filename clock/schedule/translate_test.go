package schedule_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/clock/schedule"
)

func TestInEnglish_ReadsTimes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"mich morgen um 8 an die Milch":             "mich morgen um 8 an die Milch",
		"morgen um 8 an die Milch":                  "tomorrow at 8 die Milch",
		"in ner Stunde Wäsche aufhängen":            "in 1 hour Wäsche aufhängen",
		"in einer halben Stunde Tee":                "in 30 minutes Tee",
		"jeden Dienstag 18 Uhr Training":            "every tuesday 18:00 Training",
		"übermorgen früh den Müll rausbringen":      "the day after tomorrow morning den Müll rausbringen",
		"um halb acht Zahnarzt":                     "07:30 Zahnarzt",
		"den Müll rausbringen heute Abend":          "tonight den Müll rausbringen",
		"am 24. Dezember um 18 Uhr Geschenke":       "24 december 18:00 Geschenke",
		"montags um 9 Müll":                         "every monday at 9 Müll",
		"en 15 min q saque el pollo":                "in 15 minutes saque el pollo",
		"todos los domingos llamar a mi madre":      "every sunday llamar a mi madre",
		"mañana a las 8 que salgo ya":               "tomorrow at 8 salgo ya",
		"el lunes a las 5 y media de la tarde yoga": "monday 17:30 yoga",
		"dentro de media hora":                      "in 30 minutes",
		"dans 2h d'appeler le notaire":              "in 2 hours appeler le notaire",
		"tous les lundis la réunion de 10h":         "every monday la réunion de 10h",
		"demain à 18h30 le médecin":                 "tomorrow 18:30 le médecin",
		"acheter du pain lundi prochain":            "next monday acheter du pain",
		"tomorrow 9am call Ana":                     "tomorrow 9am call Ana",
		"in 2 hours to call Ana":                    "in 2 hours to call Ana",
		"every monday water the plants":             "every monday water the plants",
		"am 24.12. Baum kaufen":                     "24.12. Baum kaufen",
		"at 19:00":                                  "at 19:00",
		"3.5 kg flour tomorrow":                     "3.5 kg flour tomorrow",
		"2026-11-21 08:00 happy birthday":           "2026-11-21 08:00 happy birthday",
		"2h call Ana":                               "2h call Ana",
		"fri 14:30 pay the rent":                    "fri 14:30 pay the rent",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, want, schedule.InEnglish(text))
		})
	}
}
