package catalog

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSource_InLanguageOfAnswer(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"We deliver on weekdays between 7:00 and 11:00.":                     " (from a.md, b.md)",
		"Wir liefern an Werktagen zwischen 7 und 11 Uhr, das kostet 3 Euro.": " (aus a.md, b.md)",
		"Nous livrons les jours ouvrables de 7 à 11 heures pour 3 euros.":    " (d’après a.md, b.md)",
		"Entregamos los días laborables entre las 7 y las 11 por 3 euros.":   " (según a.md, b.md)",
		"Мы доставляем по будням с 7 до 11 часов.":                           " (источник: a.md, b.md)",
		"29 €": " (from a.md, b.md)",
	} {
		require.Equal(t, want, Source(words, []string{"a.md", "b.md"}, English), words)
	}
	require.Equal(t, " (aus a.md)", Source("29 €", []string{"a.md"}, German), "the language of the business")
	for _, lang := range Langs() {
		require.NotEmpty(t, phrase(lang, "source"), lang)
		require.Equal(t, "It is 5 EUR.", CutSource("It is 5 EUR. ("+phrase(lang, "source")+" prices 2026.md)"), lang)
	}
	require.Equal(t, "It is open (from 9 to 12) today.", CutSource("It is open (from 9 to 12) today."))
}
