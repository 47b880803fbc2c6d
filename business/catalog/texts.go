package catalog

import (
	"sync"
	"time"

	"multis/internal/language/lexicon"
)

// allStandardTexts reads the standard texts of all languages on the first call.
var allStandardTexts = sync.OnceValue(func() map[Lang]map[Name]string {
	all := map[Lang]map[Name]string{}
	for _, lang := range Langs() {
		all[lang] = map[Name]string{}
		for _, name := range Names() {
			all[lang][name] = phrase(lang, string(name))
		}
	}
	return all
})

// phrase returns a text of the lexicon in a language.
func phrase(lang Lang, concept string) string { return lexicon.Text(string(lang), "texts", concept) }

// weekdays reads the names of the weekdays of all languages on the first call, from Sunday on.
var weekdays = sync.OnceValue(func() map[Lang][7]string {
	all := map[Lang][7]string{}
	for _, lang := range Langs() {
		var names [7]string
		for day, row := range lexicon.Rows(string(lang), "days") {
			names[time.Weekday(day)] = row.Words()[0]
		}
		all[lang] = names
	}
	return all
})
