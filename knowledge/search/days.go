package search

import (
	"regexp"
	"slices"
	"strings"
)

// dayShare is how much a sentence that names other days supports a question for one day, relative to a sentence with that
// day: "We deliver from Tuesday to Friday" answers "Do you deliver on Sunday?".
const dayShare = 0.5

// everyDay matches texts, without accents and in lower case, that speak of all days.
var everyDay = regexp.MustCompile(`\b(?:daily|every day|(?:seven|7) days a week|taglich|jeden tag|tous les jours|chaque jour|todos los dias|cada dia|diariamente|todos os dias|ogni giorno|tutti i giorni|dagelijks|elke dag)\b`)

// isWeekday reports whether a word, as returned by Words, is a day of the week, in singular or plural.
func isWeekday(word string) bool {
	return weekday.MatchString(word) || weekday.MatchString(strings.TrimSuffix(word, "s"))
}

// namesDays reports whether a text says on which days something is: it names two days of the week, or all of them.
func namesDays(text string) bool {
	first := ""
	for _, w := range Words(text) {
		switch {
		case !isWeekday(w) || w == first:
		case first == "":
			first = w
		default:
			return true
		}
	}
	return everyDay.MatchString(strings.ToLower(fold(text)))
}

// isDay reports whether a term of the question is a day of the week.
func (t Term) isDay() bool { return slices.ContainsFunc(t.words, isWeekday) }

// asksForDay reports whether the question names a day of the week.
func (r Result) asksForDay() bool { return slices.ContainsFunc(r.Terms, Term.isDay) }

// namesDays reports whether one of the units first to last says on which days something specific is that the question names.
func (p splitHit) namesDays(first, last int) bool {
	for i := first; i <= last; i++ {
		isTopical := slices.ContainsFunc(p.result.Terms, func(t Term) bool {
			return t.class == specific && !t.isDay() && slices.Contains(p.unitLexemes[i], t.Lexeme)
		})
		if isTopical && namesDays(p.hit.Text[p.units[i].from:p.units[i].to]) {
			return true
		}
	}
	return false
}
