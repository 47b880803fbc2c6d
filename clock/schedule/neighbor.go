package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"multis/internal/language/lexicon"
)

// dateOrClock matches a word that looks like a date or a time of day which is not read: 12/24, 24-Dec-26, 1978/08/25, 8.30pm.
var dateOrClock = regexp.MustCompile(`^(?:\d{1,4}[/.-](?:\d{1,2}|[a-z]{3,9})(?:[/.-]\d{1,4})?|\d{1,2}[.:]?\d{0,2}[ap]m.*)$`)

// The roles of words that lead from the words before a time to it. The governing ones always change the time.
var (
	governing = []role{roleOf, roleFrom, roleTo, roleAfter}
	leading   = []role{roleThe, roleAt, roleOn, roleIn, roleAn, roleAnd}
	// changing are the roles of words that change a time after them.
	changing = []role{
		roleQualifier, roleVague, roleNext, roleHalf, roleEvery, roleEach, roleMonth, roleWeekday, roleDay, roleTonight, rolePart, roleAM,
		rolePM, roleClock, roleMidnight,
	}
)

// isQualified reports whether the words before a time, which begins at the word start, may change it: "end of the sunday", "two days from
// today", "a quarter to seven tomorrow", "24.12.26 9am".
func (p *timeParser) isQualified(start int) bool {
	joined := false // by "and" or a dash
	for i := start - 1; i >= 0; i-- {
		r := p.words[i].word.role
		joins := r == roleAnd || isDash(p.words[i].text)
		switch {
		case slices.Contains(governing, r):
			return true
		case joins, slices.Contains(leading, r):
			joined = joined || joins
		default:
			q := cursor{words: p.words, pos: i}
			first := p.words[start]
			return p.changes(q.peek(0), q.peek(-1), first) || isDigits(q.peek(0).text) && p.isNumberOfDay(q, first, joined)
		}
	}
	return false
}

// changes reports whether a word may change the time that begins at first. before is the word before it.
func (p *timeParser) changes(w, before, first token) bool {
	switch unit := p.lang.words[strings.TrimSuffix(w.text, "'s")]; {
	case unit.role == roleUnit: // "two weeks", "last week's", but "plan the week"
		return p.isCount(before) || slices.Contains([]role{roleNext, roleThis, roleQualifier, roleAn, roleOf}, before.word.role)
	case slices.Contains(changing, w.word.role),
		w.text == "for" && p.isAfterDuration, // "for two hours" is no delay
		strings.Trim(w.text, "<>=~") == "",
		w.word.role == roleMeal && slices.Contains([]role{roleAt, roleAfter, roleVague}, before.word.role),
		isWeekday(first) && p.lang.feasts[w.text],
		p.isPartWithHyphen(w):
		return true
	case isDigits(w.text):
		return false
	default:
		return p.isCount(w) && !startsWithDigit(w.text) || dateOrClock.MatchString(strings.TrimLeft(w.text, "<>=~(")) ||
			p.lang.isNumberWithUnit(w.text) || p.lang.ordinal(w.text) > 0
	}
}

// isNumberOfDay reports whether the number at the position of q may be the day or the year of a time that begins at first:
// "Nov. 2016 10:38", "on 15 at 8:00", "18 and 19 june", "for 2 tomorrow".
func (p *timeParser) isNumberOfDay(q cursor, first token, joined bool) bool {
	before := q.peek(-1)
	for _, w := range []token{before, q.peek(-2)} {
		if p.lang.words[strings.TrimSuffix(w.text, ".")].role == roleMonth && (w == before || p.lang.ordinal(before.text) > 0) {
			return true
		}
	}
	isOnDay := joined || before.word.role == roleOn || before.word.role == roleThe
	return p.lang.ordinal(q.peek(0).text) > 0 && (isOnDay || !startsWithDigit(first.text) && first.word.role != roleAt)
}

// isCount reports whether a word counts something: 3, three, 3rd, third, +3.
func (p *timeParser) isCount(t token) bool {
	head, _, _ := strings.Cut(t.text, "-")
	_, isNumber := p.lang.numbers[head]
	return isNumber || startsWithDigit(strings.TrimLeft(t.text, "+-")) || p.isOrdinalWord(t)
}

// isPartWithHyphen reports whether a word is a part of the day such as "late-evening".
func (p *timeParser) isPartWithHyphen(t token) bool {
	_, part, found := strings.Cut(t.text, "-")
	return found && p.lang.words[part].role == rolePart
}

// isZone reports whether a word after a time is the abbreviation of a time zone.
func (p *timeParser) isZone(t token) bool {
	name := strings.Trim(t.raw, "()")
	upper := strings.ToUpper(name)
	isAfterClock := startsWithDigit(p.peek(-1).text) || p.peek(-1).word.role == roleAM || p.peek(-1).word.role == rolePM
	return zoneAbbreviations[name] || strings.HasPrefix(upper, "UTC+") || strings.HasPrefix(upper, "GMT+") ||
		isAfterClock && len(name) > 2 && zoneAbbreviations[upper]
}

// isAmbiguous reports whether the word after a time may still belong to it.
func (p *timeParser) isAmbiguous(next, then token) bool {
	digit := startsWithDigit(then.text)
	before := p.peek(-1)
	_, isNumber := p.lang.numbers[strings.SplitN(next.text, "-", 2)[0]]
	_, numberFollows := p.lang.numbers[strings.SplitN(then.text, "-", 2)[0]]
	isDate := slices.Contains([]role{roleMonth, roleWeekday, roleDay, roleTonight, rolePart, roleEach, roleQualifier}, then.word.role)
	switch {
	case isNumber, p.isPartWithHyphen(next),
		strings.HasPrefix(next.raw, "(") && p.startsDate(next),
		next.word.role == roleMonth && (digit || numberFollows || p.isOrdinalWord(then)),
		next.text == "for" && digit && strings.Contains(then.text, ":"),
		next.word.role == roleQualifier && (digit || numberFollows || then.word.role == rolePart || next.text == "since"),
		next.word.role == roleQualifier && then.word.role == roleUnit && then.word.n > unitDay,       // "monday last week"
		startsWithDigit(next.text) && then.word.role == roleUnit && p.peek(2).word.role == roleVague: // "6pm 2 days ago"
		return true
	}
	switch next.word.role {
	case roleEvery: // "weekly review" is a review, "every day" is a rhythm
		return then.end == 0 || digit || isTimeWord(then)
	case roleNext, roleThis: // "monday next month"
		return then.word.role == roleUnit
	case roleVague, roleAfter, roleFrom, roleAM, rolePM, roleClock, roleMidnight, roleTonight, roleDay, roleOf, roleEach:
		return true
	case rolePart: // "7:00 evening", but "7:00 morning run"
		return next.word.n >= 12
	case roleUnit: // "monday week" is another Monday
		return p.isAfterDuration || before.word.role == roleWeekday || before.word.role == roleDay ||
			startsWithDigit(before.text) && strings.Trim(before.text, "0123456789") == "" // "february twenty second"
	case roleAn: // "7 days a week" is no time, "9 a m" is one
		return p.isAfterDuration && then.word.role == roleUnit || then.text == "m"
	case roleWeekday, roleShortDay: // "jul 18, fri"
		return !p.dayKnown || before.word.role == roleMonth || p.lang.ordinal(before.text) > 0
	case roleIn:
		return digit || slices.Contains([]role{roleAn, roleHalf, rolePart}, then.word.role) ||
			then.word.role == roleThe && p.peek(2).word.role == roleQualifier // "in the early hours"
	case roleAt:
		return digit || then.word.role == rolePart || then.word.role == roleMeal
	case roleAnd:
		return digit || isTimeWord(then)
	case roleOn: // "8pm on the 15"
		return isTimeWord(then) || then.word.role == roleThe && startsWithDigit(p.peek(2).text)
	case roleThe:
		return p.lang.ordinal(then.text) > 0 || numberFollows || p.isOrdinalWord(then)
	case roleTo: // "20 minutes to five", "oct 2 to oct 22"
		return digit || numberFollows || isDate
	default:
		return next.raw == "" || isDash(next.text) && (digit || isDate) || p.isAmbiguousNumber(next.text)
	}
}

// startsDate reports whether a word in parentheses begins like a date.
func (p *timeParser) startsDate(t token) bool {
	inner := strings.TrimLeft(t.text, "(")
	return startsWithDigit(inner) || len(inner) >= 3 && p.lang.words[inner[:3]].role == roleMonth
}

// isOrdinalWord reports whether a word is an ordinal that is written out, such as "fifteenth".
func (p *timeParser) isOrdinalWord(t token) bool {
	isLong := strings.HasSuffix(t.text, "th") && len(t.text) > 4 && t.word.role == roleNone
	return isLong || slices.Contains([]string{"first", "second", "third"}, t.text)
}

// isAmbiguousNumber reports whether a number after a time may belong to it.
func (p *timeParser) isAmbiguousNumber(s string) bool {
	if after := strings.TrimLeft(s, "+-–"); after != s {
		return startsWithDigit(after)
	}
	return startsWithDigit(s) && (p.isAfterDuration || strings.ContainsAny(s, ":.-/") || p.lang.isNumberWithUnit(s))
}

// foreignDays are the days of the week and the months in other languages than English.
var foreignDays = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, topic := range []string{"days", "months"} {
		for _, code := range lexicon.Languages(topic) {
			for _, row := range lexicon.Rows(code, topic) {
				for _, word := range row.Words() {
					if code != "en" && utf8.RuneCountInString(word) > 3 { // a shorter one is often another word
						names[lower(word)] = true
					}
				}
			}
		}
	}
	return names
})

// writtenDate matches a word that is a date with its year.
var writtenDate = regexp.MustCompile(`^\d{1,4}[./-]\d{1,2}[./-]\d{2,4}\.?$`)

// refuseOtherDay refuses a text with a time of day, and elsewhere with a date, or with a day or month in another language. That would be
// lost.
func (p *timeParser) refuseOtherDay(from, to int) error {
	if p.dayKnown || p.isAfterDuration {
		return nil
	}
	for _, w := range p.words[from:to] {
		switch {
		case foreignDays()[w.text] && w.word.role == roleNone:
			return p.refuse(fmt.Sprintf("Is *%s* a day? I know them in English only. Write it so, or `today` before the time.", w.quoted()))
		case writtenDate.MatchString(w.text):
			return p.refuse(fmt.Sprintf("I see *%s* in the text as well. Write it next to the time, or `today` before the time.", w.quoted()))
		}
	}
	return nil
}

// isDigits reports whether a text has only digits.
func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
