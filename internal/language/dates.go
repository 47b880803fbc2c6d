package language

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"multis/internal/language/lexicon"
)

var (
	// digitDate matches what may be a date in digits, such as 6/7 or 06.07; 6-7 may be a range.
	digitDate = regexp.MustCompile(`\b(\d{1,2})[./](\d{1,2})\b`)
	// longerBefore and longerBehind match what makes digits a part of something longer.
	longerBefore = regexp.MustCompile(`[\d.,:/-]$`)
	longerBehind = regexp.MustCompile(`^(?:[\d/-]|[.,:][\d.,:/-])`)
	// goesOn matches what stands behind a day in digits, 6.7., that does not end a sentence. Without it 6.7 may be a price.
	goesOn = regexp.MustCompile(`^\. \p{Ll}`)
)

// writtenDates match dates with the name of a month, by its number from 1: "6 July", "6. Juli", "6 de julho", "July 6". The groups are
// the date and its day, before the month or behind it.
var writtenDates = sync.OnceValue(func() map[int]*regexp.Regexp { //nolint:gochecknoglobals // read once
	names := map[int][]string{}
	for _, code := range lexicon.Languages("months") {
		for i, row := range lexicon.Rows(code, "months") {
			for _, w := range row.Words() {
				names[i+1] = append(names[i+1], regexp.QuoteMeta(w))
			}
		}
	}
	dates := map[int]*regexp.Regexp{}
	for i, list := range names {
		name := `(?:` + strings.Join(list, "|") + `)`
		day := `(\d{1,2})(?:\.|er|st|nd|rd|th|º)?\s+(?:de |of )?`
		dates[i] = regexp.MustCompile(`(?i)(?:^|[^\p{L}\d])(` + day + name + `|` + name + `\s+(\d{1,2}))(?:$|[^\p{L}\d])`)
	}
	return dates
})

// SpellDates returns a text with its dates in digits as one of the sources writes them in words: "6/7" as "6 July". Digits that are no
// date of a source stay, and so do those beside a unit of prices or time.
func SpellDates(s string, sources ...string) string {
	var b strings.Builder
	end := 0
	for _, m := range digitDate.FindAllStringSubmatchIndex(s, -1) {
		from, to := m[0], m[1]
		before, behind := s[end:from], s[to:min(len(s), to+maxBehind)]
		if longerBefore.MatchString(before) || longerBehind.MatchString(behind) || isBesideUnit(before, behind) {
			continue
		}
		hasDotBehind := goesOn.MatchString(behind)
		if s[m[3]] == '.' && !hasDotBehind {
			continue
		}
		written := writtenDate(s[from:m[3]], s[m[4]:to], sources)
		if written == "" {
			continue
		}
		b.WriteString(before + written)
		end = to
		if hasDotBehind {
			end++
		}
	}
	return b.String() + s[end:]
}

// maxBehind is how much behind digits is looked at, in bytes.
const maxBehind = 40

// isBesideUnit reports whether a unit of prices or time ends a text, or begins another one.
func isBesideUnit(before, behind string) bool {
	const signs = "€$£%₺¥₽"
	isUnit := func(word string) bool {
		word = foldWord(strings.Trim(word, ".,;:!?()"))
		return strings.ContainsAny(word, signs) || IsPriceWord(word) || timeUnits()[word]
	}
	first, _, _ := strings.Cut(strings.TrimSpace(behind), " ")
	before = strings.TrimSpace(before)
	return isUnit(first) || isUnit(before[strings.LastIndex(before, " ")+1:])
}

// timeUnits are the words behind a length of time, or behind the hour of a time.
var timeUnits = sync.OnceValue(func() map[string]bool { //nolint:gochecknoglobals // read once
	units := map[string]bool{}
	for _, w := range slices.Concat(lexicon.Words("claims", "periods"), lexicon.Words("claims", "hours")) {
		units[foldWord(w)] = true
	}
	return units
})

// writtenDate returns a date of the sources that has a day and a month; empty if there is none.
func writtenDate(day, month string, sources []string) string {
	n, _ := strconv.Atoi(month)
	date, found := writtenDates()[n]
	if !found {
		return ""
	}
	for _, source := range sources {
		for _, m := range date.FindAllStringSubmatch(source, -1) {
			if m[2]+m[3] == strings.TrimPrefix(day, "0") {
				return m[1]
			}
		}
	}
	return ""
}
