package pin

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
	"multis/internal/text"
)

// form says how much a text looks like a PIN.
type form int

const (
	formNone     form = iota // not at all
	formPIN                  // 4 to 6 digits 0-9
	formDigits               // digits only, but too many or too few, in another script, or with something between them
	formPhrase               // a text with letters and what may be a PIN, or with the word "pin" and as many digits; a long one has both
	formMistyped             // a command that does not exist, with what may be a PIN
	formCommand              // /pin with digits
)

const (
	minSuspicious   = 3  // fewer digits alone choose an entry of a list
	maxPhraseLength = 60 // characters; a longer text with a number in it is a question
	minSpoken       = 2  // words for numbers: "forty-six thirty-nine" has four
	maxSpoken       = 15 // words of a transcript; a longer one is a question
)

// formOf returns the form of a text as it was typed. isCommand is that of SetIsCommand.
func formOf(typed string, isCommand func(typed string) bool) form {
	shown := visible(typed)
	digits := strings.Map(keepNumber, shown)
	n := utf8.RuneCountInString(digits)
	isSigned := strings.HasPrefix(shown, "/") || strings.HasPrefix(shown, "!")
	switch {
	case isPINCommand(shown):
		if n == 0 {
			return formNone
		}
		return formCommand
	case n < minSuspicious:
		return formNone
	case isPIN(normalize(typed)):
		return formPIN
	case strings.IndexFunc(shown, unicode.IsLetter) < 0:
		return formDigits
	case isSigned && mayBeMistyped(shown) && !isCommand(typed):
		return formMistyped
	case n < minDigits || (isSigned || isLong(shown)) && !(hasPINWord(shown) && hasLonePIN(shown)):
		return formNone
	case hasPINWord(shown) || hasLonePIN(shown):
		return formPhrase
	default:
		return formNone
	}
}

// hasPINWord reports whether a text has the word "pin".
func hasPINWord(shown string) bool {
	return slices.Contains(strings.FieldsFunc(strings.ToLower(shown), func(r rune) bool { return !unicode.IsLetter(r) }), "pin")
}

// hasLonePIN reports whether a text has a word that may be a PIN: digits that stand alone or apart, as in "4829" and "48 29". Prices, times, dates, ranges and
// years, as in "9-18" and "45 EUR from 10 pieces", are none: an answer to a customer that is written while the PIN is asked for must not be lost.
func hasLonePIN(shown string) bool {
	words, run := strings.Fields(shown), ""
	for i, word := range words {
		digits, next := loneDigits(word), ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		if run += digits; digits == "" {
			run = ""
		}
		if !isCurrency(next) && (mayBePIN(digits) || loneDigits(next) == "" && mayBePIN(run)) { // "4829", and "48 29"
			return true
		}
	}
	return false
}

// mayBePIN reports whether digits, of any script, have the length of a PIN and are no year.
func mayBePIN(digits string) bool {
	n := utf8.RuneCountInString(digits)
	return n >= minDigits && n <= maxDigits && !isYear(digits)
}

// loneDigits returns the digits of a word that has nothing else but marks around them, or between single ones; empty for another word.
func loneDigits(word string) string {
	word = strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.Is(unicode.Sm, r) })
	groups := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsNumber(r) && !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) })
	for _, group := range groups {
		if strings.ContainsFunc(group, func(r rune) bool { return !unicode.IsNumber(r) }) || len(groups) > 1 && utf8.RuneCountInString(group) > 1 {
			return ""
		}
	}
	return strings.Join(groups, "")
}

func isCurrency(word string) bool {
	switch strings.ToLower(strings.TrimFunc(word, unicode.IsPunct)) {
	case "€", "$", "£", "eur", "euro", "euros", "usd", "dollar", "dollars", "chf", "franken", "gbp", "pounds":
		return true
	}
	return false
}

func isYear(digits string) bool {
	return len(digits) == 4 && (digits[:2] == "19" || digits[:2] == "20")
}

// normalize returns a text without the space around it.
func normalize(s string) string { return strings.TrimSpace(s) }

// visible returns a text as it is read: without invisible characters, accents and the space around it, and with plain letters and digits for variants of them.
func visible(s string) string { return strings.TrimSpace(text.Fold(s)) }

func keepNumber(r rune) rune {
	if unicode.IsNumber(r) {
		return r
	}
	return -1
}

// isPIN reports whether a text has the form of a PIN.
func isPIN(s string) bool {
	return len(s) >= minDigits && len(s) <= maxDigits && strings.Trim(s, "0123456789") == ""
}

// isPINCommand reports whether a text is the command /pin: with or without its sign, with a full-width sign, or as /p, /pi, with one letter wrong or with more
// letters. No other command has such a name.
func isPINCommand(shown string) bool {
	unsigned := strings.ToLower(strings.TrimLeft(shown, "/!／！ "))
	name := unsigned
	if end := strings.IndexFunc(unsigned, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		name = unsigned[:end]
	}
	return name == "pin" || (len(unsigned) < len(shown) && (name == "p" || name == "pi" || isNearPIN(name) || strings.Contains(name, "pin")))
}

// isNearPIN reports whether a word is "pin" with one letter wrong, missing, too many or in the wrong place.
func isNearPIN(word string) bool { return len(word) > 1 && text.EditDistance(word, "pin") <= 1 }

// mayBeMistyped reports whether a text with the sign of a command has what may be a PIN. If there is no such command, it does nothing, so that nothing is lost
// with it.
func mayBeMistyped(shown string) bool {
	name := strings.Fields(strings.TrimLeft(shown, "/!") + " -")[0]
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsLetter(first) && (hasLonePIN(shown) || mayBePIN(strings.Map(keepNumber, name)))
}

// isRepeatedPIN reports whether a text is nothing but the same PIN more than once.
func isRepeatedPIN(shown string) bool {
	words := slices.Compact(strings.Fields(shown))
	return len(words) == 1 && mayBePIN(loneDigits(words[0]))
}

// isAnswerWithPIN reports whether a text is a PIN with nothing but words of an answer or a misspelt "pin" around it.
func isAnswerWithPIN(shown string) bool {
	for word := range strings.FieldsSeq(shown) {
		word = strings.ToLower(strings.TrimFunc(word, unicode.IsPunct))
		if loneDigits(word) == "" && !slices.Contains([]string{"yes", "y", "ja", "pincode", "mypin", "passcode", "password"}, word) && !(len(word) > 2 && isNearPIN(word)) {
			return false
		}
	}
	return hasLonePIN(shown)
}

// isStrayPIN reports whether a text may be or contain a PIN, while no question for one is open.
func isStrayPIN(typed string, f form) bool {
	shown := visible(typed)
	n := utf8.RuneCountInString(strings.Map(keepNumber, shown))
	switch f {
	case formPIN:
		return true
	case formDigits:
		_, err := time.Parse("15:04", shown)
		return n >= minDigits && n <= maxDigits && err != nil || isRepeatedPIN(shown)
	case formPhrase:
		return !isLong(shown) && (hasPINWord(shown) || isAnswerWithPIN(shown))
	case formMistyped:
		return true
	default:
		return false
	}
}

// isLong reports whether a text is rather a question with a number in it than a PIN with words around it.
func isLong(shown string) bool { return utf8.RuneCountInString(shown) > maxPhraseLength }

// isSpokenPIN reports whether the transcript of a voice note may be a PIN in words: nothing but words for numbers, or a short text with the word "pin"
// and several of them.
func isSpokenPIN(transcript string) bool {
	words := strings.FieldsFunc(strings.ToLower(visible(transcript)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	numbers := 0
	for _, word := range words {
		if language.IsNumberWord(word) || strings.ContainsFunc(word, unicode.IsNumber) {
			numbers++
		}
	}
	if numbers < minSpoken || len(words) > maxSpoken {
		return false
	}
	return numbers == len(words) || (numbers > minSpoken && slices.Contains(words, "pin"))
}

// isTrivial reports whether a PIN is among those that are tried first: one digit or two repeated, a run up or down, a year.
func isTrivial(pin string) bool {
	steps := make([]int, 0, len(pin))
	for i := 1; i < len(pin); i++ {
		steps = append(steps, int(pin[i])-int(pin[i-1]))
	}
	uniform := len(slices.Compact(slices.Clone(steps))) == 1 && steps[0] >= -1 && steps[0] <= 1
	pairs := len(pin)%2 == 0 && strings.Repeat(pin[:2], len(pin)/2) == pin
	halves := len(pin) == 6 && pin[:3] == pin[3:]
	return uniform || pairs || halves || isYear(pin) || slices.Contains([]string{"7890", "67890", "567890", "0987", "09876", "098765", "2580", "0852", "1122", "1133", "112233", "147258", "159753", "4711"}, pin)
}
