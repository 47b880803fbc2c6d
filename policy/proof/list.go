package proof

import "slices"

// findListed finds a list of the sentence that has a thing that its sources deny beside one that they affirm: "by card or cheque" of "by
// card; we take no cheques".
func (p scopeCheck) findListed() Finding {
	isOther := func(c clause) bool {
		return c.denies() || c.limits() || c.isException() || slices.ContainsFunc(c.tokens, func(t token) bool { return t.names("free") })
	}
	if slices.ContainsFunc(p.said, isOther) {
		return Finding{}
	}
	for _, pair := range p.listed() {
		for i, t := range pair {
			if p.deniesBeside(t, pair[1-i]) {
				return contradicts("what you cite denies “" + p.asWritten(t) + "”")
			}
		}
	}
	return Finding{}
}

// listed returns the pairs of content words of the sentence between which stands a comma, or a word such as "and".
func (p scopeCheck) listed() (pairs [][2]token) {
	var last *token
	statement := -1
	for _, c := range p.said {
		isNext := c.statement == statement
		statement = c.statement
		for i, t := range c.tokens {
			switch {
			case c.words.joins[t.word], c.words.or[t.word]:
				isNext = true
			case c.says(i):
				if last != nil && isNext && !t.isNumber && !last.isNumber {
					pairs = append(pairs, [2]token{*last, t})
				}
				last = &c.tokens[i]
				isNext = false
			}
		}
	}
	return pairs
}

// deniesBeside reports whether the sources have a thing only where they deny it, in a unit that affirms another one.
func (p scopeCheck) deniesBeside(t, other token) bool {
	affirms := func(c clause, t token) bool { return !c.denies() && c.has(t) }
	if t.day >= 0 || slices.ContainsFunc(p.parts, func(c clause) bool { return affirms(c, t) }) {
		return false
	}
	return slices.ContainsFunc(p.parts, func(c clause) bool {
		isBeside := func(s clause) bool { return s.unit == c.unit && affirms(s, other) }
		goesOn := func(s clause) bool { return s.statement > c.statement && p.isOneStatement(c, s) } // "they can be hired"
		isOpen := isHedged(c) || c.hasLoneLimit() || slices.ContainsFunc(p.parts, goesOn)
		return c.deniesThing(t) && !isOpen && slices.ContainsFunc(p.parts, isBeside)
	})
}

// deniesThing reports whether a clause denies a thing: it stands before a word such as "not", or is the first one behind it. "No" denies
// only what stands behind it.
func (c clause) deniesThing(t token) bool {
	at := slices.IndexFunc(c.tokens, func(t token) bool { return c.words.negative[t.word] })
	isPrice := func(t token) bool {
		return t.names("price") || t.names("free") || t.names("pay") && !c.words.isContent(t) // "children do not pay"
	}
	if at < 0 || slices.ContainsFunc(c.tokens, isPrice) {
		return false
	}
	before := clause{words: c.words, tokens: c.tokens[:at]}
	if !c.words.none[c.tokens[at].word] && before.has(t) {
		return true
	}
	behind := segment{c}.content(c.tokens[at+1:])
	return len(behind) > 0 && behind[0].sameMeaning(t)
}
