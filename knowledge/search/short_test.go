package search_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/knowledge"
	"multis/knowledge/search"
	"multis/policy"
	"multis/store/storetest"
)

// A document of one sentence is too short for its language to be sure, and its customers ask all the same.
func TestShortDocument_AnswersInItsLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ document, question, want string }{
		{"# Lieferung\n\nWir liefern sonntags.\n", "Liefern Sie sonntags?", "Wir liefern sonntags."},
		{"Wir liefern sonntags.\n", "Liefern Sie am Sonntag?", "Wir liefern sonntags."},
		{"Hunde sind im Haus willkommen.\n", "Darf ich meinen Hund mit ins Haus bringen?", "Hunde sind im Haus willkommen."},
		{"Entregamos los domingos.\n", "¿Entregan los domingos?", "Entregamos los domingos."},
		{"We deliver on Sundays.\n", "Do you deliver on Sunday?", "We deliver on Sundays."},
		{"Wir liefern sonntags.\n", "Liefern Sie montags?", ""},
		{"Wir liefern sonntags.\n", "Reparieren Sie sonntags Fahrräder?", ""},
		{"Hunde sind im Haus willkommen.\n", "Darf ich meine Katze mit ins Haus bringen?", ""},
		{"Entregamos los domingos.\n", "¿Entregan los lunes?", ""},
	} {
		st := storetest.New(t)
		_, err := knowledge.New(st).Index(t.Context(), knowledge.File{Name: "notes.md", Data: []byte(c.document), Role: policy.RolePublic})
		require.NoError(t, err)
		s := search.New(st)
		found, err := s.AsContact(t.Context(), policy.ContactScope(1), search.Query{Text: c.question})
		require.NoError(t, err)
		quote, _, err := s.Answer(t.Context(), found)
		require.NoError(t, err)
		require.Equal(t, c.want, quote.Text, c.question)
	}
}
