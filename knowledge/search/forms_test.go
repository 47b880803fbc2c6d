package search_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

// People write to a business as they speak: with du and ihr, tú and vosotros. They ask for a day that its documents leave
// out. The documents say it otherwise, and a verb has another form there.
func TestForms_SpokenQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	for document, questions := range map[string]map[string]string{
		"bakery.de": {
			"Liefert ihr am Sonntag?":         "Wir liefern Dienstag bis Freitag",
			"Liefern Sie auch samstags?":      "Wir liefern Dienstag bis Freitag",
			"Darf ich meinen Hund mitbringen": "Hunde sind im Hof willkommen",
			"Stellt ihr Rechnungen aus?":      "nur für Firmen",
			"Habt ihr sonntags offen?":        "Am Sonntag und am Montag ist die Bäckerei geschlossen",
			"Wann habt ihr offen?":            "von 7:00 bis 18:00 Uhr",
			"Wann öffnet die Bäckerei?":       "von 7:00 bis 18:00 Uhr",
			"Habt ihr Parkplätze?":            "drei Parkplätze",
			"Nimmst du Kreditkarten?":         "Kreditkarten",
			"Gebt ihr Kurse?":                 "Ein Kurs kostet 75 €",
			"Backt ihr am Montag Brot?":       "", // on which days bread is baked is not said
			"Was kostet eine Torte sonntags?": "",
			"Repariert ihr Fahrräder?":        "",
			"Liefert ihr am Sonntag Sushi?":   "",
		},
		"bakery.fr": {
			"Vous ouvrez le dimanche ?":       "Le dimanche, nous ouvrons de 7h00 à 12h30",
			"Vous êtes ouverts le lundi ?":    "Nous fermons le lundi",
			"Tu vends des baguettes ?":        "Baguette",
			"Réparez-vous des vélos lundi ?":  "",
			"Livrez-vous des pizzas mardi  ?": "",
		},
		"repair.es": {
			"¿Abrís los domingos?": "Los domingos está cerrado",
			"¿Abrís los jueves?":   "de lunes a viernes",
			"¿Tenéis pizza?":       "",
		},
	} {
		st := storetest.New(t)
		indexFiles(t, st, filepath.Join("testdata", "desk", document+".md"))
		s := search.New(st)
		for question, want := range questions {
			for _, inPostgres := range []bool{true, false} {
				found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: question, Exhaustive: inPostgres})
				require.NoError(t, err)
				q, ok, err := s.Answer(t.Context(), found)
				require.NoError(t, err)
				require.Equal(t, want != "", ok, "%s %v: %s", question, inPostgres, q.Text)
				require.Contains(t, q.Text, want, question)
			}
		}
	}
}
