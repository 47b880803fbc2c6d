package proof

import (
	"slices"
	"strings"
	"unicode"
)

// deedCheck finds what a sentence must not say whatever it cites: what the assistant did or will do, and comfort.
type deedCheck struct{ *prover }

// findDeed finds words by which the assistant says that it did or will do something, unless its source has them. The passive
// may be a deed or a rule.
func (p deedCheck) findDeed() Finding {
	const advice = ": say nothing that you did or that somebody will do"
	if deed := p.findPhrase(p.vocabulary().deeds); deed != "" {
		return contradicts("“" + deed + "”" + advice)
	}
	if deed := p.findDeedEnding(); deed != "" {
		return contradicts("“" + deed + "”" + advice)
	}
	if deed := p.findPhrase(p.vocabulary().passives); deed != "" {
		return unknown("“" + deed + "”" + advice)
	}
	return Finding{}
}

// findDeedEnding returns a verb in the first person of the past or the future, by its ending, that the sources and the question lack;
// empty if there is none.
func (p deedCheck) findDeedEnding() string {
	const least = 3 // letters before an ending
	v := p.vocabulary()
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	known := words(p.claim.Question + " " + strings.Join(p.claim.Units, " "))
	said := words(p.claim.Sentence)
	for i, w := range said {
		ending := slices.IndexFunc(v.endings, func(e string) bool { return len(w) >= least+len(e) && strings.HasSuffix(w, e) })
		isNoun := ending >= 0 && v.precedeNoun(said[:i])
		if ending >= 0 && !isNoun && !v.isFunction(fold(w)) && !slices.Contains(known, w) {
			return w
		}
	}
	return ""
}

// precedeNoun reports whether behind some words stands a noun and no verb: the last one is a preposition, or an adjective behind one, as
// in the Polish "z naszym" before "zespołem".
func (v *vocabulary) precedeNoun(words []string) bool {
	isAdjective := func(word string) bool {
		return slices.ContainsFunc(v.adjectives, func(ending string) bool { return strings.HasSuffix(word, ending) })
	}
	n := len(words)
	if n > 1 && isAdjective(words[n-1]) {
		n--
	}
	return n > 0 && v.beforeNoun[fold(words[n-1])]
}

// findChoice finds a part of the sentence that says that something is done where its sources say only that it can be: "your booking is
// being changed" of "a booking can be changed". What another part of the sentence says can be holds only for what it is about.
func (p deedCheck) findChoice() Finding {
	const least = 2 // words that are no facts: the thing, and what is done to it
	isOpen := func(c clause) bool {
		return slices.ContainsFunc(c.tokens, func(t token) bool { return c.words.may[t.word] })
	}
	var done []clause      // parts that do not say "can"
	open := map[int]bool{} // the units that the others rest on
	for _, c := range p.said {
		goesOn := false // with a part that says "can"
		for _, s := range c.segments() {
			goesOn = goesOn || isOpen(s.clause)
			if goesOn {
				for _, near := range p.nearestClauses(s.clause) {
					open[near.unit] = true
				}
			} else {
				done = append(done, s.clause)
			}
		}
	}
	for _, c := range done {
		near := p.nearestClauses(c)
		if slices.ContainsFunc(near, func(s clause) bool { return open[s.unit] }) {
			continue
		}
		shared := 0
		for i, t := range c.tokens {
			if c.words.isContent(t) && !c.isFact(i) && hasWord(near, t) {
				shared++
			}
		}
		isDone := func(s clause) bool { return !isOpen(s) }
		if shared >= least && !c.denies() && !slices.ContainsFunc(near, isDone) {
			return unknown("what you cite says that this can be, not that it is so")
		}
	}
	return Finding{}
}

// findComfort finds words that reassure, such as "no danger", where the sources have nothing of them.
func (p deedCheck) findComfort() Finding {
	isOfSource := func(word string) bool {
		t := p.vocabulary().token(word, false)
		return p.vocabulary().isContent(t) && hasWord(p.source, t)
	}
	for _, comfort := range p.vocabulary().comfort {
		phrase := p.findPhrase([]string{comfort})
		if phrase != "" && !slices.ContainsFunc(strings.Fields(phrase), isOfSource) {
			return contradicts("“" + phrase + "”: reassure nobody where what you cite does not")
		}
	}
	return Finding{}
}

// findPhrase returns a phrase that the sentence has and its sources lack; empty if there is none.
func (p deedCheck) findPhrase(phrases []string) string {
	said, source := wordsOnly(p.claim.Sentence), wordsOnly(strings.Join(p.claim.Units, " . "))
	for _, phrase := range phrases {
		if words := wordsOnly(phrase); strings.Contains(said, words) && !strings.Contains(source, words) {
			return strings.TrimSpace(words)
		}
	}
	return ""
}
