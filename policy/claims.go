package policy

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
	"multis/internal/text"
)

// FindUnsupported returns the first claim of a text that occurs in none of its sources. A claim is a number in digits or
// words, an address, or the statement that something is free. A date in digits counts as the source's date in words. The
// result is empty if the sources contain all claims. The text is checked in several normalized forms (readings), so that
// neither markup nor look-alike letters hide a claim.
func FindUnsupported(answer string, sources ...string) string {
	answer = language.SpellDates(answer, sources...)
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

// ownNumber matches a number in digits.
var ownNumber = regexp.MustCompile(`\d+`)

// OwnNumbers returns the numbers of what a contact asks, as a source of FindUnsupported: an answer may repeat an age, but
// no address and no words of the question.
func OwnNumbers(question string) string {
	return strings.Join(ownNumber.FindAllString(question, -1), " . ")
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
	return len(c.numbers)+len(c.adjacentNumbers)+len(c.words)+len(c.wordNumbers)+len(c.units)+len(c.unknownWords)+len(c.addresses) == 0 &&
		!c.hasFreeOffer
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

// spacedDigits matches three or more digits, or letters that look like digits, with a space, dot or dash between each
// two: l 7 O 2, or 2-2-2-2.
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

// hasSpacedLetters reports whether a text may match spacedLetters or spacedDigits: two words of one letter or digit, with
// a space, dot or dash after each, before a third word. It is checked first, because it is much faster than the patterns.
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
		if !hasDigitLookalikes(word) || article.MatchString(word) || (!strings.ContainsAny(word, "0123456789") && !isPriced(rest)) {
			continue
		}
		b.WriteString(s[last:from] + zeroAndOne.Replace(word))
		last = to
	}
	return b.String() + s[last:]
}

// joinedWords returns where the words of a text begin and end. Words with one joining character between them, as in
// "10:30" or "it's", are one.
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

// hasDigitLookalikes reports whether a word consists of digits, number signs and letters that look like digits (o, O, l, I),
// with at least one such letter.
func hasDigitLookalikes(word string) bool {
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
		c.numbers = map[string]bool{}
		c.words = map[string]bool{}
		c.units = map[string]bool{}
		c.sourceWords = map[string]bool{}
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
