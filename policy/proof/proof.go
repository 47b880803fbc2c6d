// Package proof checks whether a sentence follows from what it cites, without a model. A sentence follows if each of its
// content words stands in the cited units or in their headings, each number stands there with its currency, its unit of
// time and its limit, and it denies and limits what they deny and limit; and if each of its parts says one assertion of one
// unit, and leaves out nothing that limits that. It contradicts them if it has a fact that is another
// one there: a number that is nowhere, or only with another currency, unit, limit or row; a weekday or a name; the opposite
// of a clause in its words, or a thing that is denied, in a list; if it says what the assistant did, or reassures; and if it adds
// something behind all that is there. Otherwise the outcome is unknown: whether other words, a
// condition that is left out or several statements put together mean the same takes somebody who understands them.
package proof

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"multis/internal/language"
)

// Claim is a sentence with what it cites.
type Claim struct {
	Sentence string
	Units    []string // sentences, or rows of a table as "Column: value | Column: value"
	Headings []string // above the units
	Denied   string   // the title above a unit that denies it (see Denial), and is one of Headings; empty for none
	Beside   []string // what stands next to the units, is not cited, and limits them (see Limits)
	Question string   // what was asked: facts that the customer told may be repeated
}

// Outcome is what the check found out about a sentence.
type Outcome int

// The outcomes.
const (
	Follows     Outcome = iota // it may be sent
	Unknown                    // its words are not those of its units; somebody who understands them may decide
	Contradicts                // a hard fact is not that of its units; nobody may overrule this
)

// Finding is an outcome with its reason, for a model to mend the sentence. The reason is empty if the sentence follows.
type Finding struct {
	Outcome Outcome
	Reason  string
}

// unknown returns the finding that somebody else may decide.
func unknown(reason string) Finding { return Finding{Unknown, reason} }

// contradicts returns the finding that a sentence is wrong.
func contradicts(reason string) Finding { return Finding{Contradicts, reason} }

// FindGap returns why a sentence does not follow from what it cites; empty if it follows.
func FindGap(c Claim) string { return Check(c).Reason }

// Check reports whether a sentence follows from what it cites. A copy of a whole unit follows whatever it says, unless a title denies it.
func Check(c Claim) Finding {
	said := wordsOnly(c.Sentence)
	isCopy := slices.ContainsFunc(c.Units, func(u string) bool { return said != "" && wordsOnly(u) == said })
	if isCopy && c.Denied == "" {
		return wholeCheck{newProver(c)}.findBeside()
	}
	p := newProver(c)
	row, scope := rowCheck{p}, scopeCheck{p}
	denial, whole := denialCheck{p}, wholeCheck{p}
	deed, number := deedCheck{p}, numberCheck{p}
	checks := []func() Finding{
		deed.findDeed, deed.findChoice, deed.findComfort, p.findSign, number.findNumber, number.findThreshold, number.findUnkept, row.findRow,
		scope.findScope, scope.findListed, scope.findLostException, scope.findLostCondition, scope.findMonth,
		p.findSource, p.findWord, p.findMerged, whole.findPartial, whole.findAdded, whole.findBeside,
	}
	if c.Denied == "" {
		checks = append(checks, denial.findDenial, denial.findLimit, denial.findAddedLimit)
	} else {
		checks = append(checks, denial.findUnderDenial)
	}
	var found Finding
	for _, check := range checks {
		if f := check(); f.Outcome > found.Outcome {
			found = f
		}
	}
	return found
}

// prover has a sentence and its sources as clauses.
type prover struct {
	claim    Claim
	written  string // the sentence before its dates were spelled
	source   []clause
	parts    []clause // the source's segments
	headings []clause
	asked    []clause
	said     []clause
	names    map[string]bool // words of the sentence with a capital letter that does not begin a sentence
	// currencies are those that the sources name without a number.
	currencies map[string]bool
}

func newProver(c Claim) *prover {
	written := c.Sentence
	c.Sentence = language.SpellDates(c.Sentence, append([]string{c.Question}, c.Units...)...)
	said, cited := c.vocabularies()
	p := &prover{
		claim:      c,
		written:    written,
		headings:   cited.clauses(strings.Join(c.Headings, ". ")),
		asked:      said.clauses(c.Question),
		said:       said.clauses(c.Sentence),
		names:      map[string]bool{},
		currencies: map[string]bool{},
	}
	for i, u := range c.Units {
		p.source = append(p.source, cited.unitClauses(u, i)...)
	}
	for _, c := range p.source {
		for _, s := range c.segments() {
			p.parts = append(p.parts, s.clause)
		}
	}
	p.said = slices.DeleteFunc(p.said, clause.isThanks)
	p.readCurrencies()
	if said == cited && !said.capitals {
		p.readNames()
	}
	return p
}

// vocabularies returns the vocabularies of the sentence and of what it cites.
func (c Claim) vocabularies() (said, cited *vocabulary) {
	words := c.Sentence + " " + c.Question
	units := strings.Join(slices.Concat(c.Units, c.Headings), " ")
	both := vocabularyOf(words+" "+units, nil)
	return vocabularyOf(words, both), vocabularyOf(units, both)
}

// readNames finds the words that are written like names.
func (p *prover) readNames() {
	begins := true
	for word := range strings.FieldsSeq(p.claim.Sentence) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) })
		if first, _ := utf8.DecodeRuneInString(bare); !begins && unicode.IsUpper(first) {
			p.names[fold(bare)] = true
		}
		begins = strings.ContainsAny(word[len(word)-1:], ".!?:")
	}
}

// vocabulary returns the words of the sentence's language.
func (p *prover) vocabulary() *vocabulary {
	if len(p.said) == 0 {
		return vocabularies()["en"]
	}
	return p.said[0].words
}

// findSign finds a character that is no letter, digit or ordinary punctuation, and not in the sources.
func (p *prover) findSign() Finding {
	source := fold(strings.Join(p.claim.Units, " "))
	for _, r := range fold(p.claim.Sentence) {
		isFace := r >= 0x1F600 && r <= 0x1F64F
		isKnown := unicode.IsLetter(r) && !unicode.Is(unicode.Nl, r) || unicode.IsDigit(r) || unicode.IsSpace(r) || isFace ||
			strings.ContainsRune(".,;:!?¿¡()[]'\"“”„«»‚‘’-–—/%€$£₺¥₽&+@º°…\u200d\ufe0f", r)
		if !isKnown && !strings.ContainsRune(source, r) {
			return contradicts("“" + string(r) + "” is not in what you cite")
		}
	}
	return Finding{}
}

// findSource finds out whether the sentence has nothing of its sources.
func (p *prover) findSource() Finding {
	const reason = "it says nothing that is in what you cite"
	hasContent := false
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !c.words.isContent(t) {
				continue
			}
			if hasWord(p.source, t) || t.isNumber && p.hasSameNumber(c, i) {
				return Finding{}
			}
			hasContent = true
		}
	}
	if hasContent {
		return unknown(reason)
	}
	return contradicts(reason)
}

// findWord finds a content word that the sources lack.
func (p *prover) findWord() (found Finding) {
	for _, c := range p.said {
		for i, t := range c.tokens {
			if !c.words.isContent(t) || t.isNumber || c.isUnit(i) || p.isKnown(c, i) {
				continue
			}
			reason := "“" + p.asWritten(t) + "” is not in what you cite"
			isOtherDay := t.day >= 0 && !p.namesDay(t.day) && (p.namesDays() || !hasWord(p.asked, t))
			isOtherName := p.names[t.word] && !hasWord(p.asked, t)
			isFree := t.names("free") && !p.namesFree()
			if (isOtherDay || isOtherName) && !c.denies() || isFree {
				return contradicts(reason)
			}
			if found.Outcome == Follows {
				found = unknown(reason)
			}
		}
	}
	return found
}

// namesFree reports whether the sources say in some language that something is free.
func (p *prover) namesFree() bool {
	return slices.ContainsFunc(p.source, func(c clause) bool {
		return slices.ContainsFunc(c.tokens, func(t token) bool { return freeWords()[t.word] })
	})
}

// namesDays reports whether the sources name weekdays.
func (p *prover) namesDays() bool {
	return slices.ContainsFunc(slices.Concat(p.source, p.headings), func(c clause) bool {
		return slices.ContainsFunc(c.tokens, func(t token) bool { return t.day >= 0 || c.words.weekdays[t.word] || c.words.weekend[t.word] })
	})
}

// namesDay reports whether the sources name a weekday in any language: the few words of a row do not tell theirs.
func (p *prover) namesDay(day int) bool {
	return slices.ContainsFunc(p.source, func(c clause) bool {
		return slices.ContainsFunc(c.tokens, func(t token) bool {
			for _, v := range vocabularies() {
				if v.day(t.word) == day {
					return true
				}
			}
			return false
		})
	})
}

// maxQuoted is how many words a number has with its currency or its part of the day.
const maxQuoted = 4

// asWritten returns a word or a number in the words of the sentence, or else in those of its sources or the question: a model does not
// find "44 gbp" in what it wrote as "£44".
func (p *prover) asWritten(t token) string {
	isSame := func(other token) bool {
		return t.isNumber && t.sameValue(other) && t.currency == other.currency || !t.isNumber && t.word == other.word
	}
	for _, text := range append([]string{p.written}, append(p.claim.Units, p.claim.Question)...) {
		words := strings.Fields(spacedMarks.Replace(text))
		for long := 1; long <= maxQuoted; long++ {
			for i := 0; i+long <= len(words); i++ {
				quoted := strings.Trim(strings.Join(words[i:i+long], " "), `.,;:!?()"'“”„«»`)
				read := p.vocabulary().clauses(quoted)
				if len(read) == 1 && len(read[0].tokens) == 1 && isSame(read[0].tokens[0]) {
					return quoted
				}
			}
		}
	}
	return t.written()
}

// spacedMarks puts spaces around the marks that stand between words without any.
var spacedMarks = strings.NewReplacer("-", " - ", "–", " – ", "—", " — ", "/", " / ", "|", " | ")

// isKnown reports whether a word of the sentence stands in its sources, or repeats what the customer said.
func (p *prover) isKnown(c clause, at int) bool {
	t := c.tokens[at]
	return hasWord(p.source, t) || hasWord(p.headings, t) || p.isOfCustomer(c, at)
}

// isOfCustomer reports whether a word repeats what the customer said of himself: it stands in the question, and next to a
// number of the question or in a clause with a fact of the sources; or it is a relative.
func (p *prover) isOfCustomer(c clause, i int) bool {
	t := c.tokens[i]
	if c.words.relatives[t.word] {
		return true
	}
	return hasWord(p.asked, t) && t.day < 0 && !t.names("free") && (p.hasAskedNumber(c, i) || p.hasSourceFact(c))
}

// hasSourceFact reports whether a clause has a word of the sources and a number or a day of theirs: it answers with their fact, in
// words of the question. Without one, the words of the question may be what is asked for, and it says yes to them.
func (p *prover) hasSourceFact(c clause) bool {
	hasFact, hasSourceWord := false, false
	for _, t := range c.tokens {
		isFact := t.isNumber || t.day >= 0
		if !c.words.isContent(t) || !hasWord(p.source, t) {
			continue
		}
		hasFact = hasFact || isFact
		hasSourceWord = hasSourceWord || !isFact
	}
	return hasFact && hasSourceWord
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

// nearestClauses returns the clauses of the sources with the most content words and numbers of a clause.
func (p *prover) nearestClauses(c clause) (nearest []clause) {
	most := 1
	for _, s := range p.source {
		n := 0
		for _, t := range c.tokens {
			if c.words.isContent(t) && s.has(t) {
				n++
			}
		}
		if n > most {
			nearest = nil
			most = n
		}
		if n == most {
			nearest = append(nearest, s)
		}
	}
	return nearest
}

// findMerged finds a part of the sentence that puts a day and the number of another statement together.
func (p *prover) findMerged() Finding {
	for _, c := range p.said {
		for _, s := range c.segments() {
			var facts []token
			days := 0
			for i, t := range s.tokens {
				isFact := t.isNumber && !p.repeatsAsked(s.clause, i) || t.day >= 0
				if !isFact || !hasWord(p.source, t) || hasWord(p.headings, t) {
					continue
				}
				facts = append(facts, t)
				if t.day >= 0 {
					days++
				}
			}
			if days == 1 && !p.isOfOneStatement(facts) {
				return contradicts("you put several statements of what you cite together")
			}
		}
	}
	return Finding{}
}

// isOfOneStatement reports whether a statement of the sources has all facts.
func (p *prover) isOfOneStatement(facts []token) bool {
	return slices.ContainsFunc(p.source, func(s clause) bool {
		return !slices.ContainsFunc(facts, func(t token) bool {
			return !slices.ContainsFunc(p.source, func(other clause) bool { return p.isOneStatement(s, other) && other.has(t) })
		})
	})
}

// isOneStatement reports whether two clauses are of one statement, or of several of which the later begin with a word such
// as "it" that refers to the one before.
func (p *prover) isOneStatement(a, b clause) bool {
	if a.unit != b.unit {
		return false
	}
	for from := min(a.statement, b.statement) + 1; from <= max(a.statement, b.statement); from++ {
		i := slices.IndexFunc(p.source, func(c clause) bool { return c.unit == a.unit && c.statement == from })
		if i < 0 || !p.source[i].words.refers[p.source[i].tokens[0].word] {
			return false
		}
	}
	return true
}

// isUsed reports whether the sentence has a content word of a clause.
func (p *prover) isUsed(s clause) bool {
	return slices.ContainsFunc(p.said, func(c clause) bool { return p.shares(c, s) })
}

// shares reports whether a clause of the sentence has a content word of one of the sources.
func (p *prover) shares(c, s clause) bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.isContent(t) && s.has(t) })
}
