package proof

import (
	"math"
	"slices"
)

// numberCheck finds numbers of the sentence, and of the customer, that are not as the sources have them.
type numberCheck struct{ *prover }

// findNumber finds a number that the sources lack, or have with another currency, unit or limit. One that they have without
// any of these may be meant.
func (p numberCheck) findNumber() (found Finding) {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !t.isNumber || p.hasSameNumber(c, i) || p.repeatsAsked(c, i) {
				continue
			}
			reason := "“" + p.asWritten(t) + "” stands otherwise in what you cite"
			if p.isOtherwise(c, i) && !p.isTurnedBehind(c, i) || p.countsOtherRow(c, i) {
				return contradicts(reason)
			}
			found = unknown(reason)
		}
	}
	return found
}

// isOtherwise reports whether a number contradicts the sources: they and the question have it nowhere, or only with another currency,
// unit of time or limit.
func (p numberCheck) isOtherwise(c clause, at int) bool {
	return !slices.ContainsFunc(slices.Concat(p.source, p.headings, p.asked), func(s clause) bool {
		for i := range s.tokens {
			if isAmount(c, at, s, i) && !p.differ(c, at, s, i) || isOneUnit(c, at, s, i) {
				return true
			}
		}
		return false
	})
}

// isTurnedBehind reports whether a number has the opposite limit of one whose source says what holds where that is not kept: "we are
// open until 10; later guests ring the bell" says what guests after 10 do.
func (p numberCheck) isTurnedBehind(c clause, at int) bool {
	said := c.limitAt(at)
	return said != noLimit && slices.ContainsFunc(p.source, func(s clause) bool {
		i := slices.IndexFunc(s.tokens, c.tokens[at].sameValue)
		if i < 0 || s.limitAt(i) == noLimit || s.limitAt(i) == said {
			return false
		}
		isBehind := func(other clause) bool {
			return other.unit == s.unit && other.statement > s.statement && p.isUsed(other)
		}
		return slices.ContainsFunc(p.source, isBehind)
	})
}

// isAmount reports whether two numbers have the same value, or are the same amount in two units.
func isAmount(c clause, at int, s clause, i int) bool {
	t, other := c.tokens[at], s.tokens[i]
	return t.isNumber && other.isNumber && (t.isHalf() && other.isHalf() || t.sameValue(other) || sameAmount(c, at, s, i))
}

// isOneUnit reports whether a unit without a number, "a week", is the amount of a number, "seven days".
func isOneUnit(c clause, at int, s clause, i int) bool {
	said, source := sizes[c.periodAt(at)], sizes[s.tokens[i].period]
	isAlone := i == 0 || !s.tokens[i-1].isNumber
	return isAlone && source.of != "" && said.of == source.of && math.Abs(c.tokens[at].value*said.many-source.many) < 0.001
}

// differ reports whether two equal numbers have different currencies, units of time or limits. One that has none differs from none.
func (p *prover) differ(c clause, at int, s clause, i int) bool {
	said, source := c.tokens[at].currency, s.currencyAt(i)
	if source == "" && len(p.currencies) > 0 && said != "" && said != "percent" && !p.currencies[said] {
		return true
	}
	unit, other := c.periodAt(at), s.periodAt(i)
	isLength := source != "" && said == "" && sizes[unit].of != ""
	if said != "" && source != "" && said != source || isLength {
		return true
	}
	if unit != "" && other != "" && unit != other && !sameAmount(c, at, s, i) {
		return true
	}
	one, two := c.limitAt(at), s.limitAt(i)
	return one != noLimit && two != noLimit && !sameLimit(c, at, s, i)
}

// currencyAt returns the currency of a number; of a cell, also that in the name of its column.
func (c clause) currencyAt(at int) string {
	if own := c.tokens[at].currency; own != "" || !c.isRow {
		return own
	}
	for _, t := range c.tokens[:c.name] {
		if t.currency != "" && t.currency != "percent" {
			return t.currency
		}
	}
	return ""
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
		if !sameAmount(c, at, s, i) || !p.hasCurrency(s, i, t.currency) {
			continue
		}
		if sameLimit(c, at, s, i) || isTurned(c, at, s, i) {
			return i
		}
	}
	return -1
}

// hasCurrency reports whether a number of the sources has a currency: beside it, or as the only one that they name for all
// numbers, such as in the name of its column or in "all prices in CHF".
func (p *prover) hasCurrency(s clause, at int, currency string) bool {
	t := s.tokens[at]
	if t.currency != "" || currency == "" {
		return t.currency == currency
	}
	isAlone := s.periodAt(at) == "" && (s.isRow || at+1 == len(s.tokens) || !t.isTime)
	return isAlone && len(p.currencies) == 1 && p.currencies[currency]
}

// readCurrencies finds the currencies that the sources name without a number.
func (p *prover) readCurrencies() {
	for _, s := range slices.Concat(p.source, p.headings) {
		for _, t := range s.tokens {
			if !t.isNumber && t.currency != "" && t.currency != "percent" {
				p.currencies[t.currency] = true
			}
		}
	}
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
// "not before June" is "from June". "Only from 14 without an adult" is not turned.
func isTurned(c clause, at int, s clause, i int) bool {
	said, source := c.limitAt(at), s.limitAt(i)
	return said != noLimit && source != noLimit && said != source && c.denies() != s.denies() && !s.limits()
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
	if c.limitAt(at) != noLimit || p.countsOtherRow(c, at) {
		return false
	}
	for _, asked := range p.asked {
		for i, other := range asked.tokens {
			if other.sameValue(t) && p.isAskedCurrency(t.currency, asked, i) && isSamePeriod(c, at, asked, i) {
				return t.currency == "" || p.namesLimit()
			}
		}
	}
	return false
}

// isAskedCurrency reports whether a number of the customer's may be told again with a currency: none, his own, or that of a limit in
// the sources if he gave none ("an order for 40").
func (p *prover) isAskedCurrency(currency string, asked clause, at int) bool {
	own := asked.tokens[at].currency
	if currency == "" || own != "" {
		return currency == "" || own == currency
	}
	isBare := at+1 == len(asked.tokens) || !asked.words.isContent(asked.tokens[at+1])
	return isBare && slices.ContainsFunc(p.source, func(s clause) bool {
		for i, t := range s.tokens {
			if t.currency == currency && s.limitAt(i) != noLimit {
				return true
			}
		}
		return false
	})
}

// countsOtherRow reports whether a row that is cited has another number in its label with the word behind a number: "24 inch" is not
// the row "Bike 20 inch".
func (p *prover) countsOtherRow(c clause, at int) bool {
	if at+1 >= len(c.tokens) {
		return false
	}
	t, unit := c.tokens[at], c.tokens[at+1]
	other := false
	for _, s := range p.source {
		for i := 0; s.isLabel() && i+1 < len(s.tokens); i++ {
			if !s.tokens[i].isNumber || s.limitAt(i) != noLimit || s.tokens[i+1].isNumber || !sameWord(s.tokens[i+1].word, unit.word) {
				continue
			}
			if s.tokens[i].sameValue(t) {
				return false
			}
			other = true
		}
	}
	return other
}

// isSamePeriod reports whether two numbers have the same unit of time, or one of them has none.
func isSamePeriod(a clause, i int, b clause, j int) bool {
	one, other := a.periodAt(i), b.periodAt(j)
	return one == "" || other == "" || one == other
}

// findThreshold finds a number of the customer's that does not keep the limits of the statement that is said of it.
func (p numberCheck) findThreshold() (found Finding) {
	for _, c := range p.said {
		for i, t := range c.tokens {
			isOwn := hasNumber(p.asked, t) || !hasNumber(p.source, t)
			if !t.isNumber || !isOwn || p.hasSameNumber(c, i) || c.denies() {
				continue
			}
			nearest := p.nearestClauses(c)
			failed := slices.IndexFunc(nearest, func(s clause) bool { return failsLimit(c, i, s) })
			if failed < 0 {
				continue
			}
			limited := nearest[failed]
			isLimited := func(s clause) bool { return s.unit == limited.unit && s.at == limited.at }
			others := slices.DeleteFunc(slices.Clone(p.source), isLimited)
			keeps := slices.ContainsFunc(nearest, func(s clause) bool { return !failsLimit(c, i, s) })
			if keeps && !(segment{c}).namesCell(limited, others) {
				continue
			}
			reason := "“" + p.asWritten(t) + "” does not keep the limit of what you cite"
			if !p.hasOtherwise(limited) {
				return contradicts(reason)
			}
			found = unknown(reason)
		}
	}
	return found
}

// findUnkept finds a limit of what the sentence says that a number of the customer's does not keep, where the sentence neither says the
// limit nor denies.
func (p numberCheck) findUnkept() Finding {
	if slices.ContainsFunc(p.said, clause.denies) {
		return Finding{}
	}
	for _, s := range p.source {
		isSaid := slices.ContainsFunc(s.tokens, func(t token) bool { return t.isNumber && hasNumber(p.said, t) })
		if isSaid || !p.isUsed(s) && !p.usesRow(s) {
			continue
		}
		for _, asked := range p.asked {
			for i, t := range asked.tokens {
				if t.isNumber && !t.isTime && failsLimit(asked, i, s) {
					return unknown("the customer's “" + p.asWritten(t) + "” does not keep a limit of what you cite; say it, too")
				}
			}
		}
	}
	return Finding{}
}

// hasOtherwise reports whether the sources say, and the sentence says too, what holds where a limit is not kept: another clause
// behind it.
func (p numberCheck) hasOtherwise(limited clause) bool {
	return slices.ContainsFunc(p.source, func(s clause) bool {
		return s.unit == limited.unit && s.at > limited.at && p.isUsed(s)
	})
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
