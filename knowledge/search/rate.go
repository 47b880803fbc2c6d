package search

import (
	"math/bits"
	"slices"
)

const (
	nearShare, paragraphShare, farShare = 0.95, 0.5, 0.5
	// otherDaysShare is how much a text counts for a day that says on which other days something is.
	otherDaysShare = 0.8
	// An answer is better than all others by minLead and its doubt, which is less than maxDoubt. minLead was chosen by half of
	// the businesses that docs/search.md names, so that 2 % of the quotes are wrong, and was as good for the other half.
	minLead, maxDoubt = 0.07, 0.5
	// aboutShare is how much the words of the question before count, besideShare those that only stand elsewhere in the passage.
	aboutShare, besideShare = 0.45, 0.2
	// conceptLoss is how much less another word for the same thing counts than the word itself.
	conceptLoss = 0.15
	// minNamed is how many other words for what a question is about an answer has, unless it has the word itself.
	minNamed = 2
	// minAbout is how much of the question before an answer to a follow-up has; minRest how much of the rest of a long
	// message, if its question is about one thing only.
	minAbout, minRest = 0.2, 0.2
	// labelShare and detailShare are how much the first cell of a row and each detail count, focusShare how much it counts that
	// a sentence says nothing else.
	labelShare, detailShare, focusShare = 0.1, 0.1, 0.1
)

// ratedQuestion is a question as pieces are rated for it.
type ratedQuestion struct {
	words      []weightedWord // those that the documents have
	about      []weightedWord // those of the messages before
	known      float64        // the share of what it is about that documents have
	typed      []string       // by which the type of the answer is told
	isFollowUp bool
	asksIf     bool // yes or no answers it
}

// cover returns the share of a question's weight that the piece has, and whether it has a word itself or above it.
func (p *piece) cover(words []weightedWord) (covered float64, hasOwn bool) {
	total := 0.0
	for _, w := range words {
		total += w.weight
		share, isOwn := p.shareOf(w)
		covered += share * w.weight
		hasOwn = hasOwn || isOwn
	}
	return covered / total, hasOwn
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
		return otherDaysShare, false
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
	covered, hasOwn := p.cover(q.words)
	if !hasOwn {
		return false
	}
	p.coverage = covered
	p.about = p.aboutShare(q.about)
	p.answerMatch = p.matchType(q.typed)
	beside := p.besideShare(q.words) + aboutShare*p.besideShare(q.about)
	fit := labelShare*p.label(q.words) + 0.05*float64(p.answerMatch) + detailShare*float64(p.details(q)) - 0.02*float64(p.last-p.first)
	p.score = covered + besideShare*beside + aboutShare*p.about + focusShare*p.focus(q.words) + fit
	return true
}

// doubt returns the share of a question that the piece lacks, with what no document has.
func (p *piece) doubt(q ratedQuestion) float64 { return 1 - p.coverage*q.known }

// leadNeeded returns how much better than all others an answer is. A sentence that denies what is asked needs no more than minLead if
// documents have all that the question is about: no other sentence makes that untrue.
func (p *piece) leadNeeded(q ratedQuestion) float64 {
	if q.asksIf && q.known == 1 && p.own.denies && len(p.own.without) == 0 {
		return minLead
	}
	return minLead + p.doubt(q)
}

// hasDayInsteadOf reports whether a piece says itself what is on a day that is asked about, where another piece says only what is on other
// days, and nothing else that is asked.
func (p *piece) hasDayInsteadOf(other piece, words []weightedWord) bool {
	hasDay := false
	for _, w := range words {
		share, _ := p.shareOf(w)
		rival, _ := other.shareOf(w)
		switch {
		case w.day >= 0 && share >= nearShare && other.namesOtherDays(w):
			hasDay = true
		case share == 0 && rival > 0:
			return false
		}
	}
	return hasDay
}

// hasAll reports whether a piece has each word that the question is about, or stands beside it.
func (p *piece) hasAll(q ratedQuestion) bool {
	return q.known == 1 && !slices.ContainsFunc(q.words, func(w weightedWord) bool {
		share, _ := p.shareOf(w)
		return share == 0 && !w.isLight
	})
}

// mayAnswer reports whether a piece has a value of the type that is asked for, the days that are asked about, and what the
// question is about: a word of it, two other words for the same things, or enough of the question before.
func (p *piece) mayAnswer(q ratedQuestion) bool {
	named := 0
	if q.isFollowUp && len(q.about) > 0 {
		if p.about < minAbout {
			return false
		}
		named = minNamed
	}
	for _, w := range q.words {
		share, isOwn := p.shareOf(w)
		switch {
		case w.day >= 0 && share == 0:
			return false
		case !isOwn || w.isLight || isNumber(w.text):
		case w.isImplied || w.day >= 0 || w.month >= 0 || p.own.hasForm(w.askedWord) || p.near.hasForm(w.askedWord):
			named += minNamed
		default:
			named++
		}
	}
	if !q.isFollowUp && len(q.about) > 0 && named <= minNamed && p.about < minRest {
		return false
	}
	return named >= minNamed && p.answerMatch != noMatch
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
		if isNumber(w.text) {
			n += p.limitFit(w.askedWord)
		}
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

// manyDays reports whether a text names several days, which then are all on which something is.
func manyDays(days int) bool { return bits.OnesCount(uint(days)) > 1 }

// focus returns how much of a sentence is about the question: the number of the question's words that it has to that of its
// own, at most 1. Words that are counted, such as in "6 pm", are none of its own. Rows and sections have no focus.
func (p *piece) focus(words []weightedWord) float64 {
	own := 0
	for word := range p.own.words {
		if !p.own.side[word] && !p.own.counted[word] && !isNumber(word) {
			own++
		}
	}
	if p.units[p.first].isRow || p.isSection || own == 0 {
		return 0
	}
	asked := 0
	for _, w := range words {
		if p.own.has(w.askedWord) {
			asked++
		}
	}
	return min(1, float64(asked)/float64(own))
}
