package policy

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/language"
	"multis/text"
)

// FindUnsupported returns the first claim of a text that occurs in none of its sources. A claim is a number in digits or words, an address, or the
// statement that something is free. The result is empty if the sources contain all claims. The text is checked in several normalized forms
// (readings), so that neither markup nor look-alike letters hide a claim.
func FindUnsupported(answer string, sources ...string) string {
	source := claims{addressIndex: addressIndex{sources: sources}}
	for _, form := range readings(text.Fold(emojiNumbers.Replace(answer))) {
		var c claims
		c.read(form, false)
		if c.isEmpty() {
			continue
		}
		if source.numbers == nil { // reading the sources takes milliseconds, and many answers contain no claim
			source.readSources(sources)
		}
		if missing := c.firstMissingIn(&source); missing != "" {
			return missing
		}
	}
	return source.addressIndex.firstMissing(answer)
}

// claims are the parts of a text that a model must not invent: numbers, prices, addresses, and statements that something is free.
type claims struct {
	numbers         map[string]bool // numbers in digits, in the form of plainNumber
	adjacentNumbers [][]string      // adjacent numbers that may be a single number, such as 030 123456
	words           map[string]bool // words with a digit, number signs and Roman numerals
	wordNumbers     []language.Number
	units           map[string]bool // units of prices and percentages
	unknownWords    []string        // words before a price unit that may be numbers
	sourceWords     map[string]bool // all words of the sources
	addresses       []string
	hasFreeOffer    bool         // an answer says that something is free
	foldedSources   []string     // readings of the sources in lower case, in which a free offer of an answer is looked up
	addressIndex    addressIndex // the addresses in the sources
}

// isEmpty reports whether there are no claims.
func (c *claims) isEmpty() bool {
	return len(c.numbers)+len(c.adjacentNumbers)+len(c.words)+len(c.wordNumbers)+len(c.units)+len(c.unknownWords)+len(c.addresses) == 0 && !c.hasFreeOffer
}

// marks removes the characters that networks use for markup.
var marks = strings.NewReplacer("*", "", "_", "", "~", "", "`", "", `\`, "", "|", "")

// emojiNumbers replaces emoji that mean a number.
var emojiNumbers = strings.NewReplacer("🔟", " 10 ", "💯", " 100 ")

// readings returns the forms in which a folded text is checked: as it is, without markup, with look-alike letters as Latin ones, with
// spaced letters joined to words, and with letters that look like digits as digits. Each form builds on the one before; equal forms are
// left out.
func readings(folded string) []string {
	read := []string{folded}
	for _, other := range []func(string) string{marks.Replace, replaceLookAlikes, joinLetters, digitLetters} {
		if form := other(read[len(read)-1]); form != read[len(read)-1] {
			read = append(read, form)
		}
	}
	return read
}

// lookAlikes replaces letters that look like Latin ones. The pairs are: letter, Latin letter.
var lookAlikes = strings.NewReplacer(strings.Split(`а a е e ѕ s і i ј j о o р p с c у y х x һ h ԁ d ԛ q ԝ w ӏ l А A В B Е E К K М M Н H О O Р P С C Т T У Y Х X І I Ј J Ѕ S `+
	`α a ε e η n ι i κ k ν v ο o ρ p τ t υ u ω w Α A Β B Ε E Ζ Z Η H Ι I Κ K Μ M Ν N Ο O Ρ P Τ T Υ Y Χ X օ o ո n ս u հ h ı i ɑ a ɡ g `+
	`ᴀ a ʙ b ᴄ c ᴅ d ᴇ e ꜰ f ɢ g ʜ h ɪ i ᴊ j ᴋ k ʟ l ᴍ m ɴ n ᴏ o ᴘ p ʀ r ꜱ s ᴛ t ᴜ u ᴠ v ᴡ w ʏ y ᴢ z`, " ")...)

// replaceLookAlikes replaces letters that look like Latin ones with those.
func replaceLookAlikes(s string) string {
	return strings.Map(func(r rune) rune {
		for _, first := range []rune{'\U0001F150', '\U0001F170', '\U0001F1E6'} { // letters in circles, in squares, of flags
			if first <= r && r < first+26 {
				return 'a' + r - first
			}
		}
		return r
	}, lookAlikes.Replace(s))
}

// spacedLetters matches three or more letters with a space, dot or dash between each two, and the characters around them.
var spacedLetters = regexp.MustCompile(`(^|[^\p{L}\p{N}])((?:\p{L}[ .\-]){2,}\p{L})($|[^\p{L}\p{N}])`)

// spacedDigits matches three or more digits, or letters that look like digits, with a space, dot or dash between each two: l 7 O 2, or 2-2-2-2.
var spacedDigits = regexp.MustCompile(`(^|[^\p{L}\p{N}])((?:[\p{N}oOlI][ .\-]){2,}[\p{N}oOlI])($|[^\p{L}\p{N}])`)

// joinLetters joins spaced letters to a word: "f i f t y" becomes "fifty".
func joinLetters(s string) string {
	if !hasSpacedLetters(s) {
		return s
	}
	for _, form := range []*regexp.Regexp{spacedDigits, spacedLetters} {
		s = form.ReplaceAllStringFunc(s, func(found string) string {
			part := form.FindStringSubmatch(found)
			return part[1] + strings.NewReplacer(" ", "", ".", "", "-", "").Replace(part[2]) + part[3]
		})
	}
	return s
}

// hasSpacedLetters reports whether a text may match spacedLetters or spacedDigits: two words of one letter or digit, with a space, dot or dash after
// each, before a third word. It is checked first, because it is much faster than the patterns.
func hasSpacedLetters(s string) bool {
	length, singles := 0, 0 // of the word so far, and the number of words of one letter right before it
	for _, r := range s {
		switch {
		case isLetterOrNumber(r):
			if length++; length == 1 && singles >= 2 {
				return true
			}
		case length == 1 && (r == ' ' || r == '.' || r == '-'):
			length, singles = 0, singles+1
		default:
			length, singles = 0, 0
		}
	}
	return false
}

var (
	article    = regexp.MustCompile(`^l['’](?:8|11)`) // l'8 maggio
	zeroAndOne = strings.NewReplacer("o", "0", "O", "0", "l", "1", "I", "1")
)

// digitLetters replaces letters that look like digits: I0'O becomes 10'0, and 5.l becomes 5.1. A word of letters only is replaced only
// before a price unit, because "I'll" is not a number.
func digitLetters(s string) string {
	var b strings.Builder
	last := 0
	for from, to := range joinedWords(s) {
		word, rest := s[from:to], s[to:]
		if !looksLikeNumber(word) || article.MatchString(word) || (!strings.ContainsAny(word, "0123456789") && !isPriced(rest)) {
			continue
		}
		b.WriteString(s[last:from] + zeroAndOne.Replace(word))
		last = to
	}
	return b.String() + s[last:]
}

// joinedWords returns where the words of a text begin and end. Words with one joining character between them, as in "10:30" or "it's", are one.
func joinedWords(s string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from, to := -1, 0 // of the word so far; to is behind its last letter or digit
		for i, r := range s {
			switch {
			case isLetterOrNumber(r):
				if from < 0 {
					from = i
				}
				to = i + utf8.RuneLen(r)
			case from < 0 || i == to && strings.ContainsRune(".,:'’-", r):
			default:
				if !yield(from, to) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(from, to)
		}
	}
}

// runs returns where the longest sequences of characters that are in a class begin and end.
func runs(s string, in func(rune) bool) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		from := -1
		for i, r := range s {
			switch {
			case in(r):
				if from < 0 {
					from = i
				}
			case from >= 0:
				if !yield(from, i) {
					return
				}
				from = -1
			}
		}
		if from >= 0 {
			yield(from, len(s))
		}
	}
}

func isLetterOrNumber(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// looksLikeNumber reports whether a word has digits, signs of numbers and letters that look like digits, at least one of these, and nothing else.
func looksLikeNumber(word string) bool {
	return strings.ContainsAny(word, "oOlI") && strings.Trim(word, "0123456789oOlI.,:'’-") == ""
}

// isPriced reports whether rest begins with the unit of a price, as a word or a sign.
func isPriced(rest string) bool {
	after := priceSigns.Replace(strings.TrimLeft(strings.ToLower(rest), " ,.:-–—"))
	return language.IsPriceWord(followingWord(" " + strings.TrimLeft(after, " ")))
}

// readSources adds the claims of all readings of the sources.
func (c *claims) readSources(sources []string) {
	for _, source := range sources {
		for _, form := range readings(text.Fold(emojiNumbers.Replace(source))) {
			c.read(form, true)
		}
	}
}

// read adds the claims of one reading. For a source it adds every possible meaning; for a text to be checked only the likely one.
func (c *claims) read(folded string, source bool) {
	if c.numbers == nil {
		c.numbers, c.words, c.units, c.sourceWords = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	}
	lower := strings.ToLower(folded)
	if source { // its addresses are in addressIndex
		c.foldedSources = append(c.foldedSources, lower)
	} else {
		c.addresses = append(c.addresses, findAddresses(normalizeDots(folded))...)
		c.hasFreeOffer = c.hasFreeOffer || containsFreeOffer(lower)
	}
	if wall := replaceTwelveHourTimes(lower); !source || wall == lower {
		c.readNumbers(wall, source)
	} else {
		c.readNumbers(lower+" . "+wall, source)
	}
	c.readRoman(folded, source)
	priced := splitPriceWords(priceSigns.Replace(moveSignsBehindWords(lower)))
	words := strings.FieldsFunc(priced, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	c.readPrices(priced, words, source)
	c.wordNumbers = append(c.wordNumbers, language.NumbersIn(words, language.Detect(folded), source)...)
	if source {
		for _, n := range c.wordNumbers {
			c.numbers[valueOf(n.Value)] = true
		}
	}
	if strings.ContainsFunc(lower, isNumberSign) {
		for _, sign := range numberSigns.FindAllString(lower, -1) {
			c.words[sign] = true
		}
	}
}

// numberSigns matches number characters that are not digits, such as Ⅳ and ❾, and Chinese and Japanese numerals.
var numberSigns = regexp.MustCompile(`[\p{Nl}\p{No}]+|[` + cjkNumerals + `]+`)

const cjkNumerals = "〇零一二三四五六七八九十百千万億亿两壹贰叁肆伍陆柒捌玖拾佰仟萬廿卅卌兩壱弐参參貳陸"

// isNumberSign reports whether numberSigns matches a character.
func isNumberSign(r rune) bool {
	return r >= utf8.RuneSelf && (unicode.In(r, unicode.Nl, unicode.No) || strings.ContainsRune(cjkNumerals, r))
}

// firstMissingIn returns the first claim of c that source lacks; empty if there is none.
func (c *claims) firstMissingIn(source *claims) string {
	for n := range c.numbers {
		if !source.numbers[n] {
			return n
		}
	}
	for _, run := range c.adjacentNumbers {
		if joined, _ := plainNumber(strings.Join(run, "")); !source.numbers[joined] && !source.hasRun(run) {
			return strings.Join(run, " ")
		}
	}
	for word := range c.words {
		if !source.words[word] {
			return word
		}
	}
	for _, n := range c.wordNumbers {
		if !source.numbers[valueOf(n.Value)] {
			return n.Words
		}
	}
	for _, address := range c.addresses {
		if !source.addressIndex.contains(address) {
			return address
		}
	}
	if unit := c.unitMissingIn(source); unit != "" {
		return unit
	}
	if c.hasFreeOffer && !source.numbers["0"] && !slices.ContainsFunc(source.foldedSources, containsFreeOffer) {
		return "free of charge"
	}
	return ""
}

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

// numberForms returns where the words with a digit in them begin and end. Such words with one character between them are one: 9:00-18:00, 12.10.2026.
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
	case "h", "hr", "hrs", "min", "mins", "am", "pm", "uhr", "km", "m", "cm", "mm", "kg", "g", "ml", "eur", "euro", "euros", "usd", "chf", "gbp", "kw", "kwh", "st", "nd", "rd", "th", "er", "e", "x":
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
