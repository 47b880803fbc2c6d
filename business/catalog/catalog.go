// Package catalog holds the standard texts to contacts, such as the greeting, in the languages that multis writes by itself.
package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"multis/internal/language"
	"multis/internal/language/lexicon"
)

// Lang is a language as its ISO 639-1 code, such as "de".
type Lang string

// The languages of the standard texts.
const (
	English    Lang = "en"
	German     Lang = "de"
	French     Lang = "fr"
	Spanish    Lang = "es"
	Portuguese Lang = "pt"
	Italian    Lang = "it"
	Dutch      Lang = "nl"
	Russian    Lang = "ru"
	Turkish    Lang = "tr"
	Arabic     Lang = "ar"
)

// Langs returns all languages of the standard texts.
func Langs() []Lang {
	return []Lang{English, German, French, Spanish, Portuguese, Italian, Dutch, Russian, Turkish, Arabic}
}

// Name names a standard text.
type Name string

// The standard texts.
const (
	Greeting  Name = "greeting"  // answers a greeting
	Escalated Name = "escalated" // a person will answer
	Danger    Name = "danger"    // a person will answer at once, because somebody is in danger or in pain
	Away      Name = "away"      // a person will answer after the next opening, which replaces {opening}
	Clarify   Name = "clarify"   // asks which of two things, {first} or {second}, a question is about
	FollowUp  Name = "follow_up" // asks a contact who has been silent for days
	Rating    Name = "rating"    // asks for a 👍 or a 👎 on the text itself
)

// Names returns the names of all standard texts.
func Names() []Name { return []Name{Greeting, Escalated, Danger, Away, Clarify, FollowUp, Rating} }

// Variables returns the variables that a text must have, such as "{opening}".
func (n Name) Variables() []string {
	switch n {
	case Away:
		return []string{"{opening}"}
	case Clarify:
		return []string{"{first}", "{second}"}
	case Greeting, Escalated, Danger, FollowUp, Rating:
	}
	return nil
}

// Texts are standard texts. The zero value has those of the package only.
type Texts struct {
	// ForAll replaces texts in all languages that ByLang has no text for.
	ForAll map[Name]string
	// ByLang replaces texts in one language.
	ByLang map[Lang]map[Name]string
}

// Text returns a text in a language; in English for a language without texts. values are pairs of a variable and its value, as for
// strings.NewReplacer.
func (t Texts) Text(name Name, lang Lang, values ...string) string {
	text := t.ByLang[lang][name]
	if text == "" {
		text = t.ForAll[name]
	}
	if text == "" {
		text = standardTexts(lang)[name]
	}
	return strings.NewReplacer(values...).Replace(text)
}

// Check returns an error if a text that replaces the one of a name lacks a variable.
func Check(name Name, text string) error {
	for _, v := range name.Variables() {
		if !strings.Contains(text, v) {
			return fmt.Errorf("the text has no %s", v)
		}
	}
	return nil
}

// searched are the languages that search knows.
var searched = map[language.Language]Lang{ //nolint:gochecknoglobals // a constant
	language.English: English, language.German: German, language.French: French, language.Spanish: Spanish, language.Portuguese: Portuguese,
	language.Italian: Italian, language.Dutch: Dutch, language.Russian: Russian, language.Arabic: Arabic,
}

// LangOf returns the language of the texts for a language of search; fallback if there are none.
func LangOf(l language.Language, fallback Lang) Lang { return cmp.Or(searched[l], fallback) }

// DetectLanguage returns the language of a conversation, from the texts that a contact wrote, the newest first. It
// returns fallback if they are too short to tell.
func DetectLanguage(texts []string, fallback Lang) Lang {
	all := strings.Join(texts, "\n")
	if isTurkish(all) {
		return Turkish
	}
	if lang := LangOf(language.Detect(all), ""); lang != "" {
		return lang
	}
	for _, text := range texts {
		if lang := greetingLanguage(text); lang != "" {
			return lang
		}
	}
	if lang := commonLanguage(all); lang != "" {
		return lang
	}
	return fallback
}

// commonLanguage returns the language with the most common words in a text; empty if there are none, or as many of another.
func commonLanguage(text string) (best Lang) {
	most := 0
	for _, lang := range Langs() {
		common, n := lexicon.In(string(lang), "common", "own"), 0
		for word := range strings.FieldsSeq(strings.ToLower(strings.ReplaceAll(text, "’", "'"))) {
			if slices.Contains(common, strings.Trim(word, ".,;:!?¿¡()\"'")) {
				n++
			}
		}
		switch {
		case n > most:
			best, most = lang, n
		case n == most:
			best = ""
		}
	}
	return best
}

// greetingLanguage returns the language of a text that begins with a greeting of one language only; empty for others.
func greetingLanguage(text string) Lang {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimLeft(text, "¡ ")), " ")
	for _, lang := range Langs() {
		if slices.Contains(lexicon.In(string(lang), "common", "greetings"), strings.TrimRight(first, ".,!?")) {
			return lang
		}
	}
	return ""
}

// isTurkish reports whether a text is Turkish, by letters that its neighbours in Latin script lack and by its most common
// words. Search does not know the language.
func isTurkish(text string) bool {
	common := lexicon.In(string(Turkish), "common", "most")
	letters, words := 0, 0
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		word = strings.Trim(word, ".,;:!?()\"'")
		if slices.Contains(common, word) {
			words++
		}
		if strings.ContainsAny(word, "ğşı") {
			letters++
		}
	}
	return letters > 0 && letters+words >= 2
}

// FormatOpening returns a time as a contact reads it: the weekday and the time, with the date if it is more than six days
// away. Both times are in the zone of the business.
func FormatOpening(lang Lang, opening, now time.Time) string {
	words, known := weekdays()[lang]
	if !known {
		lang, words = English, weekdays()[English]
	}
	day := words[opening.Weekday()]
	if opening.Sub(now) > 6*24*time.Hour {
		day += ", " + opening.Format(dateLayout(lang))
	}
	return day + ", " + opening.Format("15:04")
}

// dateLayout returns the layout of a date in a language.
func dateLayout(lang Lang) string {
	switch lang {
	case German, Russian, Turkish:
		return "02.01.2006"
	case Dutch:
		return "02-01-2006"
	case French, Spanish, Portuguese, Italian, Arabic:
		return "02/01/2006"
	case English:
	}
	return "2 January 2006"
}

// standardTexts returns the texts of the package in a language; in English for a language without texts.
func standardTexts(lang Lang) map[Name]string {
	if texts, ok := allStandardTexts()[lang]; ok {
		return texts
	}
	return allStandardTexts()[English]
}

// HasTexts reports whether there are standard texts in a language.
func HasTexts(lang Lang) bool {
	return slices.Contains(slices.Collect(maps.Keys(allStandardTexts())), lang)
}
