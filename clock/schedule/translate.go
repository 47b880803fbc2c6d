package schedule

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"multis/internal/language/lexicon"
	"multis/internal/language/phrase"
)

// maxEndTime is the maximum number of words of a time at the end of a text.
const maxEndTime = 12

// InEnglish returns a text with the time at its beginning or end in English and at the beginning, for ParseTime and
// ParseRecurrence: "mañana a las 8 pan" is "tomorrow at 8 pan". A text without such a time in German, Spanish or French is unchanged.
func InEnglish(text string) string {
	tokens := phrase.Tokens(text)
	line := phrase.Line{Typed: text, Tokens: tokens}
	for _, code := range lexicon.Languages("times") {
		if time, end := readTimes(code, line).from(0); time != "" {
			return joinTime(time, line, end, len(tokens))
		}
	}
	for _, code := range lexicon.Languages("times") {
		words := readTimes(code, line)
		for start := max(0, len(tokens)-maxEndTime); start < len(tokens); start++ {
			if time, end := words.from(start); time != "" && end == len(tokens) {
				return joinTime(time, line, 0, start)
			}
		}
	}
	return text
}

// joinTime returns a time and the words of a line that it is for, without a word such as "que" before them.
func joinTime(time string, line phrase.Line, from, to int) string {
	if from < to && slices.Contains(lexicon.Words("times", "about"), line.Tokens[from].Word) {
		from++
	}
	if from >= to {
		return time
	}
	return time + " " + line.Text(from, to)
}

// timeWord is the meaning of words from a token on.
type timeWord struct {
	meaning string // a row of the lexicon, the English name of a day or month, or digits
	size    int    // tokens
	// isLetter says that it is one letter, such as "à", which is also another word.
	isLetter bool
}

// timeWords are the meanings of a line in one language, by its tokens.
type timeWords []timeWord

// spelling is words of times with their meaning.
type spelling struct {
	words   []string
	meaning string
}

// readSpellings reads the words of times of each language on the first call. Those of several words are first.
var readSpellings = sync.OnceValue(func() map[string][]spelling {
	all := map[string][]spelling{}
	for _, code := range lexicon.Languages("times") {
		for _, topic := range []string{"times", "days", "months"} {
			for _, row := range lexicon.Rows(code, topic) {
				if row.Concept == "about" {
					continue
				}
				for _, word := range row.Words() {
					all[code] = append(all[code], spelling{phrase.Words(word), row.Concept})
					switch {
					case topic != "days":
					case code == "de":
						all[code] = append(all[code], spelling{phrase.Words(word + "s"), "every " + row.Concept})
					default:
						all[code] = append(all[code], spelling{phrase.Words(word + "s"), row.Concept})
					}
				}
			}
		}
		slices.SortStableFunc(all[code], func(a, b spelling) int { return len(b.words) - len(a.words) })
	}
	return all
})

// readTimes returns the meanings of the words of a line.
func readTimes(code string, line phrase.Line) timeWords {
	words := make(timeWords, len(line.Tokens))
	for i := range words {
		words[i] = meaningAt(code, line, i)
	}
	return words
}

// meaningAt returns the meaning of the words from a token on; the zero value if they belong to no time.
func meaningAt(code string, line phrase.Line, at int) timeWord {
	for _, s := range readSpellings()[code] {
		if at+len(s.words) > len(line.Tokens) {
			continue
		}
		fits := true
		for i, word := range s.words {
			fits = fits && line.Tokens[at+i].Word == word
		}
		if fits {
			return timeWord{meaning: s.meaning, size: len(s.words), isLetter: len(s.words) == 1 && len(s.words[0]) == 1}
		}
	}
	if word := line.Tokens[at].Word; startsWithDigit(word) {
		return timeWord{meaning: word, size: 1}
	}
	return timeWord{}
}

// timeReader reads a time from left to right.
type timeReader struct {
	words timeWords
	at    int
	found []string // in English
	sure  bool     // a word that only a time has was read
	named bool     // a word was read, and not only digits, which English has, too
}

// from returns the time from a token on in English, and where it ends. The time is empty if there is none.
func (w timeWords) from(start int) (time string, end int) {
	r := &timeReader{words: w, at: start}
	for r.part() {
	}
	if !r.sure || !r.named {
		return "", start
	}
	return strings.Join(r.found, " "), r.at
}

// peek returns the meaning at the position.
func (r *timeReader) peek() string {
	if r.at < len(r.words) {
		return r.words[r.at].meaning
	}
	return ""
}

// accept skips the word at the position if it has one of the meanings, and returns it.
func (r *timeReader) accept(meanings ...string) string {
	m := r.peek()
	if m == "" || !slices.Contains(meanings, m) {
		return ""
	}
	r.at += r.words[r.at].size
	r.named = true
	return m
}

// part reads a part of a time: a length, a day, or a time of day. It returns false, at the same position, if there is none.
func (r *timeReader) part() bool {
	start := *r
	for _, read := range []func() string{r.length, r.recurring, r.dayName, r.clock} {
		if english := read(); english != "" {
			r.found = append(r.found, english)
			return true
		}
		r.at = start.at
	}
	return false
}

// units are the units of a length of time.
var units = []string{"minute", "hour", "day", "week", "month"}

// amount reads a number and a unit, such as "15 min" or "2h".
func (r *timeReader) amount() string {
	if r.accept("an") != "" {
		if r.accept("half_hour") != "" {
			return "30 minutes"
		}
		if unit := r.accept(units...); unit != "" {
			return "1 " + unit
		}
		return ""
	}
	if r.accept("half_hour") != "" {
		return "30 minutes"
	}
	n, unit, isNumber := parseNumber(r.peek())
	if !isNumber {
		return ""
	}
	r.at++
	switch unit {
	case "":
		unit = r.accept(units...)
	case "h", "std":
		unit = "hour"
	case "min", "m", "mn":
		unit = "minute"
	default:
		unit = ""
	}
	if unit == "" {
		return ""
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// length reads "in 2 hours".
func (r *timeReader) length() string {
	if r.accept("in") == "" {
		return ""
	}
	amount := r.amount()
	if amount == "" {
		return ""
	}
	r.sure = true
	return "in " + amount
}

// recurring reads "every monday" and "every 2 hours".
func (r *timeReader) recurring() string {
	if m := r.peek(); strings.HasPrefix(m, "every ") {
		r.at++
		r.sure, r.named = true, true
		return m
	}
	switch r.accept("daily", "weekdays", "every") {
	case "daily":
		r.sure = true
		return "every day"
	case "weekdays":
		r.sure = true
		return "every weekday"
	case "":
		return ""
	}
	day := r.accept(slices.Concat(dayNames, []string{"day", "week", "month", "hour"})...)
	if day == "" {
		day = r.amount()
	}
	if day == "" {
		return ""
	}
	r.sure = true
	return "every " + day
}

// dayNames are the days of the week.
var dayNames = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")

// dayName reads "on monday", "tomorrow evening" and "24 december".
func (r *timeReader) dayName() string {
	var english string
	isOn := r.accept("on") != ""
	next := r.accept("next")
	switch m := r.accept(slices.Concat(dayNames, []string{"today", "tomorrow", "after_tomorrow", "tonight"})...); m {
	case "":
		return r.date(isOn)
	case "after_tomorrow":
		english = "the day after tomorrow"
	case "today", "tomorrow", "tonight":
		english = m
	default:
		if r.accept("next") != "" {
			next = "next"
		}
		english = strings.TrimSpace(next + " " + m)
	}
	r.sure = true
	if part := r.accept("morning", "noon", "afternoon", "evening", "night"); part != "" {
		english += " " + part
	}
	return english
}

// englishMonths are the months.
var englishMonths = strings.Fields("january february march april may june july august september october november december")

// date reads "24 december", and "24.12" after a word such as "am".
func (r *timeReader) date(isOn bool) string {
	n, suffix, isNumber := parseNumber(r.peek())
	dotted := isOn && strings.HasPrefix(suffix, ".")
	if !isNumber {
		return ""
	}
	if dotted && strings.Trim(suffix, ".0123456789") == "" {
		r.sure = true
		r.at++
		return r.words[r.at-1].meaning + "."
	}
	r.at++
	month := r.accept(englishMonths...)
	if month == "" || suffix != "" {
		return ""
	}
	r.sure = true
	return fmt.Sprintf("%d %s", n, month)
}

// clock reads a time of day: "18 uhr", "à 18h30", "a las 5 de la tarde".
func (r *timeReader) clock() string {
	isWeak := r.at < len(r.words) && r.words[r.at].isLetter
	at := r.accept("at") != ""
	switch m := r.accept("half_to", "quarter_past", "quarter_to", "noon", "midnight", "morning", "afternoon", "evening"); m {
	case "":
	case "noon":
		r.sure = true
		return "12:00"
	case "half_to", "quarter_past", "quarter_to":
		return r.clockTime(map[string]int{"half_to": -30, "quarter_past": 15, "quarter_to": -15}[m])
	default:
		return m
	}
	hour, minute, suffix, ok := splitClock(r.peek())
	if !ok {
		return ""
	}
	r.at++
	exact := suffix != "" || hour > 12
	if r.accept("oclock") != "" {
		exact = true
		if n, after, isNumber := parseNumber(r.peek()); isNumber && after == "" && n < 60 {
			r.at++
			minute = n
		}
	}
	shift := map[string]int{"half_past": 30, "quarter_past": 15, "quarter_to": -15}[r.accept("half_past", "quarter_past", "quarter_to")]
	part := r.accept("am", "pm", "morning", "afternoon", "evening", "night")
	if (part == "pm" || part == "afternoon" || part == "evening" || part == "night") && hour < 12 {
		hour += 12
	}
	exact = exact || shift != 0 || part != ""
	isLength := suffix == "h" // "2h" is a length, "à 2h" a time
	if !at && len(r.found) == 0 && (!exact || isLength) {
		return ""
	}
	r.sure = r.sure || exact || at && !isWeak
	if !exact {
		return fmt.Sprintf("at %d", hour)
	}
	return clockText(hour*60 + minute + shift)
}

// clockTime reads the hour of a time such as "half past eight", which is minutes from it.
func (r *timeReader) clockTime(minutes int) string {
	hour, _, suffix, ok := splitClock(r.peek())
	if !ok || suffix != "" {
		return ""
	}
	r.at++
	r.sure = true
	return clockText(hour*60 + minutes)
}

// clockText formats the minutes since midnight.
func clockText(minutes int) string {
	const day = 24 * 60
	minutes = (minutes + day) % day
	return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60)
}

// splitClock splits "18h30", "18:30" or "18" into its numbers. The suffix is empty for an hour alone.
func splitClock(word string) (hour, minute int, suffix string, ok bool) {
	if n := slices.Index(hourNames, word); n > 0 {
		return n, 0, "", true
	}
	hour, suffix, ok = parseNumber(word)
	if !ok || hour > 24 {
		return 0, 0, "", false
	}
	if suffix == "" || suffix == "h" {
		return hour, 0, suffix, true
	}
	minute, after, isNumber := parseNumber(strings.TrimLeft(suffix, ":h."))
	return hour, minute, suffix, isNumber && after == "" && minute < 60 && strings.ContainsAny(suffix[:1], ":h")
}

// hourNames are the meanings of the numbers that name an hour, by the hour.
var hourNames = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve")
