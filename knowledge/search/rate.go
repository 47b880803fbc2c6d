package search

import (
	"math/bits"
	"slices"
)

const (
	nearShare, paragraphShare, farShare = 0.95, 0.5, 0.5
	// margin is by how much the answer must be better than all others.
	margin = 0.04
	// singleMargin is the margin of a question of one word.
	singleMargin = 0.08
	// minOwnShare is how much of the words an answer has itself, or above it; the rest may stand beside it in its paragraph.
	minOwnShare = 0.5
	// aboutShare is how much the words of the question before count, besideShare those that only stand elsewhere in the passage.
	aboutShare, besideShare = 0.3, 0.2
	// conceptLoss is how much less another word for the same thing counts than the word itself.
	conceptLoss = 0.15
	// minAbout is how much of the question before an answer to a follow-up has.
	minAbout = 0.34
	// sureAbout is the share of the question before from which a follow-up need not say what it is about.
	sureAbout = 0.5
	// clearAbout is the share of it for a follow-up that says nothing of what it is about.
	clearAbout = 0.6
	// rarePieces is the number of pieces up to which a word that they have is a rare one.
	rarePieces = 3
)

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

// things returns the number of words that say what the question is about, without days and months.
func (q ratedQuestion) things() (n int) {
	for _, w := range q.words {
		if !w.isLight && !isNumber(w.text) && w.day < 0 && w.month < 0 {
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
	beside := p.besideShare(q.words) + aboutShare*p.besideShare(q.about)
	fit := 0.1*p.label(q.words) + 0.05*float64(p.answerMatch) + 0.06*float64(p.details(q)) - 0.02*float64(p.last-p.first)
	p.score = covered.all + besideShare*beside + aboutShare*p.about + fit
	p.isSure = covered.missing == 0 && covered.own >= minOwnShare && p.answerMatch != noMatch && p.isAbout(q) &&
		p.hasDetails(q) && p.toleratesUnknown(q)
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
	switch {
	case !p.hasEach(q.words, q.key()):
		return false
	case !q.isFollowUp || len(q.about) == 0:
		return strong > 0 && !p.isVague(q.words, strong)
	case strong == 0:
		return p.about >= clearAbout && p.answerMatch == fullMatch
	default:
		return p.about >= sureAbout || p.about >= minAbout && !p.isVague(q.words, strong)
	}
}

// hasDetails reports whether a piece that shares a single word with the question has also what the question asks about it,
// such as how to pay: a price may stand in it as a number alone.
func (p *piece) hasDetails(q ratedQuestion) bool {
	shared := 0
	for _, w := range q.words {
		if _, isOwn := p.shareOf(w); isOwn && !w.isLight && !isNumber(w.text) {
			shared++
		}
	}
	return shared != 1 || !slices.ContainsFunc(q.words, func(w weightedWord) bool {
		share, _ := p.shareOf(w)
		return w.isLight && share == 0 && !slices.ContainsFunc(w.concepts, isAskedByValue)
	})
}

// toleratesUnknown reports whether a piece may answer a question with a word that no document has: if two others say what
// the question is about, or one that hardly any other piece has and the price that is asked for.
func (p *piece) toleratesUnknown(q ratedQuestion) bool {
	if q.unknown != 1 {
		return q.unknown == 0
	}
	asks := askedValueType(q.typed)
	if q.things() >= 2 && asks != asksQuantity {
		return true
	}
	return asks == asksPrice && p.answerMatch == fullMatch && slices.ContainsFunc(q.words, func(w weightedWord) bool {
		return !w.isLight && !isNumber(w.text) && w.pieces <= rarePieces && (p.own.hasForm(w.askedWord) || p.near.hasForm(w.askedWord))
	})
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

// besideShare returns the share of words that a piece has only elsewhere in its passage.
func (p *piece) besideShare(words []weightedWord) float64 {
	found, total := 0.0, 0.0
	for _, w := range words {
		total += w.weight
		if share, _ := p.shareOf(w); share == 0 && p.passage.has(w.askedWord) {
			found += w.weight
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
