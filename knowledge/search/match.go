package search

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"multis/internal/text"
)

// Match is what documents say to a question: the quote that answers it, if one surely does, and those that are nearest.
type Match struct {
	Quote Quote
	Found bool
	Whole bool    // it is found, and has all that the question is about
	Near  []Quote // the nearest quotes, the best first; among them Quote

	words int // of the question, that the documents have
}

// MatchQuotes finds the quote that answers a question: the sentence, item or row that has most of it, itself or in what
// stands above it. It must be better than all others, by the more the less of the question it has.
// What the owner picked for the same words is the answer.
func MatchQuotes(hits []Hit, asked Asked) Match {
	if picked, found := pickedQuote(hits, asked); found {
		return Match{Quote: picked, Found: true, Near: []Quote{picked}}
	}
	s := split(hits)
	if len(asked.Before) == 0 {
		return s.match(asked)
	}
	alone := s.match(Asked{Text: asked.Text})
	if isWhole := alone.words >= minAlone || len(tokens(asked.Text)) >= minWhole; alone.Found && isWhole && !Continues(asked.Text) {
		return alone
	}
	return s.match(asked)
}

// maxNear is the number of nearest quotes.
const maxNear = 3

// minAlone is the number of words from which a question needs no other one before it.
const minAlone = 2

// minWhole is the number of all words from which a question is taken as a whole one.
const minWhole = 4

// match finds the piece that answers a question.
func (s splitHits) match(asked Asked) Match {
	q := parseAsked(asked.Text, asked.Before, s.spoken)
	if len(asked.Before) == 0 {
		q.words = withImplied(q)
	}
	words, unknown := s.weigh(q.words)
	about, _ := s.weigh(q.about)
	if len(words) == 0 {
		return Match{}
	}
	if !slices.ContainsFunc(words, func(w weightedWord) bool { return !w.isLight && !isNumber(w.text) }) {
		for i := range words {
			words[i].isLight = !slices.ContainsFunc(words[i].concepts, func(c string) bool { return slices.Contains(askedAlone, c) })
		}
	}
	typed := q.typed
	if askedValueType(typed) == asksNoValue && len(asked.Before) > 0 {
		typed = Words(asked.Before[len(asked.Before)-1])
	}
	rated := ratedQuestion{
		words:      words,
		about:      about,
		known:      s.knownShare(words, unknown, typed),
		typed:      typed,
		isFollowUp: len(asked.Before) > 0,
		asksIf:     askedValueType(typed) == asksNoValue && !isOpenQuestion(asked.Text),
	}
	var good []piece
	for _, p := range s.pieces { // a copy, because each question rates it anew
		if p.rate(rated) {
			good = append(good, p)
		}
	}
	slices.SortFunc(good, func(a, b piece) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.rank, b.rank), cmp.Compare(a.first, b.first), cmp.Compare(a.last, b.last))
	})
	if len(good) == 0 {
		return Match{}
	}
	return matchOf(good, rated)
}

// matchOf returns what pieces say to a question, the best first: the best one answers it if it leads by enough.
func matchOf(good []piece, q ratedQuestion) Match {
	m := Match{words: len(q.words)}
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
	m.Found = best.mayAnswer(q) && best.doubt(q) < maxDoubt
	lead := best.leadNeeded(q)
	for _, p := range good[1:] {
		if best.score-p.score >= lead {
			break
		}
		if best.hasDayInsteadOf(p, q.words) {
			continue
		}
		if other := p.quote(); !overlaps(m.Quote, other) && other.Text != m.Quote.Text {
			m.Found = false
		}
	}
	m.Whole = m.Found && best.hasAll(q)
	return m
}

// Match finds the quote that answers the question of a search.
func (r Result) Match() Match {
	if r.match != nil {
		return r.match()
	}
	return MatchQuotes(slices.Concat(r.Hits, r.Others), r.Asked)
}

// WithAsked returns the result with another question, such as one that goes on with what was said before.
func (r Result) WithAsked(asked Asked) Result {
	r.Asked = asked
	hits := slices.Concat(r.Hits, r.Others)
	r.match = sync.OnceValue(func() Match { return MatchQuotes(hits, asked) })
	return r
}

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

// weigh returns the words of a question that the documents have, with their weights, and the weight of the others, of which
// those that are joined to others count twice.
func (s splitHits) weigh(words []askedWord) (known []weightedWord, unknown float64) {
	for _, w := range words {
		isKnown := slices.ContainsFunc(s.everything, func(c content) bool { return c.has(w) })
		if !isKnown && !isNumber(w.text) && w.day < 0 && w.month < 0 {
			if fixed, ok := corrected(w, s.everything); ok {
				w, isKnown = fixed, true
			}
		}
		switch {
		case isKnown || w.day >= 0:
		case w.month >= 0:
			continue // prices of documents without months hold in each
		case w.isLight, w.isMinor():
			continue
		default:
			unknown += rarity(1, len(s.pieces))
			if w.isJoined { // it is a second thing
				unknown += rarity(1, len(s.pieces))
			}
			continue
		}
		n := 0
		for i := range s.pieces {
			if s.pieces[i].own.has(w) || s.pieces[i].near.has(w) {
				n++
			}
		}
		weight := rarity(n, len(s.pieces))
		if w.isLight {
			weight *= lightShare
		}
		known = append(known, weightedWord{w, weight})
	}
	return known, unknown
}

// knownShare returns the share of what a question is about that documents have: of its words, without light ones, numbers and
// days, and of the price that it asks for. What is counted weighs twice if no document has it.
func (s splitHits) knownShare(words []weightedWord, unknown float64, typed []string) float64 {
	if unknown == 0 {
		return 1
	}
	known := 0.0
	for _, w := range words {
		if !w.isLight && !isNumber(w.text) && w.day < 0 && w.month < 0 {
			known += w.weight
		}
	}
	switch askedValueType(typed) {
	case asksPrice:
		known += s.priceWeight(typed)
	case asksQuantity:
		unknown *= 2
	default:
	}
	return known / (known + unknown)
}

// priceWeight returns how much it tells that a piece has a price.
func (s splitHits) priceWeight(typed []string) float64 {
	n := 0
	for i := range s.pieces {
		if s.pieces[i].matchType(typed) == fullMatch {
			n++
		}
	}
	return rarity(n, len(s.pieces))
}

// minTypo is the length from which a word may be mistyped; minReplaced that from which a letter may stand for another one,
// because short words that differ in a letter are mostly two words.
const minTypo, minReplaced = 4, 5

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
			if isNumber(word) || c.side[word] || length < minReplaced && utf8.RuneCountInString(word) == length {
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
