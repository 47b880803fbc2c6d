package answers

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
	"multis/internal/text"
)

// source is what a document or a learned answer says about a question: a quote, and the heading that it stands below.
type source struct{ heading, text string }

// contradicts reports whether a person's answer to a question says the opposite of a source, or names another figure,
// day, month or person. It compares words, and is false whenever they do not tell: an answer in other words may
// contradict the source as well. An answer that holds for one customer or one day contradicts nothing.
func contradicts(question string, of source, answer string) bool {
	if isOneOff(answer) || isAboutOneself(question) && !isYesOrNo(question) {
		return false
	}
	return figuresDiffer(of.text, answer) || wordsDiffer(question, of, answer)
}

// wordsDiffer reports what contradicts does, by words alone and not by figures. The source must be about the question, so
// that it has the words of it.
func wordsDiffer(question string, of source, answer string) bool {
	return polaritiesDiffer(question, of, answer) || slotsDiffer(question, of.text, answer)
}

// isOneOff reports whether an answer holds for one customer or a short time, by its words.
func isOneOff(answer string) bool {
	words := tokens(answer)
	return hasAny(words, oneOffWords) || hasAnyPhrase(words, oneOffPhrases) || thisTime.MatchString(strings.Join(words, " "))
}

// isAboutOneself reports whether a question is about something of the customer's, such as an order.
func isAboutOneself(question string) bool { return hasAny(tokens(question), ownWords) }

// isYesOrNo reports whether a text is one question that asks for yes or no: without a question word, an alternative or a negation.
func isYesOrNo(question string) bool {
	words := tokens(question)
	return strings.Count(question, "?")+strings.Count(question, "؟") == 1 && !hasAny(words, questionWords) &&
		!hasAny(words, alternativeWords) && negations(words) == 0
}

// polarity says whether a text answers a question with yes or no.
type polarity int

const (
	unclear polarity = iota
	yes
	no
)

// polaritiesDiffer reports whether one of a source and an answer says yes to a question, and the other says no.
func polaritiesDiffer(question string, of source, answer string) bool {
	if !isYesOrNo(question) || !readsNegations(question+"\n"+of.heading+"\n"+of.text+"\n"+answer) {
		return false
	}
	said := polarityOf(question, source{text: answer})
	if lead, _ := leadingPolarity(answer); lead == unclear {
		known, _ := plainWords(tokens(question + "\n" + of.heading + "\n" + of.text))
		words, _ := plainWords(tokens(withoutSince(answer)))
		if !isSubset(topical(words), known) {
			return false // it may be about something else
		}
	}
	return said != unclear && polarityOf(question, of)+said == yes+no
}

// polarityOf returns whether a source says yes or no to a question: by a yes or no that begins it, if it answers this
// question, and by the sentences that have all words of the question. It is unclear if they disagree. Sentences count
// only if nothing in the text is restricted, as by "only".
func polarityOf(question string, of source) polarity {
	asked, isOpposite := plainWords(tokens(question))
	if asked = topical(asked); len(asked) == 0 {
		return unclear
	}
	found, rest := leadingPolarity(of.text)
	if of.heading != "" && !sameQuestion(of.heading, question) {
		found = unclear
	}
	if words := tokens(of.text); hasAny(words, hedgeWords) || hasAnyPhrase(words, idioms) {
		return found
	}
	topics, _ := plainWords(tokens(of.heading))
	for _, sentence := range sentences(rest) {
		words, isOther := plainWords(tokens(sentence))
		if !isSubset(asked, append(slices.Clone(topics), words...)) || !isSubset(daysOf(asked), words) {
			continue
		}
		here := yes
		switch n := negations(words); {
		case n > 1 || strings.HasSuffix(sentence, "?"):
			return unclear
		case (n == 1) != (isOther != isOpposite):
			here = no
		}
		if found != unclear && found != here {
			return unclear
		}
		found = here
	}
	return found
}

// leadingPolarity returns whether a text begins with a yes or a no, and the rest of the text.
func leadingPolarity(s string) (found polarity, rest string) {
	isPolite := false
	for at := strings.TrimSpace(s); at != ""; {
		end := strings.IndexFunc(at, func(r rune) bool { return !isTokenRune(r) })
		if end < 0 {
			end = len(at)
		}
		word, after := strings.ToLower(text.Fold(at[:end])), at[end:]
		isWhole := after == "" || strings.ContainsRune(",.!;:-–—\n", firstRune(strings.TrimLeft(after, " ")))
		if words := tokens(after); !isWhole && word != "si" && len(words) > 0 {
			isWhole = pronouns[words[0]]
		}
		switch {
		case yesWords[word] && isWhole:
			return yes, after
		case noWords[word] && isWhole:
			return no, after
		case politeWords[word]:
			isPolite = true
		case isPolite && unicode.IsUpper(firstRune(at)):
			isPolite = false // the customer's name
		default:
			return unclear, s
		}
		at = strings.TrimLeftFunc(after, func(r rune) bool { return !isTokenRune(r) })
	}
	return unclear, s
}

// slotsDiffer reports whether an answer repeats a sentence of a quote with another day, month or person, or with one negation more or less.
func slotsDiffer(question, quote, answer string) bool {
	if hasAny(tokens(answer), alsoWords) || !readsNegations(question+"\n"+quote+"\n"+answer) {
		return false
	}
	days := daysOf(tokens(quote))
	_, answer = leadingPolarity(answer)
	for _, said := range sentences(quote) {
		for _, other := range sentences(answer) {
			if sentencesDiffer(question, said, other, days) {
				return true
			}
		}
	}
	return false
}

// sentencesDiffer is slotsDiffer for one sentence of each. quoted are the days and months of the whole quote.
func sentencesDiffer(question, said, other string, quoted []string) bool {
	if both := tokens(said + " " + other); hasAny(both, hedgeWords) || hasAnyPhrase(both, idioms) || strings.HasSuffix(said, "?") ||
		strings.HasSuffix(other, "?") {
		return false
	}
	if hasAny(tokens(question), whoWords) && namesDiffer(said, other) {
		return true
	}
	a, aOpposite := plainWords(tokens(said))
	b, bOpposite := plainWords(tokens(withoutSince(other)))
	frame, otherFrame := topical(withoutNames(a)), topical(withoutNames(b))
	if len(otherFrame) == 0 || !isSubset(otherFrame, frame) {
		return false
	}
	negated, otherNegated := (negations(a)%2 == 1) != aOpposite, (negations(b)%2 == 1) != bOpposite
	days := daysOf(a)
	otherDays := daysOf(b)
	asked := daysOf(tokens(question))
	switch {
	case negations(a) > 1 || negations(b) > 1:
		return false
	case negated != otherNegated:
		return isSubset(frame, otherFrame) && isSubset(days, otherDays) && isSubset(otherDays, days)
	default:
		return len(asked) == 0 && setsDiffer(days, otherDays) && setsDiffer(quoted, otherDays)
	}
}

// namesDiffer reports whether two sentences have the same words but for one name in each.
func namesDiffer(said, other string) bool {
	a, b := strings.Fields(said), strings.Fields(withoutSince(other))
	if len(a) != len(b) || len(a) < 3 {
		return false
	}
	differ := 0
	for i := range a {
		x, y := strings.Trim(a[i], ".,!;:"), strings.Trim(b[i], ".,!;:")
		if strings.EqualFold(x, y) {
			continue
		}
		differ++
		if !unicode.IsUpper(firstRune(x)) || !unicode.IsUpper(firstRune(y)) || language.IsCommon(x) || language.IsCommon(y) ||
			sameWord(strings.ToLower(x), strings.ToLower(y)) {
			return false
		}
	}
	return differ == 1
}

// tokens returns the words of a text in lower case and without accents. Days and months are names of their own (see
// dayNames), and a range of days is all of its days.
func tokens(s string) (words []string) {
	plain := joined.Replace(strings.ToLower(text.FoldWithAccents(s)))
	for raw := range strings.FieldsFuncSeq(plain, func(r rune) bool { return !isTokenRune(r) }) {
		word := strings.Trim(foldWord(raw), "'")
		switch {
		case word == "", language.IsCommon(raw) && !language.IsCommon(word) && !isListed(word):
		case strings.HasSuffix(word, "n't"):
			words = append(words, "not")
		case dayNames[word] != "":
			words = append(words, dayNames[word])
		default:
			words = append(words, elided(word))
		}
	}
	return withRanges(words)
}

// elided returns a word without the article that French and Italian join to it, such as "l'atelier".
func elided(word string) string {
	if before, after, ok := strings.Cut(word, "'"); ok && utf8.RuneCountInString(after) > 2 &&
		(len(before) == 1 && before != "n" || before == "dell" || before == "all") {
		return after
	} else if ok && before == "n" {
		return "ne"
	}
	return word
}

// isTokenRune reports whether a rune is a part of a word.
func isTokenRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '\'' || r == '’'
}

// withRanges adds the days between two days that a word such as "to" joins.
func withRanges(words []string) []string {
	var all []string
	for i, w := range words {
		all = append(all, w)
		from, to := slices.Index(weekdays, w), -1
		if i+2 < len(words) && rangeWords[words[i+1]] {
			to = slices.Index(weekdays, words[i+2])
		}
		for day := from + 1; from >= 0 && day < to; day++ {
			all = append(all, weekdays[day])
		}
	}
	return all
}

// plainWords returns words in which those such as "closed" are replaced by their opposites, and whether an odd number was.
func plainWords(words []string) (plain []string, isOpposite bool) {
	for _, w := range words {
		if of, ok := opposites[w]; ok {
			w, isOpposite = of, !isOpposite
		}
		if of, ok := synonyms[w]; ok {
			w = of
		}
		plain = append(plain, w)
	}
	return plain, isOpposite
}

// topical returns the words that say what a sentence is about.
func topical(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		return language.IsCommon(w) || negatingWords[w] || fillerWords[w] || politeWords[w] || yesWords[w] || noWords[w] || rangeWords[w] ||
			utf8.RuneCountInString(w) < 2
	})
}

// withoutNames returns words without days and months.
func withoutNames(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), isDay)
}

// daysOf returns the days and months in words.
func daysOf(words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !isDay(w) })
}

// isDay reports whether a word is a name from dayNames.
func isDay(word string) bool {
	return strings.HasPrefix(word, "day:") || strings.HasPrefix(word, "month:")
}

// setsDiffer reports whether each of two sets of days or months has one that the other lacks.
func setsDiffer(a, b []string) bool {
	return len(a) > 0 && len(b) > 0 && !isSubset(a, b) && !isSubset(b, a)
}

// isSubset reports whether each of some words is among others, in any form.
func isSubset(words, others []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return !slices.ContainsFunc(others, func(o string) bool { return sameWord(w, o) })
	})
}

// maxEnding is the maximum number of letters by which two forms of a word differ at its end.
const maxEnding = 3

// sameWord reports whether two words are forms of one word, such as "deliver" and "deliveries".
func sameWord(a, b string) bool {
	x, y := []rune(a), []rune(b)
	common := 0
	for common < min(len(x), len(y)) && x[common] == y[common] {
		common++
	}
	shorter, longer := min(len(x), len(y)), max(len(x), len(y))
	switch {
	case common == longer:
		return true
	case isDay(a) || isDay(b) || strings.ContainsFunc(a+b, unicode.IsDigit):
		return false
	case shorter < 5:
		return common == shorter && longer-common == 1 // a plural
	default:
		return common >= 5 && longer-common <= maxEnding
	}
}

// negations counts the words of a negation. French and other languages that use two words for one count as one.
func negations(words []string) (n int) {
	for _, w := range words {
		if negatingWords[w] {
			n++
		}
	}
	if n == 2 && slices.Contains(words, "ne") {
		n = 1
	}
	return n
}

// readsNegations reports whether negatingWords has the negations of the language of a text. Turkish, for one, negates by an ending.
func readsNegations(s string) bool {
	switch language.Detect(s) {
	case language.English, language.German, language.French, language.Spanish, language.Portuguese, language.Italian, language.Dutch,
		language.Russian:
		return true
	case language.Unknown: // a short text; the languages in Cyrillic script have the same negations
		return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) })
	default:
		return false
	}
}

// sentences splits a text at full stops, colons, marks and line ends.
func sentences(s string) (list []string) {
	start := 0
	for i, r := range s {
		end := r == '\n' || strings.ContainsRune(".!?…:;", r) && (i+1 == len(s) || strings.ContainsRune(" \n", rune(s[i+1])))
		if end || i+utf8.RuneLen(r) >= len(s) {
			if sentence := strings.TrimSpace(s[start:min(len(s), i+max(1, utf8.RuneLen(r)))]); strings.ContainsFunc(sentence, unicode.IsLetter) {
				list = append(list, sentence)
			}
			start = i + max(1, utf8.RuneLen(r))
		}
	}
	return list
}

// withoutSince removes the words that say since when something holds, such as "since May".
func withoutSince(s string) string { return strings.TrimSpace(since.ReplaceAllString(s, " ")) }

// firstRune returns the first rune of a text.
func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// hasAny reports whether one of words is in a set.
func hasAny(words []string, set map[string]bool) bool {
	return slices.ContainsFunc(words, func(w string) bool { return set[w] })
}

// hasAnyPhrase reports whether a text of words has one of some phrases of several words.
func hasAnyPhrase(words, phrases []string) bool {
	joined := " " + strings.Join(words, " ") + " "
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(joined, " "+p+" ") })
}
