package search

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/text"
)

const (
	// minSameWording is the share of the shorter text's words that two answers must have in common to be answers of the same kind.
	minSameWording = 0.5
	// maxSubject is the maximum length of Option.Subject, in characters.
	maxSubject = 60
	// minStem is the minimum length of the beginning that two forms of a word must have in common (see hasForm).
	minStem = 4
)

// Option is one of two answers to a question that does not say which of two things it is about.
type Option struct {
	Quote   Quote
	Subject string // what the answer is about: a table's row, a heading or a document's name
}

// Options returns the two answers of an ambiguous question: both match it equally well, and they say the same about two
// things, with different values. It returns none if there is only one answer, if there are more than two, or if no
// heading or name tells the two things apart.
func (s *Searcher) Options(ctx context.Context, r Result) ([]Option, error) {
	found, err := s.answerCandidates(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, nil
	}
	best := bestCandidate(found)
	var options []Option
	for _, rival := range rivals(best, found) {
		subject, other := best.distinctSubject(rival), rival.distinctSubject(best)
		if subject == "" || other == "" {
			return nil, nil
		}
		switch {
		case len(options) == 0:
			options = []Option{{best.quote(), subject}, {rival.quote(), other}}
		case subject != options[0].Subject || other != options[1].Subject:
			return nil, nil
		}
	}
	return options, nil
}

// PickOption returns the index of the option that a reply names, or -1 if it names none or both. A reply names an option
// if it contains a word of that option's subject that is not in the subject of the other.
func PickOption(options []Option, reply string) int {
	said, picked := Words(reply), -1
	for i, o := range options {
		for j, other := range options {
			if i == j || !namesSubject(said, Words(o.Subject), Words(other.Subject)) {
				continue
			}
			if picked >= 0 {
				return -1
			}
			picked = i
		}
	}
	return picked
}

// namesSubject reports whether said contains, in any form, a word of subject that is not in other and is not a common word.
func namesSubject(said, subject, other []string) bool {
	return slices.ContainsFunc(subject, func(word string) bool {
		return !hasForm(other, word) && !IsCommonWord(word) && hasForm(said, word)
	})
}

// hasForm reports whether list contains word or, if word is long enough, another form of it, which differs in an ending
// of up to two letters.
func hasForm(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		if w == word {
			return true
		}
		n := max(minStem, min(len(w), len(word))-1)
		return len(w) >= n && len(word) >= n && max(len(w), len(word))-n <= 2 && w[:n] == word[:n]
	})
}

// rivals returns the answers that match the question as well as best does, in similar words but with other values.
func rivals(best candidate, found []candidate) []candidate {
	said := splitValues(best.core)
	return slices.DeleteFunc(slices.Clone(found), func(c candidate) bool {
		overlaps := c.rank == best.rank && c.from < best.to && best.from < c.to
		return overlaps || c.coverage != best.coverage || c.answerMatch != best.answerMatch || c.pairs != best.pairs ||
			c.textCoverage != best.textCoverage || c.units != best.units ||
			!slices.Equal(c.matched, best.matched) || !said.differsInValues(splitValues(c.core))
	})
}

var (
	value = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)
	// weekday matches the weekdays in the languages of the standard texts, without accents; some only by their beginning.
	weekday = regexp.MustCompile(`^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*day$|^(?:mon|diens|donners|frei|sams|sonn)tag$|^mittwoch$|^(?:lun|mar|mercre|jeu|vendre|same)di$|^dimanche$|` +
		`^(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo)$|^(?:segunda|terca|quarta|quinta|sexta)$|^(?:lune|marte|mercole|giove|vener)di$|^(?:sabato|domenica)$|` +
		`^(?:maan|dins|woens|donder|vrij|zater|zon)dag$|^(?:понедельник|вторник|сред|четверг|пятниц|суббот|воскресень)|^(?:pazar|sali|carsamba|persembe|cuma|pazartesi|cumartesi)$`)
)

// wording is a text split into its values (numbers and weekdays) and its other words.
type wording struct{ words, values []string }

func splitValues(body string) wording {
	var w wording
	for _, word := range Words(value.ReplaceAllString(body, " ")) {
		if weekday.MatchString(word) {
			w.values = append(w.values, word)
		} else {
			w.words = append(w.words, word)
		}
	}
	w.values = append(w.values, value.FindAllString(body, -1)...)
	return w
}

// differsInValues reports whether two texts have most words in common, and each has a value that the other one lacks.
func (w wording) differsInValues(other wording) bool {
	less, more := w.words, other.words
	if len(less) > len(more) {
		less, more = more, less
	}
	same := 0
	for _, word := range less {
		if slices.Contains(more, word) {
			same++
		}
	}
	lacks := func(in, of []string) bool {
		return slices.ContainsFunc(of, func(v string) bool { return !slices.Contains(in, v) })
	}
	return same > 0 && float64(same) >= minSameWording*float64(len(less)) && lacks(w.values, other.values) && lacks(other.values, w.values)
}

// distinctSubject returns what distinguishes a candidate's subject from that of another: the innermost label (see labels)
// that the other does not have. It is empty if there is none.
func (c candidate) distinctSubject(other candidate) string {
	others := other.labels()
	for _, label := range c.labels() {
		if !slices.ContainsFunc(others, func(o string) bool { return strings.EqualFold(o, label) }) {
			return text.Clip(label, maxSubject)
		}
	}
	return ""
}

var (
	itemLabel   = regexp.MustCompile(`^([^:.!?\n]{2,60}):\s`)
	recordLabel = regexp.MustCompile(`^[^:;\n]{1,60}:\s*([^;\n]{2,60});`)
)

// labels returns the names of a candidate's subject, the innermost first: the label of its item or row, its lead, the
// headings and the document's name.
func (c candidate) labels() []string {
	var list []string
	add := func(label string) {
		if label = strings.Trim(text.OneLine(label), " *_`#|:.?"); utf8.RuneCountInString(label) > 1 && strings.ContainsFunc(label, isWordRune) {
			list = append(list, label)
		}
	}
	cell, _, isTable := strings.Cut(c.core, "|")
	record, item := recordLabel.FindStringSubmatch(c.core), itemLabel.FindStringSubmatch(c.core)
	switch {
	case isTable:
		add(cell)
	case record != nil:
		add(record[1])
	case item != nil:
		add(item[1])
	}
	add(c.lead)
	sections := strings.Split(c.hit.Section, SectionSeparator)
	for _, section := range slices.Backward(sections) {
		add(section)
	}
	add(documentName(c.hit.Title))
	return list
}

// documentName returns a document's name without its file extension.
func documentName(title string) string {
	name, _, _ := strings.Cut(title, ".")
	return cmp.Or(name, title)
}
