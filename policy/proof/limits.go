package proof

import (
	"slices"
)

// denialCheck finds what the sentence affirms or denies otherwise than its sources, and limits that it leaves out.
type denialCheck struct{ *prover }

// findDenial finds a part that says yes where its source says no, or the other way round. If it does so in words of its own, it
// may mean the same.
func (p denialCheck) findDenial() (found Finding) {
	for i, c := range p.said {
		for _, s := range c.segments() {
			if !slices.ContainsFunc(s.tokens, s.words.isContent) {
				continue // "no" and "sorry": what follows says what is denied
			}
			if i > 0 && s.hasOnlyFacts() && p.said[i-1].denies() && p.said[i-1].statement == s.statement {
				continue // "closed at noon, from 12 to 2": it goes on with the denial
			}
			w := p.weigh(s.clause)
			if p.isDenialRight(s.clause, w) || !s.denies() && p.isDeniedBehind(i, s.clause) {
				continue
			}
			reason := "what you cite denies or limits this"
			if s.denies() {
				reason = "what you cite does not deny this"
			}
			if w.isInSourceWords(s.denies()) && p.isOpposite(s) {
				return contradicts(reason)
			}
			found = unknown(reason)
		}
	}
	return found
}

// hasOnlyFacts reports whether a clause has no word of its own beside facts.
func (c clause) hasOnlyFacts() bool {
	for i, t := range c.tokens {
		if c.words.isContent(t) && !c.isFact(i) {
			return false
		}
	}
	return true
}

// isDeniedBehind reports whether the next clause of the sentence goes on with a clause, and denies in the same part of the sources
// where that stands: "in the holidays, there are no lessons".
func (p denialCheck) isDeniedBehind(i int, c clause) bool {
	if i+1 >= len(p.said) || p.said[i+1].statement != p.said[i].statement || !p.said[i+1].denies() {
		return false
	}
	return slices.ContainsFunc(p.parts, func(s clause) bool {
		hasAll := !slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.isContent(t) && hasWord(p.source, t) && !s.has(t) })
		return s.denies() && hasAll && p.shares(p.said[i+1], s)
	})
}

// weight counts the content words of a clause.
type weight struct {
	same     int // they stand where the source denies, as the clause does, or where neither does
	opposite int
	both     int // they stand where the source denies, and where it does not
	foreign  int // they are not in the sources
}

// isInSourceWords reports whether a clause says the opposite in the words of its sources. A denied clause with a single
// such word denies something else of it.
func (w weight) isInSourceWords(denies bool) bool {
	return w.foreign == 0 && (w.opposite > 1 || w.opposite == 1 && w.same > 0 && !denies)
}

// isOpposite reports whether a part of the sources has all words of a segment, and few others, and denies, where the segment does not, or
// the other way round. Neither makes an exception, a limit or a condition.
func (p denialCheck) isOpposite(said segment) bool {
	const least = 2
	words := p.known(said.tokens)
	if isHedged(said.clause) || len(words) < least {
		return false
	}
	return slices.ContainsFunc(p.parts, func(s clause) bool {
		isOther := s.denies() != said.denies() && !isHedged(s) && !s.deniesBy(words)
		return isOther && segment{s}.hasAll(words) && len(p.known(s.tokens)) <= least*len(words)
	})
}

// known returns the content words and numbers of tokens that the sources have.
func (p *prover) known(tokens []token) (words []token) {
	for _, t := range tokens {
		if hasWord(p.source, t) && p.source[0].words.isContent(t) {
			words = append(words, t)
		}
	}
	return words
}

// isHedged reports whether a clause has a word such as "only", "except" or "if".
func isHedged(c clause) bool { return c.limits() || c.hasCondition() || c.isException() }

// deniesBy reports whether one of some words is a form of the word by which a clause denies, such as "close" of "closed".
func (c clause) deniesBy(words []token) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool {
		return c.words.negative[t.word] && slices.ContainsFunc(words, t.sameMeaning)
	})
}

func (p denialCheck) weigh(c clause) (w weight) {
	for _, t := range c.tokens {
		if !c.words.isContent(t) {
			continue
		}
		yes, no := p.polarity(c, t)
		switch {
		case yes && no:
			w.both++
		case yes && !c.denies(), no && c.denies():
			w.same++
		case yes || no:
			w.opposite++
		case !t.isNumber && !hasWord(p.headings, t):
			w.foreign++
		}
	}
	return w
}

// isDenialRight reports whether a clause denies as its sources do.
func (p denialCheck) isDenialRight(c clause, w weight) bool {
	switch {
	case w.opposite == 0 && (w.same > 0 || w.both == 0 && !c.denies() || w.both > 0 && p.source[0].isRow):
		return true
	case c.limits() && slices.ContainsFunc(p.source, clause.limits), p.hasTurned(c), p.isExcepted(c):
		return true
	case c.denies():
		return p.failsAskedLimit() || w.same > 0 && w.same >= w.opposite || p.isFree(c)
	default:
		return w.same > w.opposite+1
	}
}

// polarity reports whether a word of a clause stands in a clause of the sources that does not deny, and in one that does. To
// a denial, a word also stands in a clause that goes on with it ("it is not ..."), if that has another word of the denial.
func (p denialCheck) polarity(c clause, t token) (yes, no bool) {
	for i, s := range p.parts {
		if !s.has(t) {
			continue
		}
		if s.isLabel() { // the other cells say what holds of it
			isOfRow := func(c clause) bool { return c.unit == s.unit && c.denies() }
			return true, no || slices.ContainsFunc(p.source, isOfRow)
		}
		for j, other := range p.parts {
			goesOn := c.denies() && other.unit == s.unit && other.statement > s.statement && p.isOneStatement(s, other) && p.shares(c, other)
			if i == j || goesOn {
				yes = yes || !other.denies()
				no = no || other.denies()
			}
		}
	}
	return yes, no
}

// isExcepted reports whether a clause says of an exception ("except pianos") the opposite of what its sources say of the
// rest.
func (p *prover) isExcepted(c clause) bool {
	for i, s := range p.source {
		if !s.isException() || i == 0 || p.source[i-1].unit != s.unit {
			continue
		}
		names := slices.ContainsFunc(c.tokens, func(t token) bool {
			return c.words.isContent(t) && s.has(t) && !p.source[i-1].has(t)
		})
		if names && c.denies() != p.source[i-1].denies() {
			return true
		}
	}
	return false
}

// isFree reports whether a clause denies a price where its sources say that something is free.
func (p *prover) isFree(c clause) bool {
	isPrice := func(t token) bool { return t.names("price") || t.names("pay") }
	isFree := func(t token) bool { return t.names("free") }
	return slices.ContainsFunc(c.tokens, isPrice) && slices.ContainsFunc(p.nearestClauses(c), func(s clause) bool {
		return !s.denies() && slices.ContainsFunc(s.tokens, isFree)
	})
}

// failsAskedLimit reports whether the sentence names a limit of its source that a number of the customer's does not keep.
func (p *prover) failsAskedLimit() bool {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !t.isNumber || !p.hasSameNumber(c, i) {
				continue
			}
			limit := p.limitOf(t)
			for _, a := range p.asked {
				for _, own := range a.tokens {
					if own.isNumber && ((limit == lower && own.value < t.value) || (limit == upper && own.value > t.value)) {
						return true
					}
				}
			}
		}
	}
	return false
}

// limitOf returns the limit that a number is in the sources.
func (p *prover) limitOf(t token) limit {
	for _, s := range p.source {
		for i, other := range s.tokens {
			if other.sameValue(t) {
				if l := s.limitAt(i); l != noLimit {
					return l
				}
			}
		}
	}
	return noLimit
}

// findLimit finds a limit or condition of the cited clauses that the sentence leaves out. It contradicts them if it says the rest of
// such a clause and nothing else.
func (p denialCheck) findLimit() (found Finding) {
	if slices.ContainsFunc(p.said, func(c clause) bool { return c.limits() || p.isExcepted(c) }) {
		return Finding{}
	}
	hasCondition := slices.ContainsFunc(p.said, clause.hasCondition)
	for i, s := range p.source {
		if !s.limits() || hasCondition {
			continue
		}
		isOfBefore := i > 0 && s.unit == p.source[i-1].unit && !s.afterStop && p.isUsed(p.source[i-1])
		if !(p.isUsed(s) && !p.namesLimit()) && !isOfBefore && !p.usesRow(s) {
			continue
		}
		const reason = "what you cite is limited; say the limit, too"
		if p.cutsLimit(s) {
			return contradicts(reason)
		}
		found = unknown(reason)
	}
	if found.Outcome == Follows && p.losesSeason() {
		found = unknown("what you cite holds for a part of the year; say it, too")
	}
	if found.Outcome == Follows && p.losesDenial() {
		found = unknown("what you cite denies something of this; say it, too")
	}
	for _, c := range p.said {
		near := p.nearestClauses(c)
		if len(near) == 0 || !near[0].hasLoneLimit() || p.saysLimit() {
			continue
		}
		const reason = "what you cite is limited by a number; say it, too"
		hasNumber := slices.ContainsFunc(c.tokens, func(t token) bool { return t.isNumber })
		if !c.denies() && !near[0].denies() && !hasNumber && !isHedged(c) && p.isPartOf(near[0]) {
			return contradicts(reason)
		}
		found = unknown(reason)
	}
	return found
}

// losesSeason reports whether the sentence says nothing of the months in which what it cites holds, and the customer did not ask about
// one.
func (p denialCheck) losesSeason() bool {
	hasMonth := func(c clause) bool { return slices.ContainsFunc(c.tokens, func(t token) bool { return t.month >= 0 }) }
	if slices.ContainsFunc(p.said, hasMonth) || slices.ContainsFunc(p.asked, hasMonth) {
		return false
	}
	return slices.ContainsFunc(p.source, func(s clause) bool { return hasMonth(s) && p.isUsed(s) })
}

// losesDenial reports whether the sentence says a clause of a unit and leaves out the next one, which denies something of it behind a
// "but": "12 months, but there is none on tyres".
func (p denialCheck) losesDenial() bool {
	if slices.ContainsFunc(p.said, func(c clause) bool { return c.denies() || isHedged(c) }) {
		return false
	}
	for i, s := range p.source {
		isContrast := i > 0 && s.unit == p.source[i-1].unit && s.words.contrast[s.tokens[0].word]
		if isContrast && s.denies() && p.isUsed(p.source[i-1]) && !p.isUsed(s) {
			return true
		}
	}
	return false
}

// findAddedLimit finds an "only" before words of the sentence's own, where the sources limit nothing. Where they deny something, "only"
// may say so of what it is said of.
func (p denialCheck) findAddedLimit() Finding {
	isAmount := func(t token) bool { return t.isNumber && t.currency == "" } // "only 20", "only until 6"
	isLimited := func(c clause) bool { return isHedged(c) || slices.ContainsFunc(c.tokens, isAmount) }
	if slices.ContainsFunc(p.source, isLimited) {
		return Finding{}
	}
	denies := slices.ContainsFunc(p.source, clause.denies)
	isOfSource := false
	for _, c := range p.said {
		isShared := slices.ContainsFunc(p.source, func(s clause) bool { return p.shares(c, s) })
		isOfSource = isOfSource || isShared
		at := slices.IndexFunc(c.tokens, func(t token) bool { return c.words.only[t.word] })
		if at < 0 || !isOfSource || isShared && denies {
			continue
		}
		for i := at + 1; i < len(c.tokens); i++ {
			t := c.tokens[i]
			if c.words.isContent(t) && !t.isNumber && !p.isKnown(c, i) && !hasWord(p.asked, t) {
				return contradicts("“" + p.asWritten(c.tokens[at]) + "” is not in what you cite")
			}
		}
	}
	return Finding{}
}

// cutsLimit reports whether the sentence says what stands before the limit of a clause, and nothing of what stands behind it.
func (p denialCheck) cutsLimit(s clause) bool {
	at := slices.IndexFunc(s.tokens, func(t token) bool { return s.words.only[t.word] })
	behind := segment{s}.content(s.tokens[at:])
	isSaid := func(t token) bool { return hasWord(p.said, t) || hasWord(p.asked, t) }
	return len(behind) > 0 && !slices.ContainsFunc(behind, isSaid) && p.isPartOf(s)
}

// isPartOf reports whether all content words of the sentence stand in a clause of the sources.
func (p denialCheck) isPartOf(s clause) bool {
	return !slices.ContainsFunc(p.said, func(c clause) bool {
		return slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.isContent(t) && !s.has(t) })
	})
}

// saysLimit reports whether the sentence has a number that limits, or one of the customer's own to which the limit was applied.
func (p denialCheck) saysLimit() bool {
	for _, c := range p.said {
		for i := range c.tokens {
			if c.limitAt(i) != noLimit || c.tokens[i].isNumber && p.repeatsAsked(c, i) && !p.hasSameNumber(c, i) {
				return true
			}
		}
	}
	return false
}
