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
	for _, check := range []func() string{p.findWord, p.findNumber, p.findThreshold, p.findRow, p.findMerged, p.findDenial, p.findLimit} {
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
				return t.currency == "" || p.namesLimit()
			}
		}
	}
	return false
}

// isSamePeriod reports whether two numbers have the same unit of time, or one of them has none.
func (p *prover) isSamePeriod(a clause, i int, b clause, j int) bool {
	one, other := p.words.periodAt(a, i), p.words.periodAt(b, j)
	return one == "" || other == "" || sameWord(one, other)
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
				if !found || !other.isNumber || other.currency != t.currency || !p.isSamePeriod(s, at, c, i) {
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
			if t.isHalf() && other.isHalf() {
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

// findMerged returns a clause of the sentence that puts words of several statements of its source together.
func (p *prover) findMerged() string {
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
