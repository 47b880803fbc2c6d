package proof

import (
	"slices"
)

// scopeCheck finds a part of a source that the sentence takes for another one.
type scopeCheck struct{ *prover }

// findScope finds a denial, a cell or a part of a list that the sentence takes for another one: a source that denies one thing
// and affirms another has the same words as a sentence that turns them round.
func (p scopeCheck) findScope() Finding {
	for _, check := range []func(segment) string{p.affirmsDenied, p.deniesOtherCell, p.numbersOtherCell, p.numbersRemark, p.numbersOtherPart} {
		for _, c := range p.said {
			for _, s := range c.segments() {
				if reason := check(s); reason != "" {
					return contradicts(reason)
				}
			}
		}
	}
	return Finding{}
}

// segment is a part of a clause between words such as "and" behind which another verb stands.
type segment struct {
	clause
}

// segments splits a clause at the words that join two statements: "has no flour | and is fit for coeliacs", "bikes 15 EUR | and
// helmets 3 EUR".
func (c clause) segments() (all []segment) {
	from := 0
	for i, t := range c.tokens {
		joins := i > from && c.words.joins[t.word] && i+1 < len(c.tokens) && (!c.words.isContent(c.tokens[i+1]) || c.joinsFacts(from, i))
		if joins && !c.isRow && slices.ContainsFunc(c.tokens[i+1:], c.words.isContent) {
			all = append(all, c.part(from, i))
			from = i + 1
		}
	}
	return append(all, c.part(from, len(c.tokens)))
}

// joinsFacts reports whether a word or a day and a number stand on both sides of a place, before the next word that joins.
func (c clause) joinsFacts(from, at int) bool {
	if c.tokens[at-1].isNumber && c.tokens[at+1].isNumber {
		return false // "between 8 and 9"
	}
	end := at + 1
	for end < len(c.tokens) && !c.words.joins[c.tokens[end].word] {
		end++
	}
	for _, part := range [][]token{c.tokens[from:at], c.tokens[at+1 : end]} {
		isNumber := func(t token) bool { return t.isNumber }
		isWord := func(t token) bool { return !t.isNumber && t.period == "" && t.month < 0 && c.words.isContent(t) }
		if !slices.ContainsFunc(part, isNumber) || !slices.ContainsFunc(part, isWord) {
			return false
		}
	}
	return true
}

func (c clause) part(from, to int) segment {
	c.tokens = c.tokens[from:to]
	return segment{c}
}

// content returns the content words of tokens that are no numbers.
func (s segment) content(tokens []token) []token {
	var words []token
	for _, t := range tokens {
		if !t.isNumber && s.words.isContent(t) {
			words = append(words, t)
		}
	}
	return words
}

// denied returns the content words that a segment of a source denies: those behind the denial; of a cell, those of its value, or
// else of its name.
func (s segment) denied() []token {
	if s.isRow {
		if value := s.content(s.tokens[s.name:]); len(value) > 0 {
			return value
		}
		return s.content(s.tokens)
	}
	i := slices.IndexFunc(s.tokens, func(t token) bool { return s.words.negative[t.word] })
	return s.content(s.tokens[i+1:])
}

// hasAll reports whether a segment has all words.
func (s segment) hasAll(words []token) bool {
	return !slices.ContainsFunc(words, func(t token) bool { return !s.has(t) })
}

// affirmsDenied returns why a segment is wrong that affirms what only a denial of the sources has.
func (p scopeCheck) affirmsDenied(said segment) string {
	if said.denies() || said.limits() || said.isException() || p.isExcepted(said.clause) {
		return ""
	}
	for _, part := range p.parts {
		s := segment{part}
		if !s.denies() || s.hasLoneLimit() {
			continue
		}
		denied := s.denied()
		if len(denied) == 0 || !said.hasAll(denied) {
			continue
		}
		isAffirmed := slices.ContainsFunc(p.parts, func(other clause) bool {
			return !other.denies() && !other.hasCondition() && segment{other}.hasAll(denied)
		})
		if !isAffirmed || s.isRow && p.namesRow(said, s.unit) {
			return "what you cite denies “" + p.asWritten(denied[0]) + "”"
		}
	}
	return ""
}

// namesRow reports whether a segment has a word that only one row has.
func (p scopeCheck) namesRow(said segment, unit int) bool {
	return slices.ContainsFunc(said.tokens, func(t token) bool { return !t.isNumber && p.rowNamed(t) == unit })
}

// deniesOtherCell returns why a segment is wrong that denies what no denying cell of its rows is about.
func (p scopeCheck) deniesOtherCell(said segment) string {
	if !said.denies() || !p.isAllRows() || p.failsAskedLimit() || p.isFree(said.clause) {
		return ""
	}
	words := said.content(said.tokens)
	if len(words) == 0 {
		return ""
	}
	denies := false
	for _, cell := range p.source {
		if !cell.denies() {
			continue
		}
		denies = true
		if cell.isLabel() || slices.ContainsFunc(words, cell.has) {
			return ""
		}
	}
	if !denies {
		return "" // findDenial says so
	}
	return "what you cite denies another cell of the row"
}

func (p scopeCheck) isAllRows() bool {
	return len(p.source) > 0 && !slices.ContainsFunc(p.source, func(c clause) bool { return !c.isRow })
}

// isLabel reports whether a clause is the first cell of a row.
func (c clause) isLabel() bool { return c.isRow && c.at == 0 }

// numbersOtherCell returns why a segment is wrong that has the number of one cell with the name of another one, and not the
// number of that.
func (p scopeCheck) numbersOtherCell(said segment) string {
	for i, t := range said.tokens {
		own := p.cellsWith(t)
		if !t.isNumber || len(own) == 0 || slices.ContainsFunc(own, clause.isLabel) || p.repeatsAsked(said.clause, i) {
			continue // a number of the label may name the row: "10-day ticket"
		}
		for _, cell := range p.source {
			isOwn := slices.ContainsFunc(own, func(c clause) bool { return c.unit == cell.unit && c.at == cell.at })
			isSameRow := slices.ContainsFunc(own, func(c clause) bool { return c.unit == cell.unit })
			if !cell.isRow || cell.isLabel() || isOwn || !isSameRow || !cell.hasNumberLike(t) || said.hasNumberOf(cell) {
				continue
			}
			others := slices.Concat(own, p.labelsOf(cell.unit)) // a word of the label names the row
			if said.namesCell(cell, others) && !slices.ContainsFunc(own, func(c clause) bool { return said.namesCell(c, []clause{cell}) }) {
				return "“" + p.asWritten(t) + "” is of another cell of the row"
			}
		}
	}
	return ""
}

// numbersRemark returns why a segment is wrong that has a price of a row which is one of something else, and says nothing of that, where
// the row has a plain price: "a scan costs 25 €" of "Service: scan | Price: 90 € | Note: report 25 €".
func (p scopeCheck) numbersRemark(said segment) string {
	isForeign := func(t token) bool {
		return said.words.isContent(t) && !t.isNumber && !hasWord(p.source, t) && !hasWord(p.asked, t)
	}
	if slices.ContainsFunc(said.tokens, isForeign) {
		return "" // it may say that in other words
	}
	isSaid := func(t token) bool { return hasWord(p.said, t) || hasWord(p.asked, t) }
	for _, t := range said.tokens {
		own := p.cellsWith(t)
		isPlain := func(cell clause) bool {
			isSameRow := slices.ContainsFunc(own, func(c clause) bool { return c.unit == cell.unit && c.at != cell.at })
			return isSameRow && cell.hasAmountIn(t.currency) && len(cell.about()) == 0
		}
		isOfOther := func(c clause) bool { return len(c.about()) > 0 && !slices.ContainsFunc(c.about(), isSaid) }
		isRemark := len(own) > 0 && !slices.ContainsFunc(own, func(c clause) bool { return !isOfOther(c) })
		if t.currency != "" && isRemark && slices.ContainsFunc(p.source, isPlain) {
			return "“" + p.asWritten(t) + "” is the price of something else in the row"
		}
	}
	return ""
}

// about returns the words of a cell that say what its number is of: none beside the names of prices if it is of the whole row.
func (c clause) about() (words []token) {
	for i, t := range c.tokens {
		if c.says(i) && !t.isNumber && !t.names("price") {
			words = append(words, t)
		}
	}
	return words
}

// hasAmountIn reports whether a number of a cell's value is an amount in a currency.
func (c clause) hasAmountIn(currency string) bool {
	for i := c.name; i < len(c.tokens); i++ {
		if c.tokens[i].isNumber && c.currencyAt(i) == currency {
			return true
		}
	}
	return false
}

// cellsWith returns the cells with a number.
func (p scopeCheck) cellsWith(t token) (cells []clause) {
	for _, c := range p.source {
		if c.isRow && slices.ContainsFunc(c.tokens[c.name:], t.sameValue) {
			cells = append(cells, c)
		}
	}
	return cells
}

// hasNumberLike reports whether the value of a cell has a number that may be of the same kind as another one. A length of time and an
// amount of money are of two kinds, and so are a time of the day and any other number.
func (c clause) hasNumberLike(other token) bool {
	for i := c.name; i < len(c.tokens); i++ {
		t := c.tokens[i]
		isLength := other.currency != "" && i+1 < len(c.tokens) && c.tokens[i+1].period != ""
		if t.isNumber && t.isTime == other.isTime && !isLength {
			return true
		}
	}
	return false
}

func hasNumbers(c clause) bool {
	return slices.ContainsFunc(c.tokens[c.name:], func(t token) bool { return t.isNumber })
}

// labelsOf returns the clauses of the first cell of a row.
func (p scopeCheck) labelsOf(unit int) (labels []clause) {
	for _, c := range p.source {
		if c.unit == unit && c.isLabel() {
			labels = append(labels, c)
		}
	}
	return labels
}

// hasNumberOf reports whether a segment has a number of a clause; of a cell, of its value.
func (s segment) hasNumberOf(c clause) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return slices.ContainsFunc(c.tokens[c.name:], t.sameValue) })
}

// namesCell reports whether a segment has a content word of a cell, or a number of its name, that none of the others has.
func (s segment) namesCell(cell clause, others []clause) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool {
		if t.isNumber {
			return cell.isNamedBy(t) && !slices.ContainsFunc(others, func(c clause) bool { return c.isNamedBy(t) })
		}
		return s.words.isContent(t) && cell.has(t) && !hasWord(others, t)
	})
}

// isNamedBy reports whether the name of a cell has a number: "half day", "1 hour".
func (c clause) isNamedBy(t token) bool { return slices.ContainsFunc(c.tokens[:c.name], t.sameValue) }

// numbersOtherPart returns why a segment is wrong that has the number of one part of a sentence with the thing of a later part
// that has a number of its own: "14 at most, 9 in chair yoga" says nothing of 14 in chair yoga.
func (p scopeCheck) numbersOtherPart(said segment) string {
	for i, t := range said.tokens {
		if !t.isNumber || p.repeatsAsked(said.clause, i) {
			continue
		}
		for _, part := range p.source {
			if part.isRow || slices.ContainsFunc(part.tokens, t.sameValue) || !hasNumbers(part) || said.hasNumberOf(part) {
				continue
			}
			own := slices.DeleteFunc(slices.Clone(p.source), func(c clause) bool {
				isBefore := c.unit == part.unit && c.statement == part.statement && c.at < part.at
				return !isBefore || !slices.ContainsFunc(c.tokens, t.sameValue)
			})
			if len(own) > 0 && said.namesCell(part, slices.Concat(own, p.headings)) {
				return "“" + p.asWritten(t) + "” is said of something else"
			}
		}
	}
	return ""
}

// findLostException finds an exception of the sources that the sentence names and does not except by a word that is known.
func (p scopeCheck) findLostException() Finding {
	excepts := slices.ContainsFunc(p.said, func(c clause) bool {
		return c.denies() || c.limits() || slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.except[t.word] })
	})
	if excepts {
		return Finding{}
	}
	for _, s := range p.source {
		if !s.isException() {
			continue
		}
		excepted := segment{s}.content(s.tokens)
		isNamed := len(excepted) > 0 && !slices.ContainsFunc(excepted, func(t token) bool { return !hasWord(p.said, t) })
		if isNamed {
			return unknown("what you cite makes an exception of “" + p.asWritten(excepted[0]) + "”")
		}
	}
	return Finding{}
}

// findLostCondition finds a condition with which a sentence of the sources begins ("With the insurance ...") and that the sentence
// leaves out.
func (p scopeCheck) findLostCondition() Finding {
	for i, s := range p.source {
		if s.isRow || !s.afterStop || !s.words.condition[s.tokens[0].word] {
			continue
		}
		condition := segment{s}.content(s.tokens)
		if len(condition) == 0 {
			continue
		}
		isUsed := slices.ContainsFunc(p.source[i:], func(c clause) bool { return p.isOneStatement(s, c) && c.unit == s.unit && p.isUsed(c) })
		if isUsed && !hasWord(p.said, condition[0]) && !hasWord(p.asked, condition[0]) {
			return unknown("what you cite holds under a condition; say it, too")
		}
	}
	return Finding{}
}

// findMonth finds a month of the sentence that is not among those of its sources. If they name none, its word decides.
func (p scopeCheck) findMonth() Finding {
	sources := slices.Concat(p.source, p.headings)
	namesMonths := slices.ContainsFunc(sources, func(c clause) bool {
		return slices.ContainsFunc(c.tokens, func(t token) bool { return t.month >= 0 })
	})
	for _, c := range p.said {
		for _, t := range c.tokens {
			if t.month >= 0 && namesMonths && !hasWord(sources, t) && !c.denies() {
				return contradicts("“" + p.asWritten(t) + "” is not in what you cite")
			}
		}
	}
	return Finding{}
}
