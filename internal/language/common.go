package language

import (
	"sync"

	"multis/internal/language/lexicon"
)

// codes returns the recognized languages by their ISO 639-1 codes, which name the folders of the lexicon.
func codes() map[string]Language {
	return map[string]Language{
		"en": English,
		"de": German,
		"fr": French,
		"es": Spanish,
		"pt": Portuguese,
		"it": Italian,
		"nl": Dutch,
		"ru": Russian,
		"ar": Arabic,
	}
}

// latinCodes returns the codes of the recognized languages in Latin script, in the order of the results of score.
func latinCodes() [7]string { return [...]string{"en", "de", "fr", "es", "pt", "it", "nl"} }

// readCommon reads the most common words on the first call, each with the languages that it is common in: bit i is the
// language i of latinCodes.
var readCommon = sync.OnceValue(func() map[string]int {
	words := map[string]int{}
	for i, code := range latinCodes() {
		for _, word := range lexicon.In(code, "common", "most") {
			words[word] |= 1 << i
		}
	}
	return words
})

// commonLanguages returns the languages in which a word is among the most common, as the bits of readCommon.
func commonLanguages(word string) int { return readCommon()[word] }
