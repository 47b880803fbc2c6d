package search

import (
	"sync"

	"multis/internal/language/lexicon"
)

// readBaseForms reads the base forms on the first call.
var readBaseForms = sync.OnceValue(func() map[string]string {
	forms := map[string]string{}
	for _, row := range lexicon.Rows("en", "base") {
		for _, word := range row.Words() {
			forms[word] = row.Concept
		}
	}
	return forms
})

// baseForm returns the base form of English words that the stemmer of Postgres does not unify: irregular verbs and nouns, a
// few nouns with the meaning of their verb, and abbreviated days. Other words are returned unchanged.
func baseForm(word string) string {
	if base, known := readBaseForms()[word]; known {
		return base
	}
	return word
}
