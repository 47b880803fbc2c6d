package proof

import (
	"math"
	"slices"
)

// findNumber finds a number that the sources lack, or have with another currency, unit or limit.
func (p *prover) findNumber() Finding {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if t.isNumber && !p.hasSameNumber(c, i) && !p.repeatsAsked(c, i) {
				return contradicts("“" + t.written() + "” stands otherwise in what you cite")
			}
		}
	}
	return Finding{}
}

// hasSameNumber reports whether the sources have a number with the same currency, unit of time and limit.
func (p *prover) hasSameNumber(c clause, at int) bool {
	return slices.ContainsFunc(slices.Concat(p.source, p.headings), func(s clause) bool { return p.sameNumberIn(c, at, s) >= 0 })
}

// sameNumberIn returns the place of the same number in a clause of the sources; -1 if it has none.
func (p *prover) sameNumberIn(c clause, at int, s clause) int {
	t := c.tokens[at]
	for i, other := range s.tokens {
		if t.isHalf() && other.isHalf() {
			return i
		}
		if !sameAmount(c, at, s, i) || !s.hasCurrency(i, t.currency) {
			continue
		}
		if sameLimit(c, at, s, i) || isTurned(c, at, s, i) {
			return i
		}
	}
	return -1
}

// hasCurrency reports whether a number has a currency: beside it, or in the name of its column.
func (c clause) hasCurrency(at int, currency string) bool {
	t := c.tokens[at]
	return t.currency == currency || c.isRow && t.currency == "" && slices.ContainsFunc(c.tokens[:at], func(name token) bool {
		return !name.isNumber && name.currency == currency
	})
}

// sameAmount reports whether two numbers are equal in the same unit, or the same amount in two units.
func sameAmount(c clause, at int, s clause, i int) bool {
	t, other := c.tokens[at], s.tokens[i]
	if !t.isNumber || !other.isNumber {
		return false
	}
	said, source := c.periodAt(at), s.periodAt(i)
	if t.sameValue(other) {
		return said == "" || s.hasPeriod(i, said)
	}
	a, b := sizes[said], sizes[source]
	return a.of != "" && a.of == b.of && math.Abs(t.value*a.many-other.value*b.many) < 0.001
}

// size is how much of a measure's smallest unit a unit is.
type size struct {
	of   string
	many float64
}

// sizes are the units with a fixed size. Those of time are named as in the lexicon, the others by their symbols.
var sizes = map[string]size{ //nolint:gochecknoglobals // a constant, were there constant maps
	"minute": {"time", 1}, "hour": {"time", 60}, "day": {"time", 24 * 60}, "week": {"time", 7 * 24 * 60},
	"month": {"months", 1}, "year": {"months", 12},
	"mm": {"length", 1}, "cm": {"length", 10}, "m": {"length", 1000}, "km": {"length", 1_000_000},
	"g": {"mass", 1}, "kg": {"mass", 1000},
	"ml": {"volume", 1}, "cl": {"volume", 10}, "l": {"volume", 1000},
}

// isTurned reports whether a number has the opposite limit in its source, and only one of the two clauses denies:
// "not before June" is "from June".
func isTurned(c clause, at int, s clause, i int) bool {
	said, source := c.limitAt(at), s.limitAt(i)
	return said != noLimit && source != noLimit && said != source && c.denies() != s.denies()
}

// hasTurned reports whether a number of a clause has the opposite limit in its source; see isTurned.
func (p *prover) hasTurned(c clause) bool {
	for at := range c.tokens {
		for _, s := range p.source {
			if i := p.sameNumberIn(c, at, s); i >= 0 && isTurned(c, at, s, i) {
				return true
			}
		}
	}
	return false
}

// repeatsAsked reports whether a number is the customer's own, told again.
func (p *prover) repeatsAsked(c clause, at int) bool {
	t := c.tokens[at]
	if c.limitAt(at) != noLimit {
		return false
	}
	for _, asked := range p.asked {
		for i, other := range asked.tokens {
			if other.sameValue(t) && (t.currency == "" || t.currency == other.currency) && isSamePeriod(c, at, asked, i) {
				return t.currency == "" || p.namesLimit()
			}
		}
	}
	return false
}

// isSamePeriod reports whether two numbers have the same unit of time, or one of them has none.
func isSamePeriod(a clause, i int, b clause, j int) bool {
	one, other := a.periodAt(i), b.periodAt(j)
	return one == "" || other == "" || one == other
}

// findThreshold finds a number of the customer's that does not keep the limits of the statement that is said of it.
func (p *prover) findThreshold() Finding {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !t.isNumber || p.hasSameNumber(c, i) || c.denies() {
				continue
			}
			nearest := p.nearestClauses(c)
			fails := func(s clause) bool { return failsLimit(c, i, s) }
			if len(nearest) > 0 && !slices.ContainsFunc(nearest, func(s clause) bool { return !fails(s) }) {
				return contradicts("“" + t.written() + "” does not keep the limit of what you cite")
			}
		}
	}
	return Finding{}
}

// failsLimit reports whether a number does not keep a limit of a clause.
func failsLimit(c clause, at int, s clause) bool {
	t := c.tokens[at]
	for i, other := range s.tokens {
		if !other.isNumber || other.currency != t.currency || !isSamePeriod(s, i, c, at) {
			continue
		}
		l := s.limitAt(i)
		if l == lower && t.value < other.value || l == upper && t.value > other.value {
			return true
		}
	}
	return false
}

// namesLimit reports whether the sentence has a number of its sources, or they have a limit.
func (p *prover) namesLimit() bool {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if t.isNumber && p.hasSameNumber(c, i) {
				return true
			}
		}
	}
	for _, c := range p.source {
		for i := range c.tokens {
			if c.limitAt(i) != noLimit {
				return true
			}
		}
	}
	return false
}
