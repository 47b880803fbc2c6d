package search

import (
	"regexp"
	"slices"
	"strings"
)

// answerMatch says whether a text contains a value of the type that a question asks for, such as a price or a time.
type answerMatch int

const (
	noMatch       answerMatch = iota // for example: the question asks for a price, and the text has none
	possibleMatch                    // the question asks for a price, and the text says "free"
	fullMatch                        // the question asks for a price, and the text has one; or the question asks for no such value
)

// landmark matches places that a text names only to locate something else. Such a text says nothing about the landmark.
var landmark = regexp.MustCompile(`(?i)\b(?:beside|near|opposite|behind|next to|close to|across from|in front of)(?:\s+(?:the|a|an|our|your))?\s+\pL+(?:\s+\pL+)?` +
	`|\pL+\s+(?:street|road|lane|avenue|square)\b`)

// The values that answer "how much", "when", "how many" and "where".
var (
	money        = regexp.MustCompile(`(?i)[€$£¥₹₽₺₩%]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?|cents?|percent|per cent)\b|\d[.,]\d\d\b`)
	freeOfCharge = regexp.MustCompile(`(?i)\b(?:nothing|free|gratis|included|no (?:extra )?charge)\b`)
	clockTime    = regexp.MustCompile(`(?i)\b\d{1,2}:\d\d\b|\d ?[ap]\.?m\b|o'clock|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tue|wed|thu|fri|sat|sun|` +
		`january|february|march|april|may|june|july|august|september|october|november|december|weekdays?|weekends?|noon|midnight|mornings?|afternoons?|evenings?)\b`)
	duration  = regexp.MustCompile(`(?i)\b(?:minutes?|hours?|days?|nights?|weeks?|months?|years?)\b`)
	anyNumber = regexp.MustCompile(`(?i)\d|\b(?:minutes?|hours?|days?|nights?|weeks?|months?|years?|daily|always|immediately|today|tomorrow|` +
		`one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|no|none)\b`)
	anyPlace = regexp.MustCompile(`(?i)\b(?:at|in|on|to|from|near|beside|behind|opposite|between|next|street|road|lane|avenue|square|floor|online)\b`)
	quantity = regexp.MustCompile(`\bhow (?:many|old|far|big|large|small|heavy|tall|deep|wide|warm|cold|hot|high|late|early|often|soon|fast)\b`)
)

// matchAnswerType says whether text contains a value of the type that the question asks for.
func matchAnswerType(question []string, text string) answerMatch {
	joined := strings.Join(question, " ") + " "
	price := slices.ContainsFunc(question, func(w string) bool {
		switch w {
		case "price", "prices", "cost", "costs", "charge", "fee", "fees", "expensive":
			return true
		}
		return false
	})
	switch {
	case price || strings.Contains(joined, "how much "):
		return bestMatch(text, money, freeOfCharge)
	case strings.Contains(joined, "how long "):
		return bestMatch(text, duration, anyNumber)
	case slices.Contains(question, "when") || strings.Contains(joined, "what time "):
		return bestMatch(text, clockTime, anyNumber)
	case quantity.MatchString(joined):
		return bestMatch(text, anyNumber, anyNumber)
	case slices.Contains(question, "where"):
		return bestMatch(text, anyPlace, anyPlace)
	default:
		return fullMatch
	}
}

// bestMatch returns fullMatch if text matches full, possibleMatch if it matches only possible, and noMatch otherwise.
func bestMatch(text string, full, possible *regexp.Regexp) answerMatch {
	switch {
	case full.MatchString(text):
		return fullMatch
	case possible.MatchString(text):
		return possibleMatch
	default:
		return noMatch
	}
}
