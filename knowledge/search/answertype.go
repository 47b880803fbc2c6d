package search

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"multis/internal/language"
	"multis/internal/language/lexicon"
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
	`|\pL+\s+(?:street|road|lane|avenue|square)\b` +
	`|\b(?:neben|hinter|gegenüber(?: von)?|nahe|unweit)\s+(?:de[rmn]|einem|einer|unserem|unserer)\s+\pL+` +
	`|(?:\ben face|\bprès|\bà côté|\bderrière|\bdevant|\bau-dessus)(?:\s+(?:de la|de|du|des|la|le|les)\s+|\s+(?:de\s+)?l['’])\pL+` +
	`|\b(?:junto|frente|cerca|al lado|detrás|delante|enfrente)\s+(?:al|a la|del|de la|de los|de las)\s+\pL+`)

// landmarkWords lists lower-case words of which each match of landmark contains one. Looking for them first is much
// faster, because most texts contain none.
var landmarkWords = []string{
	"beside", "near", "opposite", "behind", "next to", "close to", "across from", "in front of", "street", "road", "lane", "avenue", "square",
	"neben", "hinter", "gegenüber", "nahe", "unweit", "en face", "près", "à côté", "derrière", "devant", "au-dessus",
	"junto", "frente", "cerca", "al lado", "detrás", "delante",
}

// withoutLandmarks removes the places that a text names only to locate something else.
func withoutLandmarks(text string) string {
	lower := strings.ToLower(text)
	if !slices.ContainsFunc(landmarkWords, func(hint string) bool { return strings.Contains(lower, hint) }) {
		return text
	}
	return landmark.ReplaceAllString(text, " ")
}

// valueType is the type of value that a question asks for.
type valueType int

const (
	asksNoValue valueType = iota // the question asks for none of the values below
	asksPrice
	asksDuration
	asksTime
	asksQuantity
	asksWeight
	asksAge
	asksPlace
)

// askedFor is a type of value with the phrases that ask for it.
type askedFor struct {
	value  valueType
	phrase *regexp.Regexp
}

// readAskedFor reads the phrases of questions on the first call. Each pattern covers all languages, because a question is
// often too short to detect its language. The first type that is asked for counts.
var readAskedFor = sync.OnceValue(func() []askedFor { //nolint:gochecknoglobals // read once, from the lexicon
	return []askedFor{
		{asksWeight, askedPhrases("weight")},
		{asksDuration, askedPhrases("duration")},
		{asksPrice, askedPhrases("price")},
		{asksTime, askedPhrases("time")},
		{asksAge, askedPhrases("age")},
		{asksQuantity, askedPhrases("quantity")},
		{asksPlace, askedPhrases("place")},
	}
})

// askedPhrases returns a pattern of the phrases that ask for a type of value.
func askedPhrases(concept string) *regexp.Regexp {
	var list []string
	for _, phrase := range lexicon.Words("asked", concept) {
		stem, isOpen := strings.CutSuffix(phrase, "*")
		stem = regexp.QuoteMeta(stem)
		if isOpen {
			stem += `\pL*`
		}
		list = append(list, stem)
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(list, "|") + `) `)
}

// askedValueType returns the type of value that a question asks for.
func askedValueType(question []string) valueType {
	joined := strings.Join(question, " ") + " "
	for _, a := range readAskedFor() {
		isPrice := a.value == asksDuration && strings.Contains(joined, "how much ")
		if !isPrice && a.phrase.MatchString(joined) {
			return a.value
		}
	}
	return asksNoValue
}

// weight matches weights in all languages.
var weight = regexp.MustCompile(`\d\s?(?:kg|g|gr|mg|lbs?|oz|t|kilos?|kilograms?|kilogramm|kilogrammes?|kilogramos?|grams?|gramm|grammes?|gramos?|gramas?|grammi|pounds?|pfund|ounces?|tons?|tonnen?|tonnes?|toneladas?)\b`)

// age matches an age, or the year since which something has existed, in all languages.
var age = regexp.MustCompile(`\b(?:years?|aged?|months?|alter|jahren?|jahre|monaten?|ans|age|mois|anos?|meses|edad|anni|mesi|jaar|maanden|yas\pL*|ar|lat|miesi\pL*)\b|\b(?:1[5-9]|20)\d\d\b`)

// valuePatterns are the patterns of values in texts of one language, in lower case and without accents.
type valuePatterns struct{ free, clock, duration, number, place *regexp.Regexp }

// money matches prices in all languages.
var money = regexp.MustCompile(`(?i)[€$£¥₹₽₺₩]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|francs?|franken|cents?|reais|lira\pL*|tl|kr|kronor|kroner|kc|rubles?)\b|\d ?(?:zł|zl)|złot|руб|درهم|ريال|دينار|جنيه|\d[.,]\d\d\b`)

// shortDuration matches durations as they are written in all languages, such as 1h30, 90 min or 45'.
var shortDuration = regexp.MustCompile(`\d ?(?:h|hrs?|min|mins|std)\b|\d ?h ?\d\d\b|\d ?'`)

// clockRange matches the times from and to which something is open, in all languages.
var clockRange = regexp.MustCompile(`\b\d{1,2}[.:h]\d\d ?h? ?(?:-|–|—|to|till|until|bis|a|as|alle|tot|til|do) ?(?:las |les )?\d{1,2}[.:h]\d\d`)

// percentage matches shares of a price.
var percentage = regexp.MustCompile(`(?i)%|\b(?:percent|per cent|prozent|procent)\b`)

// englishValues are the patterns for English texts, and for texts in a language that is not in valuesByLanguage.
var englishValues = valuePatterns{
	free: regexp.MustCompile(`\b(?:nothing|free|gratis|included|no (?:extra )?charge)\b`),
	clock: regexp.MustCompile(`\b\d{1,2}:\d\d\b|\d ?[ap]\.?m\b|o'clock|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mon|tue|wed|thu|fri|sat|sun|` +
		`january|february|march|april|may|june|july|august|september|october|november|december|weekdays?|weekends?|noon|midnight|mornings?|afternoons?|evenings?)\b`),
	// and Turkish, which has no patterns of its own
	duration: regexp.MustCompile(`\b(?:minutes?|hours?|days?|nights?|weeks?|months?|years?|dakika|saat|hafta|ay)\b`),
	number: regexp.MustCompile(`\d|\b(?:minutes?|hours?|days?|nights?|weeks?|months?|years?|daily|always|immediately|today|tomorrow|` +
		`one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|no|none)\b`),
	place: regexp.MustCompile(`\b(?:(?:at|in|near|beside|behind|opposite|between|next)\s+\pL|(?:on|to|from)\s+(?:the|our)\s|(?:street|road|lane|avenue|square|floor|online)\b)`),
}

// valuesByLanguage are the patterns for texts in other languages.
var valuesByLanguage = map[language.Language]valuePatterns{
	language.German: {
		free: regexp.MustCompile(`\b(?:nichts|kostenlos|kostenfrei|gratis|umsonst|inklusive|inbegriffen|enthalten|frei)\b`),
		clock: regexp.MustCompile(`\b\d{1,2}:\d\d\b|\d ?uhr\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag|werktag|feiertag)s?\b|` +
			`\b(?:januar|februar|marz|april|mai|juni|juli|august|september|oktober|november|dezember|taglich|morgens|mittags|abends|wochenende)\b`),
		duration: regexp.MustCompile(`\b(?:minuten?|stunden?|tagen?|tage|tag|nacht|nachten?|wochen?|monaten?|monate|monat|jahren?|jahre|jahr)\b`),
		number:   regexp.MustCompile(`\d|\b(?:eins|zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn|elf|zwolf|zweiten|dritten|vierten|dutzend|hundert|kein|keine|keinen|sofort|immer|heute|morgen|minuten|stunden|tage|wochen|monate|jahre)\b`),
		place:    regexp.MustCompile(`\b(?:(?:in|im|an|am|auf|bei|beim|neben|hinter|vor|gegenuber|zwischen|unter)\s+\pL|(?:stock|online|\pL*(?:strasse|gasse|platz|weg|allee))\b)`),
	},
	language.French: {
		free: regexp.MustCompile(`\b(?:rien|gratuit|gratuite|gratuits|gratuites|gratuitement|offerte?s?|comprise?s?|inclus(?:es?)?)\b`),
		clock: regexp.MustCompile(`\b\d{1,2}:\d\d\b|\b\d{1,2} ?h(?:\d\d)?\b|\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?\b|` +
			`\b(?:janvier|fevrier|mars|avril|mai|juin|juillet|aout|septembre|octobre|novembre|decembre|midi|minuit|matin|soir|tous les jours|week-end)\b`), //nolint:misspell // French
		duration: regexp.MustCompile(`\b(?:minutes?|heures?|jours?|nuits?|semaines?|mois|ans?|annees?)\b`),
		number:   regexp.MustCompile(`\d|\b(?:deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|douzaine|cent|aucune?|toujours|demain|minutes?|heures?|jours?|semaines?|mois)\b`),
		place:    regexp.MustCompile(`\b(?:(?:dans|sur|sous|chez|pres|derriere|devant|face|a cote|au|aux|en)\s+\pL|(?:rue|avenue|place|boulevard|etage|ligne)\b)`),
	},
	language.Spanish: {
		free: regexp.MustCompile(`\b(?:nada|gratis|gratuit[oa]s?|incluid[oa]s?)\b`),
		clock: regexp.MustCompile(`\b\d{1,2}:\d\d\b|\b\d{1,2} ?h\b|\b(?:lunes|martes|miercoles|jueves|viernes|sabados?|domingos?)\b|` +
			`\b(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|mediodia|medianoche|tardes|noches|todos los dias|fin de semana)\b`),
		duration: regexp.MustCompile(`\b(?:minutos?|horas?|dias?|noches?|semanas?|mes|meses|anos?)\b`),
		number:   regexp.MustCompile(`\d|\b(?:dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|docena|cien|ningun|ninguna|siempre|manana|minutos?|horas?|dias?|semanas?|mes|meses)\b`),
		place:    regexp.MustCompile(`\b(?:(?:en|junto|detras|delante|frente|cerca|sobre)\s+\pL|(?:calle|avenida|plaza|paseo|planta|linea)\b)`),
	},
}

// matchAnswerType says whether text, in a language, contains a value of the type that the question asks for.
func matchAnswerType(question []string, text string, in language.Language) answerMatch {
	v, known := valuesByLanguage[in]
	if !known {
		v = englishValues
	}
	text = strings.ToLower(fold(text))
	switch askedValueType(question) {
	case asksPrice:
		if match := bestMatch(text, money, v.free); match != noMatch {
			return match
		}
		return bestMatch(text, v.free, percentage)
	case asksDuration:
		return v.matchDuration(text)
	case asksTime:
		if clockRange.MatchString(text) && !money.MatchString(text) {
			return fullMatch
		}
		return bestMatch(text, v.clock, v.number)
	case asksQuantity:
		return bestMatch(text, v.number, v.number)
	case asksWeight:
		return bestMatch(text, weight, weight)
	case asksAge:
		return bestMatch(text, age, age)
	case asksPlace:
		return bestMatch(v.withoutTimes(text), v.place, v.place)
	case asksNoValue:
	}
	return fullMatch
}

// matchDuration says whether a text has a duration. A number without a unit may be one, unless the text has a price.
func (v valuePatterns) matchDuration(text string) answerMatch {
	switch {
	case v.duration.MatchString(text), shortDuration.MatchString(text):
		return fullMatch
	case money.MatchString(text):
		return noMatch
	default:
		return bestMatch(text, v.duration, v.number)
	}
}

// withoutTimes replaces the times in a text, so that "on Monday" is not taken for a place.
func (v valuePatterns) withoutTimes(text string) string {
	return v.duration.ReplaceAllString(v.clock.ReplaceAllString(text, "·"), "·")
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
