package search

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"multis/internal/text"
)

// Match is what documents say to a question: the quote that answers it, if one surely does, and those that are nearest.
type Match struct {
	Quote Quote
	Found bool
	Near  []Quote // the nearest quotes, the best first; among them Quote
	Doubt string  // why Quote does not surely answer; empty if it does

	words int // of the question, that the documents have
}

const (
	nearShare, paragraphShare, farShare = 0.95, 0.5, 0.5
	// margin is by how much the answer must be better than all others.
	margin = 0.04
	// minOwnShare is how much of the words an answer has itself, or above it; the rest may stand beside it in its paragraph.
	minOwnShare = 0.5
	// conceptLoss is how much less another word for the same thing counts than the word itself.
	conceptLoss = 0.15
	// minAbout is how much of the question before an answer to a follow-up has.
	minAbout = 0.34
	// maxNear is the number of nearest quotes.
	maxNear = 3
)

// MatchQuotes finds the quote that answers a question. It must have each word that the question is about, as far as the
// documents know the word: in one sentence, item or row, or in what stands above it.
func MatchQuotes(hits []Hit, asked Asked) Match {
	pieces, everything := piecesOf(hits)
	if len(asked.Before) == 0 {
		return matchPieces(pieces, everything, asked)
	}
	alone := matchPieces(pieces, everything, Asked{Text: asked.Text})
	if isWhole := alone.words >= minAlone || len(tokens(asked.Text)) >= minWhole; alone.Found && isWhole && !Continues(asked.Text) {
		return alone
	}
	return matchPieces(pieces, everything, asked)
}

// minAlone is the number of words from which a question needs no other one before it.
const minAlone = 2

// minWhole is the number of all words from which a question is taken as a whole one.
const minWhole = 4

// matchPieces finds the piece that answers a question.
func matchPieces(pieces []piece, everything []content, asked Asked) Match {
	q := parseAsked(asked.Text, asked.Before)
	words, unknown := weigh(q.words, pieces, everything)
	about, _ := weigh(q.about, pieces, everything)
	if len(words) == 0 {
		return Match{}
	}
	if !slices.ContainsFunc(words, func(w weightedWord) bool { return !w.isLight }) {
		for i := range words {
			words[i].isLight = !slices.ContainsFunc(words[i].concepts, func(c string) bool { return slices.Contains(askedAlone, c) })
		}
	}
	typed := q.typed
	if askedValueType(typed) == asksNoValue && len(asked.Before) > 0 {
		typed = Words(asked.Before[len(asked.Before)-1])
	}
	var good []piece
	for _, p := range pieces { // a copy, because each question rates it anew
		if p.rate(words, about, unknown, typed, len(asked.Before) > 0) {
			good = append(good, p)
		}
	}
	slices.SortFunc(good, func(a, b piece) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.rank, b.rank), cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last))
	})
	if len(good) == 0 {
		return Match{}
	}
	m := Match{words: len(words)}
	best := good[0]
	for _, p := range good {
		if len(m.Near) == maxNear {
			break
		}
		quote := p.quote()
		if !slices.ContainsFunc(m.Near, func(n Quote) bool { return overlaps(n, quote) }) {
			m.Near = append(m.Near, quote)
		}
	}
	m.Quote = m.Near[0]
	m.Found = best.isSure
	for _, p := range good[1:] {
		if best.score-p.score < margin && p.isSure && !overlaps(m.Quote, p.quote()) {
			m.Found = false
			m.Doubt = "another passage fits as well: " + strings.ReplaceAll(p.text(), "\n", " ")
		}
	}
	if !best.isSure {
		m.Doubt = best.doubt
	}
	return m
}

// Match finds the quote that answers the question of a search.
func (r Result) Match() Match { return MatchQuotes(slices.Concat(r.Hits, r.Others), r.Asked) }

func overlaps(a, b Quote) bool {
	return a.Hit.Ref == b.Hit.Ref && (strings.Contains(a.Text, b.Text) || strings.Contains(b.Text, a.Text))
}

// askedAlone are the light concepts that a question may be about.
var askedAlone = []string{"pay", "free", "minimum", "discount"} //nolint:gochecknoglobals // a constant

// weightedWord is a word of the question with how much it tells.
type weightedWord struct {
	askedWord

	weight float64
}

// weigh returns the words of a question that the documents have, with their weights, and the number of the others.
func weigh(words []askedWord, pieces []piece, everything []content) (known []weightedWord, unknown int) {
	for _, w := range words {
		isKnown := slices.ContainsFunc(everything, func(c content) bool { return c.has(w) })
		if !isKnown && !isNumber(w.text) && w.day < 0 && w.month < 0 {
			if fixed, ok := corrected(w, everything); ok {
				w, isKnown = fixed, true
			}
		}
		switch {
		case isKnown || w.day >= 0:
		case w.month >= 0:
			continue // prices of documents without months hold in each
		case w.isLight:
			continue
		default:
			unknown++
			continue
		}
		n := 0
		for i := range pieces {
			if pieces[i].own.has(w) || pieces[i].near.has(w) {
				n++
			}
		}
		weight := rarity(n, len(pieces))
		if w.isLight {
			weight *= lightShare
		}
		known = append(known, weightedWord{w, weight})
	}
	return known, unknown
}

// minTypo is the length from which a word may be mistyped.
const minTypo = 4

// corrected returns the word with the only spelling of the documents that is one or two letters away.
func corrected(w askedWord, everything []content) (askedWord, bool) {
	length := utf8.RuneCountInString(w.text)
	if length < minTypo || len(w.concepts) > 0 {
		return w, false // a word with a concept is spelled as it is meant
	}
	allowed := 1
	if length >= 7 {
		allowed = 2
	}
	best, found := allowed+1, ""
	for _, c := range everything {
		for word := range c.words {
			if isNumber(word) {
				continue
			}
			if d := typoDistance(w.text, word, allowed+1); d < best || d == best && d <= allowed && word < found {
				best, found = d, word
			}
		}
	}
	if found == "" || best > allowed {
		return w, false
	}
	w.text, w.forms = found, []string{found}
	return w, true
}

// typoDistance returns by how many letters two words differ; limit if it is more, or if they hardly begin alike.
func typoDistance(a, b string, limit int) int {
	x, y := []rune(a), []rune(b)
	difference := len(x) - len(y)
	if max(difference, -difference) >= limit || len(y) < minTypo {
		return limit
	}
	beginAlike := x[0] == y[0] || len(x) >= 5 && x[1] == y[1]
	if !beginAlike {
		return limit
	}
	return min(text.EditDistance(a, b), limit)
}

// rate scores a piece. It reports false if the piece lacks all words of the question.
func (p *piece) rate(words, about []weightedWord, unknown int, typed []string, follows bool) bool {
	sum := 0.0
	total := 0.0
	own := 0.0
	missing := 0
	inOwn := 0
	strong := 0
	key := 0.0 // the weight of the word that tells most
	for _, w := range words {
		if !w.isLight && w.day < 0 {
			key = max(key, w.weight)
		}
	}
	for _, w := range words {
		total += w.weight
		if !w.isLight && !isNumber(w.text) {
			strong++
		}
		switch {
		case p.own.has(w.askedWord):
			sum += w.weight
			if w.day < 0 && w.month < 0 && !p.own.hasForm(w.askedWord) {
				sum -= conceptLoss * w.weight
			}
			own += w.weight
			inOwn++
		case p.near.has(w.askedWord):
			sum += nearShare * w.weight
			own += w.weight
			inOwn++
		case p.paragraph.has(w.askedWord):
			sum += paragraphShare * w.weight
		case p.far.has(w.askedWord):
			sum += farShare * w.weight
		case w.isLight:
		case w.day >= 0 && manyDays(p.own.days):
			sum += paragraphShare * w.weight // it says on which days it is
			own += paragraphShare * w.weight
		default:
			missing++
			p.doubt += "it lacks " + w.text + "; "
		}
	}
	if inOwn == 0 {
		return false
	}
	p.ownShare = own / total
	hasKey := p.hasEach(words, key)
	p.about = p.aboutShare(about)
	p.answerMatch = matchAnswerType(typed, p.leadText()+" "+p.text(), p.hit.Language)
	if p.units[p.first].isRow && askedValueType(typed) == asksPrice && p.answerMatch == noMatch && len(p.own.numbers) > 0 {
		p.answerMatch = possibleMatch
	}
	if p.answerMatch == noMatch && p.own.denies {
		p.answerMatch = possibleMatch
	}
	p.score = sum/total + 0.1*p.label(words) + 0.3*p.about + 0.05*float64(p.answerMatch) - 0.02*float64(p.last-p.first)
	p.isSure = missing == 0 && strong > 0 && hasKey && !p.isVague(words, strong) && p.answerMatch != noMatch && p.ownShare >= minOwnShare &&
		(unknown == 0 || askedValueType(typed) != asksQuantity && unknown == 1 && strong >= 2 || unknown == 2 && strong >= 3) &&
		(!follows || len(about) == 0 || p.about >= minAbout)
	if p.answerMatch == noMatch {
		p.doubt += "it has no value of the type that is asked for; "
	}
	if unknown > 0 {
		p.doubt += "the question has words that no document has; "
	}
	if p.ownShare < minOwnShare {
		p.doubt += "its words stand apart; "
	}
	return true
}

// hasEach reports whether a piece has the words that tell most, itself or above it.
func (p *piece) hasEach(words []weightedWord, key float64) bool {
	return !slices.ContainsFunc(words, func(w weightedWord) bool {
		return !w.isLight && w.day < 0 && w.weight >= key && !p.own.has(w.askedWord) && !p.near.has(w.askedWord)
	})
}

// aboutShare returns the share of words that a piece has, of those that it should have.
func (p *piece) aboutShare(about []weightedWord) float64 {
	found, total := 0.0, 0.0
	for _, w := range about {
		total += w.weight
		if p.own.has(w.askedWord) || p.near.has(w.askedWord) {
			found += w.weight
		} else if p.far.has(w.askedWord) {
			found += farShare * w.weight
		}
	}
	if total == 0 {
		return 0
	}
	return found / total
}

// label returns the share of a row's first cell that the question has.
func (p *piece) label(words []weightedWord) float64 {
	if len(p.labelWords) == 0 {
		return 0
	}
	n := 0
	for _, t := range p.labelWords {
		c := content{words: map[string]bool{t: true}, concepts: map[string]bool{}}
		if slices.ContainsFunc(words, func(w weightedWord) bool { return c.has(w.askedWord) }) {
			n++
		}
	}
	return float64(n) / float64(len(p.labelWords))
}

// isVague reports whether a piece shares with the question only another word for the one that it is about, or an address
// without a number.
func (p *piece) isVague(words []weightedWord, strong int) bool {
	for _, w := range words {
		if slices.Contains(w.concepts, "address") && len(p.own.numbers) == 0 {
			return true
		}
		if strong == 1 && !w.isLight && w.day < 0 && !p.own.hasForm(w.askedWord) && !p.near.hasForm(w.askedWord) {
			return true
		}
	}
	return false
}

// manyDays reports whether a text names several days, which then are all on which something is.
func manyDays(days int) bool { return bits.OnesCount(uint(days)) > 1 }
