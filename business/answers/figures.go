package answers

import (
	"regexp"
	"slices"
	"strings"
)

// figure matches a number with what stands right before and after it.
var figure = regexp.MustCompile(`(?i)([€$£¥₽₺]?)\s?(\d+(?:[.,:]\d+)*)\s?([%€$£¥₽₺]|[\p{L}.]+)?`)

// The words after a number that make it a price, a share or a time of day.
var (
	priceUnits = regexp.MustCompile(`^(?i:[€$£¥₽₺]|eur|euros?|usd|dollars?|dólares|chf|franken|francs?|gbp|pounds?|pfund|zł|pln|kr|sek|kč|czk|lira|tl|try|rub|руб\pL*|гривен|грн|reais|real|yen|يورو|دولار)\.?$`)
	shareUnits = regexp.MustCompile(`^(?i:%|percent|per cent|prozent|por ciento|pour cent)$`)
	timeUnits  = regexp.MustCompile(`^(?i:am|pm|a\.m\.|p\.m\.|uhr|h|o'clock|heures?|uur|horas?)\.?$`)
)

// figures returns the numbers of a text by kind: price, share, time, or "" for others.
func figures(s string) map[string][]string {
	kinds := map[string][]string{}
	for _, m := range figure.FindAllStringSubmatch(s, -1) {
		sign := m[1]
		number := m[2]
		unit := m[3]
		kind := ""
		switch {
		case sign != "" || priceUnits.MatchString(unit):
			kind = "price"
		case shareUnits.MatchString(unit):
			kind = "share"
		case strings.Contains(number, ":") || timeUnits.MatchString(unit):
			kind = "time"
		}
		number = strings.ReplaceAll(number, ",", ".")
		number = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(number, ":00"), ".00"), ".")
		if trimmed := strings.TrimLeft(number, "0"); trimmed != "" {
			number = trimmed
		}
		if !slices.Contains(kinds[kind], number) {
			kinds[kind] = append(kinds[kind], number)
		}
	}
	return kinds
}

// figuresDiffer reports whether a quote and an answer to the same question name figures of one kind, such as prices, that
// differ. Figures of no known kind count only if both texts share a word besides.
func figuresDiffer(quote, answer string) bool {
	said, other := figures(quote), figures(answer)
	for kind, numbers := range said {
		if kind == "" && !haveCommonWord(quote, answer) {
			continue
		}
		common := 0
		for _, n := range numbers {
			if slices.Contains(other[kind], n) {
				common++
			}
		}
		if len(other[kind]) > 0 && common < min(len(numbers), len(other[kind])) {
			return true
		}
	}
	return false
}

// longWord matches a word of four letters or more.
var longWord = regexp.MustCompile(`\p{L}{4,}`)

// haveCommonWord reports whether two texts have a word of four letters or more in common.
func haveCommonWord(a, b string) bool {
	words := longWord.FindAllString(strings.ToLower(a), -1)
	return slices.ContainsFunc(longWord.FindAllString(strings.ToLower(b), -1), func(w string) bool { return slices.Contains(words, w) })
}
