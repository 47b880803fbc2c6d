package policy

import (
	"cmp"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
)

func valueOf(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// twelveHourTime matches a time such as 6:30 p.m.
var twelveHourTime = regexp.MustCompile(`\b(1[0-2]|0?[1-9])(?:[:.]([0-5]\d))? ?([ap])\.?m\b`)

// replaceTwelveHourTimes replaces the matches of twelveHourTime. The pattern is used only if a match is possible, because it is slow.
func replaceTwelveHourTimes(lower string) string {
	for at := range strings.SplitSeq(lower, "m") {
		before := strings.TrimSuffix(at, ".")
		if hour := strings.TrimRight(before, "ap"); hour != before && strings.ContainsAny(hour[max(0, len(hour)-2):], "0123456789") {
			return twelveHourTime.ReplaceAllStringFunc(lower, to24Hour)
		}
	}
	return lower
}

// to24Hour converts a match of twelveHourTime: "6:30 p.m." becomes 18:30.
func to24Hour(time string) string {
	parts := twelveHourTime.FindStringSubmatch(time)
	hour, _ := strconv.Atoi(parts[1])
	if hour %= 12; parts[3] == "p" {
		hour += 12
	}
	return strconv.Itoa(hour) + ":" + cmp.Or(parts[2], "00")
}

// numberForms returns where the words with a digit in them begin and end. Such words with one character between them are
// one: 9:00-18:00, 12.10.2026.
func numberForms(s string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from, to := -1, 0 // of the words so far
		for start, end := range runs(s, isLetterOrNumber) {
			if !strings.ContainsFunc(s[start:end], unicode.IsNumber) {
				continue
			}
			if between := s[to:start]; from < 0 || utf8.RuneCountInString(between) != 1 || strings.ContainsAny(between, "\t\n\f\r ") {
				if from >= 0 && !yield(from, to) {
					return
				}
				from = start
			}
			to = end
		}
		if from >= 0 {
			yield(from, to)
		}
	}
}

// rangeSeparators matches the characters between the ends of a range, the parts of a date, or the items of a list.
var rangeSeparators = regexp.MustCompile(`[-‐‑‒–—−/+&;×]`)

var (
	fraction = regexp.MustCompile(`^([1-9])/([1-9])$`)
	date     = regexp.MustCompile(`^\d{1,2}\.\d{1,2}\.(?:\d{2}|\d{4})$`)
	hourForm = regexp.MustCompile(`^(\d{1,2})h(\d\d)$`)
	withUnit = regexp.MustCompile(`^(\d[\d.,:'’]*)(\p{L}+)$`)
	unitWith = regexp.MustCompile(`^(eur|usd|chf|gbp|rs|r)(\d[\d.,:'’]*)$`)
)

// readNumbers adds the numbers written in digits.
func (c *claims) readNumbers(lower string, source bool) {
	var run []string
	end := func() {
		joined := strings.Join(run, "")
		switch {
		case len(run) == 1:
			c.addNumber(run[0], "", source)
		case len(run) > 1 && source && (isThousandsGroup(run) || len(joined) >= 7):
			value, _ := plainNumber(joined)
			c.numbers[value] = true
			fallthrough
		case len(run) > 1: // it may be a single number, so a source must have the same run
			c.adjacentNumbers = append(c.adjacentNumbers, run)
		}
		run = nil
	}
	last := 0
	for start, stop := range numberForms(lower) {
		token := lower[start:stop]
		if lower[last:start] != " " {
			end()
		}
		last = stop
		_, plain := plainNumber(token)
		if plain {
			run = append(run, token)
		} else {
			end()
		}
		if !plain || source {
			c.addNumber(token, followingWord(lower[stop:]), source)
		}
	}
	end()
}

// isThousandsGroup reports whether adjacent numbers are one number in groups of three digits, such as 1 200 000.
func isThousandsGroup(run []string) bool {
	for i, part := range run {
		if (i == 0 && len(part) > 3) || (i > 0 && len(part) != 3) {
			return false
		}
	}
	return true
}

// addNumber adds the values of a word with digits. next is the word after it; empty if there is none.
func (c *claims) addNumber(token, next string, source bool) {
	if h := fraction.FindStringSubmatch(token); h != nil {
		above, _ := strconv.ParseFloat(h[1], 64)
		below, _ := strconv.ParseFloat(h[2], 64)
		c.numbers[valueOf(above/below)] = true
		if !source {
			return
		}
	}
	parts := rangeSeparators.Split(token, -1)
	if date.MatchString(token) && source {
		parts = append(parts, strings.Split(token, ".")...)
	}
	for i, part := range parts {
		if part == "" {
			continue
		}
		if h := hourForm.FindStringSubmatch(part); h != nil {
			part = h[1] + ":" + h[2]
		}
		if value, plain := plainNumber(part); plain {
			c.numbers[value] = true
			if source && i == len(parts)-1 && next != "" {
				c.words[part+next] = true // "9 am" in a source supports "9am"
			}
			continue
		}
		if u := withUnit.FindStringSubmatch(part); u != nil && (source || isUnit(u[2])) {
			value, _ := plainNumber(u[1])
			c.numbers[value] = true
			if !source {
				continue
			}
		}
		if u := unitWith.FindStringSubmatch(part); u != nil {
			value, _ := plainNumber(u[2])
			c.numbers[value] = true
			continue
		}
		c.words[part] = true
	}
}

// isUnit reports whether the letters after digits are a unit. They could also be letters that look like digits, as in "4O" or "4l".
func isUnit(letters string) bool {
	switch letters {
	case "h", "hr", "hrs", "min", "mins", "am", "pm", "uhr", "km", "m", "cm", "mm", "kg", "g", "ml", "eur", "euro", "euros", "usd", "chf",
		"gbp", "kw", "kwh", "st", "nd", "rd", "th", "er", "e", "x":
		return true
	default:
		return language.IsPriceWord(letters)
	}
}

// followingWord returns the word at the start of rest, if one space comes before it; empty otherwise.
func followingWord(rest string) string {
	rest, blank := strings.CutPrefix(rest, " ")
	if !blank {
		return ""
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		return rest
	}
	return rest[:end]
}

var (
	thousands = regexp.MustCompile(`^[1-9]\d{0,2}(?:(?:\.\d{3})+(?:,\d+)?|(?:,\d{3})+(?:\.\d+)?|(?:['’]\d{3})+(?:[.,]\d+)?)$`)
	digitForm = regexp.MustCompile(`^\d+(?:[.,:]\d+)*$`)
)

// plainNumber returns the canonical form of a number in digits: 1.200, 1,200 and 1'200 give 1200; 9:00, 09:00 and 9,00 give 9. It is
// false if s is not a number of digits only.
func plainNumber(s string) (string, bool) {
	if thousands.MatchString(s) {
		cut := strings.LastIndexAny(s, ".,'’")
		tail := ""
		if first := strings.IndexAny(s, ".,'’"); s[first] != s[cut] || len(s)-cut-1 != 3 && !strings.HasPrefix(s[cut:], "’") {
			s, tail = s[:cut], s[cut+1:]
		}
		s = strings.NewReplacer(".", "", ",", "", "'", "", "’", "").Replace(s)
		if strings.Trim(tail, "0") != "" {
			s += "." + tail
		}
		return s, true
	}
	if !digitForm.MatchString(s) {
		return s, false
	}
	s = strings.NewReplacer(",", ".", ":", ".").Replace(s)
	if whole, rest, cut := strings.Cut(s, "."); cut && strings.Trim(rest, "0") == "" {
		s = whole
	}
	s = strings.TrimLeft(s, "0")
	if s == "" || s[0] == '.' {
		s = "0" + s
	}
	return s, true
}

func (c *claims) hasRun(run []string) bool {
	for _, r := range c.adjacentNumbers {
		for i := 0; i+len(run) <= len(r); i++ {
			if strings.Join(r[i:i+len(run)], " ") == strings.Join(run, " ") {
				return true
			}
		}
	}
	return false
}

var romanForm = regexp.MustCompile(`^M{0,4}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})$`)

// romanOrDigitLike are the characters of romanForm in both cases, with the "ı" whose capital is an "I", and those of digitLike.
const romanOrDigitLike = "mdclxviMDCLXVIıoOоОοΟlіІ"

// digitLike matches words of letters that look like zeros and ones.
var digitLike = regexp.MustCompile(`^[oOоОοΟlIіІ]+$`)

// readRoman adds Roman numerals: words in capital letters, and before a price unit every word that could be a Roman numeral.
func (c *claims) readRoman(folded string, source bool) {
	for from, to := range runs(folded, isLetterOrNumber) {
		word, rest := folded[from:to], folded[to:]
		if first, _ := utf8.DecodeRuneInString(word); !strings.ContainsRune(romanOrDigitLike, first) {
			continue
		}
		capitals := strings.ToUpper(word)
		isRoman := strings.Trim(capitals, "MDCLXVI") == "" && romanForm.MatchString(capitals)
		if !isRoman && !digitLike.MatchString(word) {
			continue
		}
		if isPriced(rest) || (word == capitals && (source || len(word) > 1) && romanForm.MatchString(word)) {
			c.words[strings.ToLower(word)] = true
		}
	}
}
