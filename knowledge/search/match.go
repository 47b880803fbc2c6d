package search

import (
	"cmp"
	"math/bits"
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
	Near  []Quote // the nearest quotes, the best first; among them Quote

	words int // of the question, that the documents have
}

const (
	nearShare, paragraphShare, farShare = 0.95, 0.5, 0.5
	// margin is by how much the answer must be better than all others.
	margin = 0.04
	// singleMargin is the margin of a question of one word.
	singleMargin = 0.08
	// minOwnShare is how much of the words an answer has itself, or above it; the rest may stand beside it in its paragraph.
	minOwnShare = 0.5
	// conceptLoss is how much less another word for the same thing counts than the word itself.
	conceptLoss = 0.15
	// minAbout is how much of the question before an answer to a follow-up has.
	minAbout = 0.34
	// sureAbout is the share of the question before from which a follow-up need not say what it is about.
	sureAbout = 0.5
	// maxNear is the number of nearest quotes.
	maxNear = 3
)

// MatchQuotes finds the quote that answers a question. It must have each word that the question is about, as far as the
// documents know the word: in one sentence, item or row, or in what stands above it.
func MatchQuotes(hits []Hit, asked Asked) Match {
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
		unknown:    unknown,
		typed:      typed,
		isFollowUp: len(asked.Before) > 0,
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
		if other := p.quote(); best.score-p.score < rated.margin() && p.isSure && !overlaps(m.Quote, other) && other.Text != m.Quote.Text {
			m.Found = false
		}
	}
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

// weigh returns the words of a question that the documents have, with their weights, and the number of the others.
func (s splitHits) weigh(words []askedWord) (known []weightedWord, unknown int) {
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
			unknown++
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

// ratedQuestion is a question as pieces are rated for it.
type ratedQuestion struct {
	words      []weightedWord // those that the documents have
	about      []weightedWord // those of the messages before
	unknown    int            // the number of words that no document has
	typed      []string       // by which the type of the answer is told
	isFollowUp bool
}

// margin returns by how much the answer must be better than all others: by more if only one word says what it is about,
// because many texts have a word.
func (q ratedQuestion) margin() float64 {
	if q.strong() == 1 && len(q.words) == 1 && !q.isFollowUp {
		return singleMargin
	}
	return margin
}

// strong returns the number of words that say what the question is about.
func (q ratedQuestion) strong() (n int) {
	for _, w := range q.words {
		if !w.isLight && !isNumber(w.text) {
			n++
		}
	}
	return n
}

// key returns the weight of the word that tells most.
func (q ratedQuestion) key() (weight float64) {
	for _, w := range q.words {
		if !w.isLight && w.day < 0 {
			weight = max(weight, w.weight)
		}
	}
	return weight
}

// pieceCover is how much of a question a piece has.
type pieceCover struct {
	all     float64 // the share of the words' weight
	own     float64 // the share that stands in the piece itself, or above it
	inOwn   int     // the number of words in it or above it
	missing int     // the number of words that it lacks
}

// cover returns how much of a question the piece has.
func (p *piece) cover(words []weightedWord) pieceCover {
	var c pieceCover
	total := 0.0
	for _, w := range words {
		total += w.weight
		share, isOwn := p.shareOf(w)
		c.all += share * w.weight
		switch {
		case isOwn:
			c.inOwn++
			c.own += w.weight
		case share == 0 && !w.isLight:
			c.missing++
		case w.day >= 0 && p.namesOtherDays(w):
			c.own += share * w.weight
		}
	}
	c.all /= total
	c.own /= total
	return c
}

// shareOf returns how much of a word's weight the piece covers, and whether the word stands in it or above it.
func (p *piece) shareOf(w weightedWord) (share float64, isOwn bool) {
	switch {
	case p.own.has(w.askedWord):
		if w.day < 0 && w.month < 0 && !p.own.hasForm(w.askedWord) {
			return 1 - conceptLoss, true
		}
		return 1, true
	case p.near.has(w.askedWord):
		return nearShare, true
	case p.paragraph.has(w.askedWord):
		return paragraphShare, false
	case p.far.has(w.askedWord):
		return farShare, false
	case w.isLight:
		return 0, false
	case p.namesOtherDays(w):
		return paragraphShare, false
	default:
		return 0, false
	}
}

// namesOtherDays reports whether a word is a day, and the piece says on which other days something is.
func (p *piece) namesOtherDays(w weightedWord) bool {
	isElsewhere := p.own.has(w.askedWord) || p.near.has(w.askedWord) || p.paragraph.has(w.askedWord) || p.far.has(w.askedWord)
	return w.day >= 0 && !isElsewhere && manyDays(p.own.days)
}

// rate scores a piece. It reports false if the piece lacks all words of the question.
func (p *piece) rate(q ratedQuestion) bool {
	covered := p.cover(q.words)
	if covered.inOwn == 0 {
		return false
	}
	p.coverage = covered.all
	p.about = p.aboutShare(q.about)
	p.answerMatch = p.matchType(q.typed)
	p.score = covered.all + 0.1*p.label(q.words) + 0.3*p.about + 0.05*float64(p.answerMatch) + 0.06*float64(p.details(q)) -
		0.02*float64(p.last-p.first)
	p.isSure = covered.missing == 0 && covered.own >= minOwnShare && p.answerMatch != noMatch && p.isAbout(q) &&
		toleratesUnknown(q) && (!q.isFollowUp || len(q.about) == 0 || p.about >= minAbout)
	return true
}

// matchType returns how well a piece has a value of the type that is asked for.
func (p *piece) matchType(typed []string) answerMatch {
	match := matchAnswerType(typed, p.leadText()+" "+p.text(), p.hit.Language)
	if match != noMatch {
		return match
	}
	hasPrice := askedValueType(typed) == asksPrice && len(p.own.numbers) > 0
	if hasPrice && p.own.concepts["price"] {
		return fullMatch
	}
	if hasPrice && p.units[p.first].isRow || p.own.denies {
		return possibleMatch
	}
	return noMatch
}

// details returns in how many details a piece agrees with the question, less those in which it does not: whether something
// is with or without another thing, and the number of what is counted.
func (p *piece) details(q ratedQuestion) (n int) {
	counts := askedValueType(q.typed) == asksQuantity
	for _, w := range q.words {
		if w.isLight || isNumber(w.text) || w.day >= 0 || w.month >= 0 {
			continue
		}
		switch isWithout := p.own.hasAmong(w.askedWord, p.own.without); {
		case w.isWithout && isWithout:
			n++
		case w.isWithout != isWithout && p.own.has(w.askedWord):
			n--
		}
		if counts && p.own.hasAmong(w.askedWord, p.own.counted) {
			n++
		}
	}
	return n
}

// isAbout reports whether a piece has the words that tell most of what the question is about.
func (p *piece) isAbout(q ratedQuestion) bool {
	strong := q.strong()
	if q.isFollowUp && p.about >= sureAbout {
		return p.hasEach(q.words, q.key())
	}
	return strong > 0 && p.hasEach(q.words, q.key()) && !p.isVague(q.words, strong)
}

// toleratesUnknown reports whether a question may have words that no document has: one beside two others that say what
// it is about, unless it asks for a quantity, or two beside three.
func toleratesUnknown(q ratedQuestion) bool {
	switch q.unknown {
	case 0:
		return true
	case 1:
		return q.strong() >= 2 && askedValueType(q.typed) != asksQuantity
	case 2:
		return q.strong() >= 3
	default:
		return false
	}
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
		if strong == 1 && !w.isLight && !w.isImplied && w.day < 0 && !p.own.hasForm(w.askedWord) && !p.near.hasForm(w.askedWord) {
			return true
		}
	}
	return false
}

// manyDays reports whether a text names several days, which then are all on which something is.
func manyDays(days int) bool { return bits.OnesCount(uint(days)) > 1 }
