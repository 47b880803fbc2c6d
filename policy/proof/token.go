package proof

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"multis/internal/text"
)

// token is a word or a number of a text, folded: in lower case and without accents.
type token struct {
	word     string
	language string
	concepts []string // what it means, in any language
	day      int      // the number of a weekday, from Sunday; -1 if it is none
	month    int      // the number of a month, from 0; -1 if it is none
	period   string   // the unit of time; empty if it is none
	isNumber bool
	isTime   bool
	// isMorning says that "am" stands behind it.
	isMorning bool
	value     float64
	clock     float64 // the value if it is a time with a dot between hours and minutes: 16.30; 0 if it is none
	currency  string
	dash      bool // the end of a range: a dash stands before it
	starts    bool // the beginning of a range: a dash stands behind it
}

func (t token) written() string {
	if t.isNumber {
		return strings.TrimSpace(strconv.FormatFloat(t.value, 'f', -1, 64) + " " + t.currency)
	}
	return t.word
}

// names reports whether a word names a concept.
func (t token) names(concept string) bool { return slices.Contains(t.concepts, concept) }

// sameMeaning reports whether two words are forms of one word, or mean the same.
func (t token) sameMeaning(other token) bool {
	switch {
	case t.day >= 0 && other.day >= 0:
		return t.day == other.day
	case t.period != "" && other.period != "":
		return t.period == other.period
	}
	sameConcept := func(concept string) bool {
		return other.names(concept) && (t.language != other.language || slices.Contains(synonyms, concept))
	}
	return sameWord(t.word, other.word) || slices.ContainsFunc(t.concepts, sameConcept)
}

// synonyms are the concepts of the lexicon whose words mean the same in one language. The words of the others only belong
// together, such as sheets and towels.
var synonyms = []string{ //nolint:gochecknoglobals // a constant, were there constant lists
	"cancel", "refund", "book", "pay", "delivery", "park", "rent", "repair", "arrive", "price", "free", "include", "wifi", "television",
	"bike",
}

// sameValue reports whether two numbers have one value. Times are hours; one written without "am" and "pm" may be twelve less.
func (t token) sameValue(other token) bool {
	if !t.isNumber || !other.isNumber {
		return false
	}
	same := math.Abs(t.value-other.value) < 0.001 || t.isHalf() && other.isHalf()
	if (t.isTime || other.isTime || t.clock > 0 || other.clock > 0) && t.currency+other.currency == "" {
		a, b := t.hour(), other.hour()
		gap := math.Abs(a - b)
		isMorning := t.isMorning && a < b || other.isMorning && b < a
		return same || gap < 0.001 || math.Abs(gap-12) < 0.001 && a <= 24 && b <= 24 && !isMorning
	}
	return same
}

// hour returns the value of a time.
func (t token) hour() float64 {
	if t.clock > 0 {
		return t.clock
	}
	return t.value
}

// isHalf reports whether a number is the half of something, as a word or in percent.
func (t token) isHalf() bool {
	return t.value == 0.5 && t.currency == "" || t.value == 50 && t.currency == "percent"
}

const (
	// minStem is how many letters two forms of a word share at least.
	minStem = 4
	// minPart is the length of a word that another word may be made with.
	minPart = 5
)

// sameWord reports whether two words are equal, or forms of one word: they begin alike and end differently, or one is a
// part of the other.
func sameWord(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 3 {
		return false
	}
	shared := 0
	for shared < len(a) && a[shared] == b[shared] {
		shared++
	}
	if len(a) == 3 {
		return shared == 3 && len(b) <= 5
	}
	if shared >= minStem && shared*10 >= len(a)*7 && len(b)-shared <= 5 && len(a)-shared <= 3 {
		return true
	}
	if len(a) >= minPart && (strings.HasPrefix(b, a) || strings.HasSuffix(b, a) && len(b)-len(a) >= minStem) { // not "free" in "duty-free"
		return true
	}
	return shareStem(a, b)
}

// shareStem reports whether two words, a not longer than b, share a stem behind a prefix of one of them: buchen, gebucht.
func shareStem(a, b string) bool {
	const ending = 3
	for _, prefix := range []string{"ge", "be", "ver"} {
		if rest, found := strings.CutPrefix(b, prefix); found && strings.HasPrefix(rest, a[:max(minStem, len(a)-ending)]) {
			return true
		}
		if rest, found := strings.CutPrefix(a, prefix); found && len(rest) >= minStem && strings.HasPrefix(b, rest[:minStem]) {
			return true
		}
	}
	return false
}

var (
	// piece matches a word, a number, a currency sign, or a character that parts clauses.
	piece = regexp.MustCompile(`\d{1,2}:\d\d|\d{1,2} ?h ?\d\d\b|\d{1,2}h\b|\d{1,3}(?:[.,' ]\d{3})+(?:[.,]\d{1,2})?\b|\d+(?:[.,]\d+)?|[\p{L}\p{M}]+(?:'\p{L}+)*|r\$|[€$£%₺¥₽]|[;:.,!?|()\n]|[-–—]|/`)
	clock = regexp.MustCompile(`^(\d{1,2})\.([0-5]\d)$`)
	hours = regexp.MustCompile(`^(\d{1,2})(?::| ?h ?)(\d\d)?$`)
)

// currencies are the signs and words of currencies and percent, folded.
var currencies = map[string]string{ //nolint:gochecknoglobals // a constant, were there constant maps
	"€": "eur", "eur": "eur", "euro": "eur", "euros": "eur", "$": "usd", "dollar": "usd", "dollars": "usd", "usd": "usd", "£": "gbp",
	"gbp": "gbp", "pound": "gbp", "pounds": "gbp", "chf": "chf", "franc": "chf", "francs": "chf", "franken": "chf", "franchi": "chf",
	"kr": "sek", "sek": "sek", "kronor": "sek", "zl": "pln", "zloty": "pln", "zlotych": "pln", "zlote": "pln", "pln": "pln", "tl": "try",
	"lira": "try", "liradir": "try", "₺": "try", "%": "percent", "percent": "percent", "prozent": "percent", "procent": "percent",
	"procents": "percent", "yuzde": "percent", "r$": "brl", "reais": "brl", "real": "brl", "brl": "brl", "cent": "cent", "cents": "cent",
	"pence": "cent", "rappen": "cent", "avro": "eur", "avrodur": "eur", "eura": "eur", "eurodur": "eur", "huf": "huf",
	"forint": "huf", "dolar": "usd", "dolares": "usd", "dollari": "usd", "dolarow": "usd", "libra": "gbp", "libras": "gbp", "sterline": "gbp",
	"livres": "gbp", "pln.": "pln", "¥": "jpy", "₽": "rub", "rub": "rub", "rublei": "rub", "rubla": "rub", "rubl": "rub", "zlotyh": "pln",
	"zlotih": "pln",
}

// fold returns a text in the form in which it is compared: in lower case, without accents, and in Latin letters.
func fold(s string) string {
	folded := strings.ToLower(text.Fold(letters.Replace(s)))
	return percent.ReplaceAllString(latin.Replace(folded), "percent")
}

var (
	// letters are those that have no accent that could be removed.
	letters = strings.NewReplacer("’", "'", "‘", "'", "ł", "l", "Ł", "l", "ı", "i", "İ", "i", "ø", "o", "ß", "ss", "æ", "ae")
	// latin writes Cyrillic letters as Latin ones, so that words of both scripts have about the same length.
	latin = strings.NewReplacer("а", "a", "б", "b", "в", "v", "г", "g", "д", "d", "е", "e", "ж", "j", "з", "z", "и", "i", "к", "k", "л", "l",
		"м", "m", "н", "n", "о", "o", "п", "p", "р", "r", "с", "s", "т", "t", "у", "u", "ф", "f", "х", "h", "ц", "c", "ч", "q", "ш", "w",
		"щ", "w", "ъ", "", "ы", "y", "ь", "", "э", "e", "ю", "u", "я", "a", "й", "i", "ё", "e", "і", "i", "ї", "i", "є", "e", "ґ", "g")
)

// percent matches "percent" in two words.
var percent = regexp.MustCompile(`\b(?:per cent|pour cent|por ciento|por cento|per cento)\b`)

// attached matches a number that is a part of a name, such as "A4", before another number: the two are no thousands.
var attached = regexp.MustCompile(`(\p{L}\d{1,3}) (\d{3})`)

// clockOf returns the value of a time with a dot; 0 for anything else.
func clockOf(s string) float64 {
	m := clock.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	h, _ := strconv.ParseFloat(m[1], 64)
	minutes, _ := strconv.ParseFloat(m[2], 64)
	if h > 24 {
		return 0
	}
	return h + minutes/60
}

// parseNumber reads a number in digits.
func parseNumber(s string) (value float64, isTime, ok bool) {
	if m := hours.FindStringSubmatch(s); m != nil {
		h, _ := strconv.ParseFloat(m[1], 64)
		minutes, _ := strconv.ParseFloat(m[2], 64)
		return h + minutes/60, true, true
	}
	if s == "" || !unicode.IsDigit(rune(s[0])) {
		return 0, false, false
	}
	if at := strings.LastIndexAny(s, ".,' "); at >= 0 {
		whole := strings.NewReplacer(".", "", ",", "", "'", "", " ", "").Replace(s[:at])
		if rest := s[at+1:]; len(rest) == 3 {
			s = whole + rest
		} else {
			s = whole + "." + rest
		}
	}
	value, err := strconv.ParseFloat(s, 64)
	return value, false, err == nil
}

// isSigned reports whether a minus that belongs to no word or range stands before a place.
func isSigned(s string, at int) bool {
	before := strings.TrimRight(s[:at], "-–—−")
	return len(before) < at && (before == "" || strings.HasSuffix(before, " "))
}

// token reads a piece of a text.
func (v *vocabulary) token(p string, dash bool) token {
	if value, isTime, ok := parseNumber(p); ok {
		return token{
			word:     p,
			day:      -1,
			month:    -1,
			isNumber: true,
			isTime:   isTime,
			value:    value,
			clock:    clockOf(p),
			dash:     dash,
		}
	}
	p = v.bare(p)
	if n, ok := v.number(p); ok || v.quarters[p] {
		if v.quarters[p] {
			n = quarter
		}
		return token{
			word:     p,
			day:      -1,
			month:    -1,
			isNumber: true,
			value:    n,
			dash:     dash,
		}
	}
	return token{
		word:     p,
		language: v.code,
		concepts: v.concepts[p],
		day:      v.day(p),
		month:    v.month(p),
		period:   v.period(p),
		currency: currencies[p],
		dash:     dash,
	}
}

// isTens reports whether a token is a word for ten, twenty and so on.
func (v *vocabulary) isTens(t token) bool {
	return v.numbers[t.word] == t.value && t.value >= 10 && math.Mod(t.value, 10) == 0
}

// quarter is the value of a word for a fourth.
const quarter = 0.25

// bare returns a word without an article or a verb that an apostrophe joins to it.
func (v *vocabulary) bare(p string) string {
	if !strings.Contains(p, "'") || v.negative[p] || v.harmless[p] {
		return p
	}
	longest := ""
	for part := range strings.SplitSeq(p, "'") {
		if currencies[part] != "" {
			return part
		}
		if len(part) > len(longest) {
			longest = part
		}
	}
	return longest
}

// join joins the last tokens of a clause that are one thing: a number with its currency, or a time in words.
func (v *vocabulary) join(c *clause) {
	n := len(c.tokens)
	if n < 2 {
		return
	}
	last, before := &c.tokens[n-1], &c.tokens[n-2]
	switch {
	case last.currency != "" && before.isNumber && before.currency == "":
		before.currency = last.currency
		c.tokens = c.tokens[:n-1]
	case last.isNumber && before.currency != "" && !before.isNumber:
		last.currency = before.currency
		last.dash = last.dash || before.dash
		c.tokens = append(c.tokens[:n-2], *last)
	case before.isNumber && last.word == "s": // "under 12s"
		c.tokens = c.tokens[:n-1]
	case before.isNumber && v.quarters[last.word] && before.value < 4:
		before.value *= quarter
		c.tokens = c.tokens[:n-1]
	case v.isTens(*before) && v.numbers[last.word] > 0 && last.value < 10: // "on iki"
		before.value += last.value
		c.tokens = c.tokens[:n-1]
	case before.value == 1 && v.numbers[before.word] == 1 && last.isNumber && last.value == 0.5: // "one half", "einer halben"
		*before = *last
		c.tokens = c.tokens[:n-1]
	case v.phrases[before.word+" "+last.word]:
		*before = v.token(before.word+" "+last.word, before.dash)
		c.tokens = c.tokens[:n-1]
	case before.isNumber && before.value >= 1 && !before.isTime && v.hours[last.word]:
		before.isTime = true
		if before.clock > 0 {
			before.value = before.clock
		}
		if before.dash && n > 2 {
			c.tokens[n-3].isTime = true
		}
		before.isMorning = last.word == "am"
		if last.word == "pm" && before.value < 12 {
			before.value += 12
		}
		c.tokens = c.tokens[:n-1]
	default:
		v.joinClock(c)
	}
}

// joinClock joins an hour with the words that move it.
func (v *vocabulary) joinClock(c *clause) {
	for _, phrase := range v.clock {
		n := len(c.tokens) - len(phrase.words) - 1
		if n < 0 {
			continue
		}
		hour := &c.tokens[n]
		words := c.tokens[n+1:]
		if !phrase.behind {
			hour = &c.tokens[len(c.tokens)-1]
			words = c.tokens[n : len(c.tokens)-1]
		}
		isPhrase := slices.EqualFunc(words, phrase.words, func(t token, w string) bool { return t.word == w })
		isOne := v.ones[hour.word] // an article elsewhere: "la una y media"
		if !hour.isNumber && !isOne || !isPhrase {
			continue
		}
		if isOne {
			hour.isNumber = true
			hour.value = 1
		}
		hour.value += phrase.offset
		hour.isTime = true
		c.tokens = append(c.tokens[:n], *hour)
		return
	}
}
