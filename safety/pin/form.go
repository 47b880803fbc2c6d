package pin

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
	"multis/internal/text"
	"multis/policy"
)

// form says how much a text looks like a PIN.
type form int

const (
	formOther    form = iota // not at all
	formPossible             // it may have a PIN in it, and is withheld while a PIN is asked for
	formLikely               // it is withheld also when none is asked for
	formPIN                  // nothing but 4 to 6 digits 0-9
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
	n := utf8.RuneCountInString(numbersIn(shown))
	isPossible, hasWord := containsCandidate(shown), slices.Contains(letterWords(shown), "pin")
	isSigned := policy.IsSigned(shown)
	name := commandName(shown)
	isLong := utf8.RuneCountInString(shown) > maxPhraseLength
	switch {
	case n > 0 && isPINCommand(shown):
		return formCommand
	case n < minSuspicious:
		return formOther
	case isPIN(strings.TrimSpace(typed)):
		return formPIN
	case !strings.ContainsFunc(shown, unicode.IsLetter):
		return formOfNumber(shown, n)
	// there is no such command, so that nothing is lost with it
	case isSigned && (isPossible || isCandidate(numbersIn(name))) && !isCommand(typed):
		return formLikely
	case n < minDigits:
		return formOther
	case isSigned && !(hasWord && isPossible):
		return formOther
	case isLong && !(hasWord && isPossible):
		return formOther
	case isLong:
		return formPossible
	case hasWord, isPossible && isAnswer(shown):
		return formLikely
	case isPossible:
		return formPossible
	default:
		return formOther
	}
}

// formOfNumber returns the form of a text without letters that has n digits.
func formOfNumber(shown string, n int) form {
	_, err := time.Parse("15:04", shown)
	isTime := err == nil
	words := slices.Compact(strings.Fields(shown)) // a PIN may be typed twice
	isTwice := len(words) == 1 && isCandidate(standaloneDigits(words[0]))
	if isTwice || !isTime && n >= minDigits && n <= maxDigits {
		return formLikely
	}
	return formPossible
}

// containsCandidate reports whether a text has digits that may be a PIN: they stand alone or apart, as in "4829" and "48
// 29". Prices, times, dates, ranges and years, as in "9-18" and "45 EUR from 10 pieces", are no candidates: an answer to
// a customer that is written while the PIN is asked for must not be lost.
func containsCandidate(shown string) bool {
	words := append(strings.Fields(shown), "") // the last one ends a run of digits
	run := ""
	for i, word := range words[:len(words)-1] {
		digits := standaloneDigits(word)
		next := words[i+1]
		if digits == "" {
			run = ""
			continue
		}
		run += digits
		isWhole := standaloneDigits(next) == ""
		if !isCurrency(next) && (isCandidate(digits) || isWhole && isCandidate(run)) {
			return true
		}
	}
	return false
}

// isCandidate reports whether digits, of any script, have the length of a PIN and are no year.
func isCandidate(digits string) bool {
	n := utf8.RuneCountInString(digits)
	return n >= minDigits && n <= maxDigits && !isYear(digits)
}

// standaloneNumber matches a number, and single digits with signs between them.
var standaloneNumber = regexp.MustCompile(`^(\pN+|\pN([^\pL\pN\p{Sc}]+\pN)+)$`)

// standaloneDigits returns the digits of a word that is nothing but a standaloneNumber and signs around it; empty for another word.
func standaloneDigits(word string) string {
	word = strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.Is(unicode.Sm, r) })
	if !standaloneNumber.MatchString(word) {
		return ""
	}
	return numbersIn(word)
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

// visible returns a text as it is read: without invisible characters, accents and the space around it, and with plain
// letters and digits for variants of them.
func visible(s string) string { return strings.TrimSpace(text.Fold(s)) }

// numbersIn returns the digits of a text, and its other characters for numbers.
func numbersIn(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsNumber(r) {
			return r
		}
		return -1
	}, s)
}

// letterWords returns the words of a text in lower case, without digits and signs.
func letterWords(shown string) []string {
	return strings.FieldsFunc(strings.ToLower(shown), func(r rune) bool { return !unicode.IsLetter(r) })
}

// isPIN reports whether a text is a PIN by its form.
func isPIN(s string) bool {
	return len(s) >= minDigits && len(s) <= maxDigits && strings.Trim(s, "0123456789") == ""
}

// isPINCommand reports whether a text is the command /pin, also without its sign or misspelled. No other command has such a name.
func isPINCommand(shown string) bool {
	name := strings.TrimLeft(shown, commandSigns)
	isSigned := len(name) < len(shown)
	if end := strings.IndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		name = name[:end]
	}
	name = strings.ToLower(name)
	return name == "pin" || isSigned && (name == "p" || strings.Contains(name, "pin") || isNearPIN(name))
}

// commandSigns are the characters that begin a command, also those of Chinese and Japanese keyboards.
const commandSigns = `/!／！\ `

// commandName returns the first word of a text after its sign, with digits and all.
func commandName(shown string) string {
	words := strings.Fields(strings.TrimLeft(shown, commandSigns))
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// isNearPIN reports whether a word is "pin" with at most one letter wrong, missing, too many or in the wrong place.
func isNearPIN(word string) bool { return len(word) > 1 && text.EditDistance(word, "pin") <= 1 }

// isAnswer reports whether a text has only words that are written beside a PIN: a yes, or a word for "PIN".
func isAnswer(shown string) bool {
	return !slices.ContainsFunc(letterWords(shown), func(word string) bool {
		return !slices.Contains([]string{"yes", "y", "ja", "pincode", "mypin", "passcode", "password"}, word) &&
			word != "pi" && (len(word) < 3 || !isNearPIN(word))
	})
}

// isSpokenPIN reports whether the transcript of a voice note may be a PIN in words: nothing but words for numbers, or a
// short text with the word "pin" and several of them.
func isSpokenPIN(transcript string) bool {
	isSign := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }
	words := strings.FieldsFunc(strings.ToLower(visible(transcript)), isSign)
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

// trivialPINs are runs past zero, and lines on the keys.
const trivialPINs = "7890 67890 567890 0987 09876 098765 2580 0852 1122 1133 112233 147258 159753 4711"

// isTrivial reports whether a PIN is among those that are tried first: one digit or two repeated, a run up or down, a year.
func isTrivial(pin string) bool {
	steps := make([]int, 0, len(pin))
	for i := 1; i < len(pin); i++ {
		steps = append(steps, int(pin[i])-int(pin[i-1]))
	}
	uniform := len(slices.Compact(slices.Clone(steps))) == 1 && steps[0] >= -1 && steps[0] <= 1
	pairs := len(pin)%2 == 0 && strings.Repeat(pin[:2], len(pin)/2) == pin
	halves := len(pin) == 6 && pin[:3] == pin[3:]
	return uniform || pairs || halves || isYear(pin) || slices.Contains(strings.Fields(trivialPINs), pin)
}
