// Package proof checks whether a sentence follows from what it cites. It allows what is good: every word of a sentence
// has to stand in the cited units, in their headings, or among the words of its language that claim nothing; every number
// has to stand there with its currency, its unit of time and its limit; and what the cited words deny or limit, the
// sentence denies or limits, and the other way round. What it does not know it refuses. Without a model it cannot tell
// whether the words of a sentence mean together what they mean in their source.
package proof

import (
	"slices"
	"strings"
	"unicode"
)

// Claim is a sentence with what it cites.
type Claim struct {
	Sentence string
	Units    []string // sentences, or rows of a table as "Column: value | Column: value"
	Headings []string // above the units
	Question string   // what was asked: facts that the customer told may be repeated
}

// FindGap returns why a sentence does not follow from what it cites, for a model to mend; empty if it follows.
func FindGap(c Claim) string {
	w := vocabularyOf(c)
	said := w.clauses(c.Sentence)
	if deed := w.deedIn(c); deed != "" {
		return "“" + deed + "”: say nothing that you did or that somebody will do"
	}
	var source []clause
	for i, u := range c.Units {
		source = append(source, w.unitClauses(u, i)...)
	}
	headings := w.clauses(strings.Join(c.Headings, ". "))
	asked := w.clauses(c.Question)
	p := prover{
		words:    w,
		source:   source,
		headings: headings,
		asked:    asked,
		said:     said,
	}
	if sign := unknownSign(c); sign != "" {
		return "“" + sign + "” is not in what you cite"
	}
	if !slices.ContainsFunc(said, p.restsOnSource) {
		return "it says nothing that is in what you cite"
	}
	for _, check := range []func() string{p.findWord, p.findNumber, p.findThreshold, p.findRow, p.findMix, p.findDenial, p.findLimit} {
		if gap := check(); gap != "" {
			return gap
		}
	}
	return ""
}

// unknownSign returns a character of a sentence that is no letter, digit or ordinary punctuation, and not in its sources.
func unknownSign(c Claim) string {
	for _, r := range fold(c.Sentence) {
		isFace := r >= 0x1F600 && r <= 0x1F64F
		isKnown := unicode.IsLetter(r) && !unicode.Is(unicode.Nl, r) || unicode.IsDigit(r) || unicode.IsSpace(r) || isFace ||
			strings.ContainsRune(".,;:!?¿¡()[]'\"“”„«»‚‘’-–—/%€$£₺¥&+@º°…\u200d\ufe0f", r)
		if !isKnown && !strings.ContainsRune(fold(strings.Join(c.Units, " ")), r) {
			return string(r)
		}
	}
	return ""
}

// prover has a sentence and its sources as clauses.
type prover struct {
	words    *vocabulary
	source   []clause
	headings []clause
	asked    []clause
	said     []clause
}

// restsOnSource reports whether a clause has a content word or a number of its sources.
func (p *prover) restsOnSource(c clause) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return p.words.isContent(t) && hasWord(p.source, t) })
}

// findWord returns a content word of the sentence that its sources lack.
func (p *prover) findWord() string {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !p.words.isContent(t) || t.isNumber {
				continue
			}
			if hasWord(p.source, t) || hasWord(p.headings, t) || p.words.isAnsweredDay(t, p.source) || p.isOfCustomer(c, i) {
				continue
			}
			return "“" + t.word + "” is not in what you cite"
		}
	}
	return ""
}

// isOfCustomer reports whether a word repeats what the customer said of himself: it stands in the question next to a
// number that the sentence repeats, or is a relative.
func (p *prover) isOfCustomer(c clause, i int) bool {
	t := c.tokens[i]
	if p.words.isRelative(t) {
		return true
	}
	return hasWord(p.asked, t) && !p.words.isDay(t) && (p.hasAskedNumber(c, i) || p.hasSourceWord(c))
}

// hasSourceWord reports whether a clause has a content word of the sources.
func (p *prover) hasSourceWord(c clause) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return !t.isNumber && p.words.isContent(t) && hasWord(p.source, t) })
}

// hasAskedNumber reports whether a number of the question stands within three words of a word.
func (p *prover) hasAskedNumber(c clause, at int) bool {
	for i := max(0, at-3); i < min(len(c.tokens), at+4); i++ {
		if t := c.tokens[i]; t.isNumber && hasNumber(p.asked, t) {
			return true
		}
	}
	return false
}

// findNumber returns a number of the sentence that its sources lack, or have with another currency, unit or limit.
func (p *prover) findNumber() string {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !t.isNumber {
				continue
			}
			if !p.hasSameNumber(c, i) && !p.repeatsAsked(c, i) {
				return "“" + t.written() + "” stands otherwise in what you cite"
			}
		}
	}
	return ""
}

// repeatsAsked reports whether a number is the customer's own, told again.
func (p *prover) repeatsAsked(c clause, at int) bool {
	t := c.tokens[at]
	if p.words.limitAt(c, at) != noLimit {
		return false
	}
	for _, asked := range p.asked {
		for i, other := range asked.tokens {
			if other.sameValue(t) && (t.currency == "" || t.currency == other.currency) && p.isSamePeriod(c, at, asked, i) {
				return t.currency == "" || p.answersThreshold(c)
			}
		}
	}
	return false
}

// isSamePeriod reports whether a number of the question has the unit of time of one of the sentence, or none.
func (p *prover) isSamePeriod(c clause, at int, asked clause, i int) bool {
	said, other := p.words.periodAt(c, at), p.words.periodAt(asked, i)
	return other == "" || said == "" || sameWord(said, other)
}

// findThreshold returns a number of the customer's that does not keep a limit of the statement that is said of it.
func (p *prover) findThreshold() string {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !t.isNumber || p.hasSameNumber(c, i) || p.words.denies(c) {
				continue
			}
			s, found := p.nearestClause(c)
			for at, other := range s.tokens {
				if !found || !other.isNumber || other.currency != t.currency || p.hasPeriodOfOther(s, at, c, i) {
					continue
				}
				l := p.words.limitAt(s, at)
				if l == lower && t.value < other.value || l == upper && t.value > other.value {
					return "“" + t.written() + "” does not keep the limit of what you cite"
				}
			}
		}
	}
	return ""
}

// hasPeriodOfOther reports whether two numbers are of different units of time.
func (p *prover) hasPeriodOfOther(s clause, at int, c clause, i int) bool {
	a, b := p.words.periodAt(s, at), p.words.periodAt(c, i)
	return a != "" && b != "" && !sameWord(a, b)
}

// nearestClause returns the clause of the sources with the most content words of a clause.
func (p *prover) nearestClause(c clause) (nearest clause, found bool) {
	most := 0
	for _, s := range p.source {
		n := 0
		for _, t := range c.tokens {
			if !t.isNumber && p.words.isContent(t) && s.has(t) {
				n++
			}
		}
		if n > most {
			most = n
			nearest = s
		}
	}
	return nearest, most > 0
}

// answersThreshold reports whether a clause, or the sentence, has another number that its sources have.
func (p *prover) answersThreshold(clause) bool {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if t.isNumber && p.hasSameNumber(c, i) {
				return true
			}
		}
	}
	for _, c := range p.source {
		for i := range c.tokens {
			if p.words.limitAt(c, i) != noLimit {
				return true
			}
		}
	}
	return false
}

func (p *prover) hasSameNumber(c clause, at int) bool {
	t := c.tokens[at]
	for _, s := range append(slices.Clone(p.source), p.headings...) {
		for i, other := range s.tokens {
			if other.sameValue(t) && t.isHalf() && other.isHalf() {
				return true
			}
			if !other.sameValue(t) || (t.currency != "" && other.currency != "" && t.currency != other.currency) ||
				(t.currency == "") != (other.currency == "") {
				continue
			}
			if period := p.words.periodAt(c, at); period != "" && !p.words.hasPeriod(s, i, period) {
				continue
			}
			if p.words.sameLimit(c, at, s, i) {
				return true
			}
		}
	}
	return false
}

// findMix returns a clause of the sentence that puts words of several statements of its source together.
func (p *prover) findMix() string {
	for _, c := range p.said {
		var words []token
		for i, t := range c.tokens {
			if !p.words.isContent(t) || !hasWord(p.source, t) || hasWord(p.headings, t) || t.isNumber && p.repeatsAsked(c, i) {
				continue
			}
			words = append(words, t)
		}
		if len(words) < 2 {
			continue
		}
		whole := false
		for _, s := range p.source {
			whole = whole || !slices.ContainsFunc(words, func(t token) bool { return !p.statementHas(s, t) })
		}
		if !whole {
			return "you put several statements of what you cite together"
		}
	}
	return ""
}

// statementHas reports whether the statement that a clause is a part of has a word.
func (p *prover) statementHas(s clause, t token) bool {
	for _, other := range p.source {
		if other.unit == s.unit && p.isOneStatement(s.statement, other.statement, s.unit) && other.has(t) {
			return true
		}
	}
	return false
}

// isOneStatement reports whether two statements of a unit are one, or the later begins with a word such as "it" that
// refers to the one before it.
func (p *prover) isOneStatement(a, b, unit int) bool {
	for from := min(a, b) + 1; from <= max(a, b); from++ {
		i := slices.IndexFunc(p.source, func(c clause) bool { return c.unit == unit && c.statement == from })
		if i < 0 || !p.words.refers[p.source[i].tokens[0].word] {
			return false
		}
	}
	return true
}

// findRow returns a row that the sentence names without its number, or the number of a row that it does not name.
func (p *prover) findRow() string {
	if len(p.source) == 0 || !p.source[0].isRow {
		return ""
	}
	last := -1
	for _, c := range p.said {
		for i, t := range c.tokens {
			if row := p.rowNamed(t); row >= 0 {
				last = row
			}
			if !t.isNumber || p.repeatsAsked(c, i) {
				continue
			}
			in := p.rowsWith(t)
			if len(in) == 0 || len(in) == p.rowCount() {
				continue
			}
			if !slices.Contains(in, p.nearestRow(c, i, last)) {
				return "“" + t.written() + "” is of another row"
			}
		}
	}
	return ""
}

// nearestRow returns the row that a number is said of: the one named last before it, or the only one named behind it.
func (p *prover) nearestRow(c clause, at, last int) int {
	if last >= 0 {
		return p.betterRow(c, at, last)
	}
	named := -1
	for _, later := range p.said {
		for _, t := range later.tokens {
			if row := p.rowNamed(t); row >= 0 {
				if named >= 0 && named != row {
					return -1
				}
				named = row
			}
		}
	}
	return named
}

// betterRow returns the row named directly behind a number ("£94 on the street side"), or the one named before it.
func (p *prover) betterRow(c clause, at, last int) int {
	before := -1
	for i := range at {
		if row := p.rowNamed(c.tokens[i]); row >= 0 {
			before = row
		}
	}
	if before >= 0 {
		return before
	}
	for i := at + 1; i < min(len(c.tokens), at+6); i++ {
		if c.tokens[i].isNumber {
			break
		}
		if row := p.rowNamed(c.tokens[i]); row >= 0 {
			return row
		}
	}
	return last
}

func (p *prover) rowCount() int { return p.source[len(p.source)-1].unit + 1 }

// rowNamed returns the only row that has a word; -1 if none or several have it.
func (p *prover) rowNamed(t token) int {
	found := -1
	if t.isNumber || !p.words.isContent(t) {
		return -1
	}
	for _, c := range p.source {
		if !c.has(t) || found == c.unit {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = c.unit
	}
	if p.rowCount() == 1 {
		return 0
	}
	return found
}

// rowsWith returns the rows that have a number.
func (p *prover) rowsWith(t token) (rows []int) {
	for _, c := range p.source {
		if slices.ContainsFunc(c.tokens, t.sameValue) && !slices.Contains(rows, c.unit) {
			rows = append(rows, c.unit)
		}
	}
	return rows
}

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
		if p.words.limits(s) && !said && p.isUsed(s) && !p.answersThreshold(s) {
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

// isUsed reports whether the sentence has a content word of a clause.
func (p *prover) isUsed(s clause) bool {
	for _, c := range p.said {
		for _, t := range c.tokens {
			if p.words.isContent(t) && s.has(t) {
				return true
			}
		}
	}
	return false
}
