package proof

import (
	"slices"
)

// findDenial returns a clause of the sentence that says yes where its source says no, or the other way round.
func (p *prover) findDenial() string {
	for _, c := range p.said {
		denies, limits := p.words.denies(c), p.words.limits(c)
		if !slices.ContainsFunc(c.tokens, p.words.isContent) {
			continue // "no" and "sorry": what follows says what is denied
		}
		same := 0
		opposite := 0
		for _, t := range c.tokens {
			if !p.words.isContent(t) && !t.isNumber {
				continue
			}
			yes, no := p.polarity(t)
			switch {
			case yes && no:
			case denies && no, !denies && yes:
				same++
			case denies && yes, !denies && no:
				opposite++
			}
		}
		switch {
		case opposite == 0 && (same > 0 || !denies):
		case limits && p.sourceLimits():
		case denies && p.failsAskedLimit():
		case denies && same > 0 && same >= opposite:
		case !denies && same > opposite+1:
		case denies:
			return "what you cite does not deny this"
		default:
			return "what you cite denies or limits this"
		}
	}
	return ""
}

// polarity reports whether a word stands in a clause of the sources that does not deny, and in one that does.
func (p *prover) polarity(t token) (yes, no bool) {
	for _, c := range p.source {
		if !c.has(t) {
			continue
		}
		if p.words.denies(c) {
			no = true
		} else {
			yes = true
		}
	}
	return yes, no
}

func (p *prover) sourceLimits() bool { return slices.ContainsFunc(p.source, p.words.limits) }

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
				if l := p.words.limitAt(s, i); l != noLimit {
					return l
				}
			}
		}
	}
	return noLimit
}

// findLimit returns a limit or condition of the cited clauses that the sentence leaves out, or one that it adds.
func (p *prover) findLimit() string {
	said := false
	for _, c := range p.said {
		said = said || p.words.limits(c) || p.words.hasCondition(c)
	}
	for i, s := range p.source {
		if p.words.limits(s) && !said && p.isUsed(s) && !p.namesLimit() {
			return "what you cite is limited; say the limit, too"
		}
		if i > 0 && p.words.limits(s) && !said && p.isUsed(p.source[i-1]) && s.unit == p.source[i-1].unit && !s.afterStop {
			return "what you cite is limited; say the limit, too"
		}
	}
	for _, c := range p.said {
		if s, found := p.nearestClause(c); found && p.hasLoneLimit(s) && !said && !p.saysLimit() {
			return "what you cite is limited by a number; say it, too"
		}
	}
	return ""
}

// hasLoneLimit reports whether a clause has a number that limits and is no part of a range.
func (p *prover) hasLoneLimit(s clause) bool {
	lone := false
	for i := range s.tokens {
		if p.words.limitAt(s, i) == noLimit {
			continue
		}
		if next := nextNumber(s, i, 1); next >= 0 && p.words.limitAt(s, next) == upper {
			continue
		}
		if before := nextNumber(s, i, -1); before >= 0 && p.words.limitAt(s, before) == lower {
			continue
		}
		lone = true
	}
	return lone
}

// saysLimit reports whether the sentence has a number that limits, or one of the customer's own to which the limit was applied.
func (p *prover) saysLimit() bool {
	for _, c := range p.said {
		for i := range c.tokens {
			if p.words.limitAt(c, i) != noLimit || c.tokens[i].isNumber && p.repeatsAsked(c, i) {
				return true
			}
		}
	}
	return false
}
