package answers

import (
	"regexp"
	"strings"

	"multis/internal/language/lexicon"
)

// The words below are in lower case and without accents, as tokens returns them. The lexicon has them by language, in the
// topic "statements".
//
//nolint:gochecknoglobals // tables of words
var (
	yesWords = wordSet("yes")
	noWords  = wordSet("no")
	// politeWords may stand before a yes or a no.
	politeWords = wordSet("polite")
	// pronouns may follow a yes or a no without a comma: "No we don't".
	pronouns      = wordSet("pronouns")
	negatingWords = wordSet("negating")
	// hedgeWords restrict a sentence, so that neither yes nor no is the whole answer.
	hedgeWords = wordSet("hedges")
	// idioms have a word of a negation and deny nothing.
	idioms           = lexicon.Words("statements", "idioms")
	alternativeWords = wordSet("alternatives")
	questionWords    = wordSet("asking")
	// priceWords ask for a price, whenWords for a time or a place.
	priceWords = wordSet("asking_price")
	whenWords  = wordSet("asking_when")
	whoWords   = wordSet("asking_who")
	ownWords   = wordSet("own")
	alsoWords  = wordSet("also")
	// oneOffWords and oneOffPhrases say that an answer holds for one customer or a short time.
	oneOffWords   = wordSet("one_off")
	oneOffPhrases = lexicon.Words("statements", "one_off_phrases")
	// fillerWords add nothing to what a sentence says, or only since when it holds.
	fillerWords = wordSet("fillers")
	rangeWords  = wordSet("ranges")
	// opposites are words that say the opposite of another.
	opposites = wordPairs("opposites")
	synonyms  = wordPairs("synonyms")

	// weekdays are the names of the days of the week, from Monday.
	weekdays = []string{"day:1", "day:2", "day:3", "day:4", "day:5", "day:6", "day:7"}
	// dayNames has the names of days and months as tokens returns them, by their words.
	dayNames = readDayNames()
)

// readDayNames reads the names of days and months. Days also have their plurals and habitual forms. English "may" is not
// among them, because it is a verb, too.
func readDayNames() map[string]string {
	names := map[string]string{}
	for _, code := range lexicon.Languages("statements") {
		for i, row := range lexicon.Rows(code, "days") {
			for _, day := range row.Words() {
				word := foldWord(joined.Replace(day))
				if strings.Contains(word, "-") { // tokens splits it, and the next form is its first part
					continue
				}
				for _, form := range []string{word, word + "s", word + "e", word + "en"} {
					names[form] = weekdays[(i+6)%7]
				}
			}
		}
		for _, row := range lexicon.Rows(code, "months") {
			for _, month := range row.Words() {
				names[foldWord(month)] = "month:" + row.Concept
			}
		}
	}
	delete(names, "may")
	return names
}

// joined makes one word of those with a sign in it: Dutch "t/m" means "tot", and Portuguese "segunda" alone "the second".
var joined = strings.NewReplacer("t/m", "tot", "segunda-feira", "segundafeira", "segundas-feiras", "segundafeiras")

// since matches the words that say since when something holds, such as "since May".
var since = regexp.MustCompile(`(?i)(?:^|\s)(?:(?:since|as of|seit|depuis|sinds|vanaf)\s+(?:(?:the|this|last|dem|diesem|le)\s+)?[\pL\d]+(?:\s\d{4})?|ab (?:sofort|jetzt)|from now on|any ?more|no longer),?(?:\s|$)`)

// thisTime matches one certain day, week or occasion in words.
var thisTime = regexp.MustCompile(`(?:^| )(?:this|next|diese[nrms]?|nachste[nrms]?|cette?|ce|prochaine?|d?est[ae]|proxim[ao]|quest[ao]|prossim[ao]|deze|volgende|этот|эту|этои|на этот) ` +
	`(?:day:|month:|(?:time|once|week|weekend|month|year|woche|wochenende|monat|jahr|mal|fois|semaine|mois|annee|semana|mes|ano|vez|settimana|mese|anno|volta|maand|jaar|keer|неделю|неделе|раз)(?: |$))`)

// isListed reports whether a word has a meaning here, although it is a common one.
func isListed(word string) bool {
	for _, words := range []map[string]bool{
		yesWords, noWords, negatingWords, hedgeWords, alternativeWords, questionWords, alsoWords,
		oneOffWords, rangeWords, politeWords,
	} {
		if words[word] {
			return true
		}
	}
	return dayNames[word] != ""
}

// wordSet returns the words of a concept as a set, each as tokens returns it.
func wordSet(concept string) map[string]bool {
	all := map[string]bool{}
	for _, w := range lexicon.Words("statements", concept) {
		all[foldWord(w)] = true
	}
	return all
}

// wordPairs returns the pairs of words of a concept, such as "closed = open".
func wordPairs(concept string) map[string]string {
	pairs := map[string]string{}
	for _, pair := range lexicon.Words("statements", concept) {
		word, other, _ := strings.Cut(pair, " = ")
		pairs[word] = other
	}
	return pairs
}
