package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/language"
	"multis/store/index"
)

// form is another form of a word of the question that the stemmer does not unify with it.
type form struct{ text, of string }

// minVerb is the length in letters from which a word is taken for a verb by its ending.
const minVerb = 5

// formsOf returns the other forms of the words of a question in a language: those of the irregular verbs of opening
// hours, and of German and Dutch verbs. A contact asks "Liefert ihr?" and a document says "Wir liefern", or the other way
// round. The stemmer gives "liefert" and "liefern" different stems.
func formsOf(words []string, l language.Language) (list []form) {
	add := func(of, text string) {
		if !slices.Contains(words, text) && !slices.Contains(list, form{text, of}) {
			list = append(list, form{text, of})
		}
	}
	for _, w := range words {
		for _, other := range openingForms(w) {
			add(w, other)
		}
		if l != language.German && l != language.Dutch || utf8.RuneCountInString(w) < minVerb {
			continue
		}
		if stem, ok := strings.CutSuffix(w, "t"); ok { // liefer-t, öffne-t: the stemmer takes the rest for the same as the infinitive
			add(w, stem)
		}
		if stem, ok := strings.CutSuffix(w, "st"); ok {
			add(w, stem)
		}
		if l == language.German && strings.HasSuffix(w, "se") { // "Kurs" loses its last letter, "Kurse" does not
			add(w, strings.TrimSuffix(w, "e"))
		}
		switch stem, ok := strings.CutSuffix(w, "en"); {
		case ok:
			add(w, stem+"t")
		case strings.HasSuffix(w, "ern"), strings.HasSuffix(w, "eln"):
			add(w, strings.TrimSuffix(w, "n")+"t")
		}
	}
	return list
}

// openingForms returns the forms of a verb that says when something is open. Words are without accents.
func openingForms(word string) []string {
	for _, forms := range [...][]string{
		{"offen", "geoffnet", "offnet", "offnen"},
		{"geschlossen", "schließt", "schließen"},
		{"ouvert", "ouverte", "ouvre", "ouvrez", "ouvrons", "ouvrir"},
		{"abierto", "abierta", "abre", "abren", "abris", "abrimos", "abrir"},
		{"aberto", "aberta", "abre", "abrem", "abrimos", "abrir"},
		{"aperto", "aperta", "apre", "aprite", "apriamo", "aprire"},
		{"chiuso", "chiusa", "chiude", "chiudete", "chiudiamo"},
		{"geopend", "open", "opent"},
		{"gesloten", "sluit", "sluiten"},
	} {
		if slices.Contains(forms, word) {
			return forms
		}
	}
	return nil
}

// searched returns the words of the question and their other forms, the most topical words first.
func (q question) searched() []string {
	list := byWeight(q.words)
	for _, f := range q.forms {
		list = append(list, f.text)
	}
	return list
}

// missingForms returns the other forms of each word that occurs in no passage itself. If a word does occur, its other
// forms are not searched, because that spoils more answers than it finds.
func (q question) missingForms(found []index.Term) (list []string) {
	for _, f := range q.forms {
		if isMissing(found, f.of) {
			list = append(list, f.text)
		}
	}
	return list
}

// isMissing reports whether a word was looked up and occurs in no passage.
func isMissing(found []index.Term, word string) bool {
	isOf := func(t index.Term) bool { return t.Word == word }
	return slices.ContainsFunc(found, isOf) && !slices.ContainsFunc(found, func(t index.Term) bool {
		return isOf(t) && !t.Correction && t.Chunks > 0
	})
}

// mergeForms makes the terms of forms terms of their words: of the words that occur in no passage themselves. Forms that
// occur in no passage are left out, and so are the corrections of a word of which a form occurs.
func (q question) mergeForms(found []index.Term) []index.Term {
	if len(q.forms) == 0 {
		return found
	}
	var merged []index.Term
	occurs := map[string]bool{}
	for _, t := range found {
		i := slices.IndexFunc(q.forms, func(f form) bool { return f.text == t.Word })
		if i < 0 {
			merged = append(merged, t)
			continue
		}
		t.Word = q.forms[i].of
		if t.Chunks > 0 && !t.Correction && isMissing(found, t.Word) {
			occurs[t.Word] = true
			merged = append(merged, t) // mergeTerms unites equal lexemes
		}
	}
	return slices.DeleteFunc(merged, func(t index.Term) bool { return t.Correction && occurs[t.Word] })
}
