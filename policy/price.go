package policy

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
)

// unitOf returns the canonical unit of a price or percentage that a word means; empty for any other word.
func unitOf(word string) string {
	switch word {
	case "euro", "euros", "eur", "евро", "يورو":
		return "euro"
	case "dollar", "dollars", "usd", "bucks", "доллар", "доллара", "долларов", "دولار":
		return "dollar"
	case "pound", "pounds", "gbp", "quid":
		return "pound"
	case "franc", "francs", "franken", "chf":
		return "franc"
	case "рубль", "рубля", "рублеи", "руб", "rubel", "rouble", "roubles", "ruble", "rubles":
		return "ruble"
	case "yen", "yuan", "rupee", "rupees", "lira", "zloty", "crowns", "peso", "pesos":
		return word
	case "percent", "prozent", "procent", "pourcent", "процент", "процента", "процентов":
		return "percent"
	default:
		return ""
	}
}

// magnitude matches the word for thousands, millions or billions after a number. An abbreviation of one letter counts only in a price.
var magnitude = regexp.MustCompile(`\p{N}\s?(mio|mln|mrd|bln|tsd|lakhs?|crores?|тыс|млн|млрд)(?:$|[^\p{L}])|\p{N}\s?(k|m|mn|b|bn)[\s.]*(?:euros?|eur|dollars?|usd|pounds?|gbp|chf|franken)(?:$|[^\p{L}])|` +
	`(?:euros?|eur|dollars?|usd|pounds?|gbp|chf)\s*\p{N}[\p{N}.,]*\s?(k|m|mn|b|bn)(?:$|[^\p{L}])`)

// priceSigns replaces the signs of currencies and percent with words.
var priceSigns = strings.NewReplacer("€", " euro ", "$", " dollar ", "£", " pound ", "¥", " yen ", "%", " percent ")

// moveSignsBehindWords moves the sign of a currency before a word behind it: "€ fifty" becomes "fifty €".
func moveSignsBehindWords(s string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(s, "€$£¥")
		if at < 0 {
			return b.String() + s
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		sign, behind := s[at:at+size], strings.TrimLeft(s[at+size:], "\t\n\f\r ")
		if word := leadingLetters(behind); word != "" {
			b.WriteString(s[:at] + word + " " + sign)
			s = behind[len(word):]
		} else {
			b.WriteString(s[:at+size])
			s = s[at+size:]
		}
	}
}

// splitPriceWords splits words that end in a price unit: "fiftyeuro" becomes "fifty euro".
func splitPriceWords(s string) string {
	var b strings.Builder
	last := 0
	for from, to := range runs(s, unicode.IsLetter) {
		for _, unit := range []string{"euro", "euros", "dollar", "dollars", "prozent", "franken"} {
			if number, cut := strings.CutSuffix(s[from:to], unit); cut && utf8.RuneCountInString(number) >= 2 {
				b.WriteString(s[last:to-len(unit)] + " ")
				last = to - len(unit)
			}
		}
	}
	return b.String() + s[last:]
}

// readPrices adds the units, such as "euro", and the magnitudes, such as "million", of a text's prices to c. Of a source
// it also adds all words; of an answer, the unknown words before a unit, because such a word may be a number in another
// language. lower is the text in lower case, with signs such as "€" replaced by words; words are its words.
func (c *claims) readPrices(lower string, words []string, source bool) {
	fields := strings.Fields(lower)
	for i, field := range fields {
		unit := unitOf(strings.TrimFunc(field, unicode.IsPunct))
		if unit == "" {
			continue
		}
		first := i+1 < len(fields) && unicode.IsDigit([]rune(fields[i+1])[0]) // the unit comes first, as in "€ 90"
		if source || first || unit != "percent" || (i > 0 && endsInNumber(fields[i-1])) {
			c.units[unit] = true
		}
		if source || i == 0 || first {
			continue
		}
		before := fields[i-1]
		if at := strings.LastIndexFunc(before, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }); at >= 0 {
			_, size := utf8.DecodeRuneInString(before[at:])
			before = before[at+size:] // empty if a digit or a comma comes right before the unit
		}
		if before != "" && !language.IsCommon(before) && !isKnownBeforePrice(before) {
			c.unknownWords = append(c.unknownWords, before)
		}
	}
	if source {
		for _, word := range words {
			c.sourceWords[word] = true
		}
	}
	hasCents, hasMagnitude := false, false
	for gap, word := range wordsAfterNumbers(lower) {
		hasCents = hasCents || (gap == "" || gap == " ") && isCent(word)
		hasMagnitude = hasMagnitude || isMagnitude(word)
	}
	if hasCents {
		c.units["cent"] = true
	}
	if !hasMagnitude { // the pattern takes a fifth of the whole check, and most texts have none
		return
	}
	for _, found := range magnitude.FindAllStringSubmatch(lower, -1) {
		c.words[strings.Join(found[1:], "")] = true
	}
}

// wordsAfterNumbers returns the words after digits and other numbers, each with what stands between the two: dots and
// commas, then at most one space.
func wordsAfterNumbers(s string) iter.Seq2[string, string] {
	return func(yield func(gap, word string) bool) {
		end := -1 // of the number right before, or before its dots and commas
		for i, r := range s {
			switch {
			case unicode.IsNumber(r):
				end = i + utf8.RuneLen(r)
			case end < 0 || r == '.' || r == ',':
			default:
				start := i
				if strings.ContainsRune("\t\n\f\r ", r) {
					start++
				}
				if word := leadingLetters(s[start:]); word != "" && !yield(s[end:start], word) {
					return
				}
				end = -1
			}
		}
	}
}

// leadingLetters returns the letters at the start of a text.
func leadingLetters(s string) string {
	if end := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); end >= 0 {
		return s[:end]
	}
	return s
}

// isCent reports whether a word is a hundredth of a currency.
func isCent(word string) bool {
	switch word {
	case "cent", "cents", "ct", "pence", "rappen":
		return true
	default:
		return false
	}
}

// isMagnitude reports whether a word may be one that magnitude matches.
func isMagnitude(word string) bool {
	switch word {
	case "mio", "mln", "mrd", "bln", "tsd", "lakh", "lakhs", "crore", "crores", "тыс", "млн", "млрд", "k", "m", "mn", "b", "bn":
		return true
	}
	joined := strings.TrimLeft(word, "kmbn") // as in "5keuro"
	units := []string{"eur", "dollar", "usd", "pound", "gbp", "chf", "franken"}
	return joined != word && slices.ContainsFunc(units, func(unit string) bool { return strings.HasPrefix(joined, unit) })
}

// endsInNumber reports whether a word is a number or ends in a digit.
func endsInNumber(word string) bool {
	last, _ := utf8.DecodeLastRuneInString(word)
	return unicode.IsNumber(last) || len(language.NumbersIn([]string{word}, language.Unknown, true)) > 0
}

// isKnownBeforePrice reports whether a word before a price unit is not an unknown word: it often occurs there, is a unit,
// or is a number, which is checked elsewhere.
func isKnownBeforePrice(word string) bool {
	return unitOf(word) != "" || slices.Contains(strings.Fields(wordsBeforePrice), word) ||
		len(language.NumbersIn([]string{word}, language.Unknown, true)) > 0
}

// wordsBeforePrice are words that often come before a price unit and are not numbers.
const wordsBeforePrice = `only just pay cost costs price prices in per extra additional another every few many more less of
nur kostet kosten pro je weitere wenige mehr weniger zahlen preis preise
seulement chaque quelques solo soli pochi cada pocos poucos slechts enkele kost за в только
per or and plus minus about around circa approximately roughly exactly up`

// unitMissingIn returns the first unit or unknown word of c that source lacks; empty if there is none. A currency counts as missing only
// if source contains any unit.
func (c *claims) unitMissingIn(source *claims) string {
	for unit := range c.units {
		if !source.units[unit] && (len(source.units) > 0 || unit == "percent") {
			return unit
		}
	}
	for _, word := range c.unknownWords {
		if !source.sourceWords[word] {
			return word
		}
	}
	return ""
}

var (
	freeForm = regexp.MustCompile(`(?:^|[^\p{L}-])(free|freebies?|(?:cost|fee|charge)-free|gratis|complimentary|on the house|(?:no|without|zero|free of)(?: any| extra| additional)* (?:charge|cost|fee)s?|` +
		`(?:costs?|pays?)(?: you| us)? nothing|nothing to pay|for nothing|waived?|` +
		`kostenlos\p{L}*|kostenfrei\p{L}*|gebuhrenfrei\p{L}*|umsonst|ohne (?:kosten|aufpreis|gebuhr)\p{L}*|(?:kostet|zahlst|zahlen|bezahlen)(?: dich| sie| euch)? (?:nichts|nix)|aufs haus|zum nulltarif|geschenkt|` +
		`gratuit\p{L}*|grati[st]\p{L}*|sans (?:frais|supplement)|offerts?|offertes?|ne coute rien|sin (?:costo|coste|cargo)|sem (?:custo|encargo)s?|de graca|senza (?:costi|spese)|omaggio|` +
		`kosteloos|kosteloze|zonder kosten|бесплатн\p{L}*|даром|без оплаты|مجان\p{L}*|المجان\p{L}*|بلا مقابل|بدون مقابل|` +
		`ucretsiz\p{L}*|bedava|bezp[lł]atn\p{L}*|za darmo|zdarma|免费|免費|無料|무료)(?:$|[^\p{L}-])`)
	freeIdiom = regexp.MustCompile(`(?:feel|(?:you|we|they|i|he|she|team) (?:are|am|is|be|were|was|will be)|(?:you|we|they)['’]re|i['’]m) free(?:$|[^\p{L}])|free (?:time|slots?|spaces?|places?|tables?|rooms?)(?:$|[^\p{L}])`)
	negation  = regexp.MustCompile(`(?:^|[^\p{L}])(?:not|no longer|never|isn't|aren't|nicht|kein\p{L}*|nie|pas|jamais|no|nao|non|niet|geen|не|ليس\p{L}*|ليست)(?: (\p{L}+))?$`)
)

// containsFreeOffer reports whether a folded text says that something costs nothing. A negated statement does not count.
func containsFreeOffer(lower string) bool {
	lower = freeIdiom.ReplaceAllString(lower, " ")
	for rest, from := lower, 0; ; rest = lower[from:] {
		at := freeForm.FindStringSubmatchIndex(rest)
		if at == nil {
			return false
		}
		if !isNegated(strings.TrimSpace(lower[:from+at[2]])) {
			return true
		}
		from += at[3]
	}
}

// isNegated reports whether a text ends in a negation, with at most one word after it: "not", "not really". "not only",
// "no doubt" and the like are none.
func isNegated(before string) bool {
	found := negation.FindStringSubmatch(before)
	if found == nil {
		return false
	}
	switch found[1] {
	case "only", "just", "doubt", "nur", "bloss", "seulement", "solo", "solamente", "apenas", "so", "soltanto", "alleen", "slechts", "только",
		"problem", "worries":
		return false
	default:
		return true
	}
}
