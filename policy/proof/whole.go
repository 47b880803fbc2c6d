package proof

import (
	"slices"
)

// wholeCheck finds out whether each part of the sentence says one assertion of its sources, with all that limits it.
type wholeCheck struct{ *prover }

// assertion is a part of a unit that says one thing: a segment of a sentence with what limits it, or some cells of a row.
type assertion struct {
	parts []clause
	// before is what stands before it in its statement: "the pool opens" in "the pool opens at 9 and closes at 6".
	before []clause
}

// findPartial finds a part of the sentence that says no assertion of the sources: it leaves a limit out, or puts the words of
// several together.
func (p wholeCheck) findPartial() Finding {
	var said []clause
	for _, c := range p.said {
		for _, s := range c.segments() {
			said = append(said, s.clause)
		}
	}
	// isProven[i] says that the segments before i can be cut into runs, each of which says one assertion.
	isProven := make([]bool, len(said)+1)
	isProven[0] = true
	reason := ""
	for end := 1; end <= len(said); end++ {
		for begin := end - 1; begin >= 0 && !isProven[end]; begin-- {
			if !isProven[begin] {
				continue
			}
			why := p.whyPartial(said[begin:end], slices.Concat(said[:begin], unitsOf(said[end:])))
			isProven[end] = why == ""
			if reason == "" {
				reason = why
			}
		}
	}
	if isProven[len(said)] {
		return Finding{}
	}
	return unknown(reason)
}

// unitsOf returns some segments with nothing but their units of time: the last one of several prices may have the unit of all.
func unitsOf(segments []clause) (units []clause) {
	for _, s := range segments {
		s.tokens = slices.DeleteFunc(slices.Clone(s.tokens), func(t token) bool { return t.period == "" })
		units = append(units, s)
	}
	return units
}

// whyPartial returns why no assertion is what a run of segments says, with what the other segments say of it; empty if one is.
func (p wholeCheck) whyPartial(run, others []clause) (reason string) {
	var left token
	if !slices.ContainsFunc(run, func(c clause) bool { return len(p.sourceWords(c)) > 0 }) {
		return ""
	}
	for _, a := range p.assertions(run) {
		isBorrowed, ok := p.isWithin(run, a)
		if !ok {
			continue
		}
		known := run
		if !isBorrowed {
			known = slices.Concat(run, others, p.asked, p.headings)
		}
		missing, isLeft := p.leftOut(a, run, known, isBorrowed)
		if !isLeft {
			return ""
		}
		left = missing
	}
	if left.word == "" {
		return "you put several statements of what you cite together"
	}
	return "what you cite says “" + p.asWritten(left) + "” of this; say it, too"
}

// sourceWords returns the places of the content words of a part of the sentence that the sources have. A number may be the
// customer's own.
func (p wholeCheck) sourceWords(c clause) (places []int) {
	for i, t := range c.tokens {
		if c.words.isContent(t) && hasWord(p.source, t) && !(t.isNumber && p.repeatsAsked(c, i)) {
			places = append(places, i)
		}
	}
	return places
}

// assertions returns the assertions of the sources that a run of segments may say.
func (p wholeCheck) assertions(run []clause) (all []assertion) {
	for unit := range p.claim.Units {
		var parts []clause
		for _, s := range p.parts {
			if s.unit == unit {
				parts = append(parts, s)
			}
		}
		if len(parts) == 0 {
			continue
		}
		if parts[0].isRow {
			all = append(all, p.rowAssertion(parts, run))
			continue
		}
		all = append(all, p.sentenceAssertions(parts)...)
	}
	return all
}

// rowAssertion returns what a run of segments may say of a row: its keys, which are the cells before the first one with a number,
// and the other cells of whose value the run, or the question, has a word.
func (p wholeCheck) rowAssertion(cells, run []clause) (a assertion) {
	keys := 1
	for keys < len(cells) && !hasNumbers(cells[keys]) {
		keys++
	}
	a.parts = slices.Clone(cells[:keys])
	for _, cell := range cells[keys:] {
		value := cell.value()
		isOfValue := func(t token) bool { return value.has(t) && !hasWord(cells[:keys], t) }
		isSaid := func(c clause) bool {
			return slices.ContainsFunc(p.sourceWords(c), func(at int) bool { return isOfValue(c.tokens[at]) })
		}
		if slices.ContainsFunc(run, isSaid) || slices.ContainsFunc(p.asked, isSaid) {
			a.parts = append(a.parts, cell)
		}
	}
	return a
}

// value returns a cell without the name of its column, or with it if the value has no word of its own: "deposit: none".
func (c clause) value() clause {
	if slices.ContainsFunc(c.tokens[c.name:], c.words.isContent) {
		c.tokens = c.tokens[c.name:]
	}
	return c
}

// sentenceAssertions returns the assertions of sentences.
func (p wholeCheck) sentenceAssertions(parts []clause) (all []assertion) {
	first := 0 // of the statement
	for i, s := range parts {
		if s.statement != parts[first].statement {
			first = i
		}
		var a assertion
		if i > first && parts[first].isScope() {
			a.parts = append(a.parts, parts[first])
		}
		a.parts = append(a.parts, s)
		for _, next := range parts[i+1:] {
			if next.statement != s.statement || !next.isBound() {
				break
			}
			a.parts = append(a.parts, next)
		}
		for _, other := range parts[:i] {
			if p.isOneStatement(other, s) {
				a.before = append(a.before, other)
			}
		}
		all = append(all, a)
	}
	return all
}

// isScope reports whether the first part of a statement says nothing but of what, or when, the rest holds: "on Mondays, ...".
func (c clause) isScope() bool {
	const maxWords = 2
	words := segment{c}.content(c.tokens)
	isFree := slices.ContainsFunc(words, func(t token) bool { return t.names("free") })
	return len(words) <= maxWords && !isFree && !c.denies() && !hasNumbers(c)
}

// isBound reports whether a part of a sentence limits the part before it: it begins with a word such as "not", "only" or "if", or
// has nothing but days, months and amounts that limit: "up to 12 persons".
func (c clause) isBound() bool {
	w := c.words
	limits := slices.ContainsFunc(c.tokens[:min(len(c.tokens), 2)], func(t token) bool {
		return w.negative[t.word] || w.only[t.word] || w.except[t.word] || w.condition[t.word]
	})
	for i, t := range c.tokens {
		isOwn := t.isNumber && (t.currency != "" || t.dash || t.starts || c.limitAt(i) == noLimit)
		if isOwn || w.isContent(t) && !c.isFact(i) {
			return limits
		}
	}
	return true
}

// excepts reports whether a clause has a word such as "except".
func (c clause) excepts() bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.except[t.word] })
}

// isWithin reports whether an assertion has all words of a run that the sources have; those of the headings are of all units. One
// segment may borrow words that stand before the assertion in its statement, but no facts.
func (p wholeCheck) isWithin(run []clause, a assertion) (isBorrowed, ok bool) {
	for _, c := range run {
		for _, i := range p.sourceWords(c) {
			t := c.tokens[i]
			isIn := func(s clause) bool {
				return s.has(t) && (!t.isNumber || !p.hasSameNumber(c, i) || p.sameNumberIn(c, i, s) >= 0)
			}
			isOwn := slices.ContainsFunc(a.parts, isIn)
			switch {
			case isOwn, hasWord(p.headings, t) && !c.denies():
				ok = ok || isOwn
			case c.isFact(i) || len(run) > 1 || !hasWord(a.before, t):
				return false, false
			default:
				isBorrowed = true
			}
		}
	}
	if slices.ContainsFunc(run, clause.excepts) && !slices.ContainsFunc(a.parts, clause.excepts) {
		return false, false
	}
	joins := func(t token) bool { return run[0].words.joins[t.word] }
	return isBorrowed, ok && !(isBorrowed && slices.ContainsFunc(run[0].tokens, joins))
}

// leftOut returns a word of an assertion that may limit it and is not known; of one from whose statement words are borrowed, any
// content word. What may limit it is a fact, its first word, a word beside one that is said, one behind a word such as "for", and a
// condition of which nothing is said.
func (p wholeCheck) leftOut(a assertion, run, known []clause, isBorrowed bool) (left token, found bool) {
	isFirst := true
	for _, s := range a.parts {
		for i, t := range s.tokens {
			if s.isRow && i <= s.name {
				isFirst = i == s.name // each value says something anew
			}
			if i < s.name && (s.isLabel() || s.isWhen()) || !s.says(i) || s.isMeasured(i) {
				continue
			}
			limits := isBorrowed || isFirst || s.isFact(i) || s.isBeside(i, run) ||
				s.isBehind(i, s.words.within) || s.isBehind(i, s.words.condition) && !p.isSomeSaid(s, i, known)
			isFirst = isFirst && s.isFact(i)
			if limits && !p.isSaid(s, i, known) {
				return t, true
			}
		}
	}
	return token{}, false
}

// isWhen reports whether the value of a cell is a day, a date or a time: the name of its column says no more.
func (c clause) isWhen() bool {
	return slices.ContainsFunc(c.tokens[c.name:], func(t token) bool { return t.day >= 0 || t.month >= 0 || t.isTime })
}

// isFact reports whether a token is a number, or names a day, a month or a unit of time.
func (c clause) isFact(at int) bool {
	t := c.tokens[at]
	return t.isNumber || t.day >= 0 || t.month >= 0 || t.period != "" || c.words.weekdays[t.word] || c.words.weekend[t.word]
}

// says reports whether a token has content: a unit of time has, too.
func (c clause) says(at int) bool {
	return c.tokens[at].period != "" || c.words.isContent(c.tokens[at])
}

// isMeasured reports whether a token is the unit of a number that is no price: the number is compared with it.
func (c clause) isMeasured(at int) bool {
	number := nextNumber(c, at, -1)
	return c.isUnit(at) && c.tokens[number].currency == ""
}

// isBeside reports whether a word stands beside one that a run of segments has, as in "small dogs" or "each further hour".
func (c clause) isBeside(at int, run []clause) bool {
	for _, i := range []int{at - 1, at + 1} {
		isOther := i < 0 || i >= len(c.tokens) || (i < c.name) != (at < c.name)
		if !isOther && c.says(i) && !c.tokens[i].isNumber && hasWord(run, c.tokens[i]) {
			return true
		}
	}
	return false
}

// isBehind reports whether a word is the first one with content behind a word of some, such as "for".
func (c clause) isBehind(at int, words map[string]bool) bool {
	for i := at - 1; i >= 0; i-- {
		if w := c.tokens[i].word; words[w] && !c.words.only[w] {
			return true
		}
		if c.words.isContent(c.tokens[i]) {
			return false
		}
	}
	return false
}

// isSaid reports whether some clauses have a word of the sources; for a day or month, one of those that its clause names; for a
// number, the same amount or one of the customer's to which the limit was applied. One end of some times says enough.
func (p wholeCheck) isSaid(s clause, at int, known []clause) bool {
	t := s.tokens[at]
	for _, c := range known {
		if !t.isNumber && c.has(t) {
			return true
		}
		for i, said := range c.tokens {
			switch {
			case t.isNumber:
				if isAmount(c, i, s, at) || isOneUnit(c, i, s, at) || isOneUnit(s, at, c, i) || isOtherEnd(c, i, s, at) || p.keepsLimit(c, i, s, at) {
					return true
				}
			case s.isFact(at) && (said.day >= 0 || said.month >= 0) && s.has(said):
				return true
			case s.words.relatives[t.word] && (c.words.relatives[said.word] || p.keepsLimits(c, i, s)):
				return true
			}
		}
	}
	return false
}

// keepsLimit reports whether a number is the customer's own and keeps a limit of the sources.
func (p wholeCheck) keepsLimit(c clause, at int, s clause, i int) bool {
	t, other := c.tokens[at], s.tokens[i]
	if !t.isNumber || t.currency != other.currency || !isSamePeriod(c, at, s, i) || !hasNumber(p.asked, t) {
		return false
	}
	l := s.limitAt(i)
	return l == lower && t.value >= other.value || l == upper && t.value <= other.value
}

// keepsLimits reports whether a number is the customer's own and keeps a limit of a clause.
func (p wholeCheck) keepsLimits(c clause, at int, s clause) bool {
	for i := range s.tokens {
		if p.keepsLimit(c, at, s, i) {
			return true
		}
	}
	return false
}

// isSomeSaid reports whether some clauses have a word of the sources from a place on: "with" it may say what "if you have" it does. The
// first words with content are the condition's own: what stands behind them, such as a price, may be what it is a condition of.
func (p wholeCheck) isSomeSaid(s clause, from int, known []clause) bool {
	const own = 2 // words
	words := 0
	for i := from; i < len(s.tokens) && words < own; i++ {
		if !s.says(i) {
			continue
		}
		if words > 0 && s.currencyAt(i) != "" {
			return false
		}
		if p.isSaid(s, i, known) {
			return true
		}
		words++
	}
	return false
}

// isOtherEnd reports whether a number is the other end of the times or dates between which a number of the sources stands.
func isOtherEnd(c clause, at int, s clause, i int) bool {
	t := s.tokens[i]
	isDate := slices.ContainsFunc(s.tokens[i:min(len(s.tokens), i+3)], func(t token) bool { return t.month >= 0 })
	if !t.isTime && t.clock == 0 && !isDate || !t.dash && !t.starts {
		return false
	}
	step := 1
	if t.dash {
		step = -1
	}
	other := nextNumber(s, i, step)
	return other >= 0 && c.tokens[at].sameValue(s.tokens[other])
}
