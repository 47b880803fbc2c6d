package proof

import "slices"

// Limits reports whether a line limits the line before it and is about nothing else: it begins with a word such as "only" or "except",
// or with one such as "from", "under" or "not" and has hardly a word of its own beside facts. One with a price is the next of a list.
// passage is where it stands: the few words of the line may not tell its language.
func Limits(line, passage string) bool {
	const most = 1 // words that are no facts
	v := vocabularyOf(line, vocabularyOf(passage, nil))
	clauses := v.clauses(line)
	if len(clauses) == 0 || slices.ContainsFunc(clauses, clause.hasPrice) {
		return false
	}
	own := 0
	for _, c := range clauses {
		for i, t := range c.tokens {
			if v.isContent(t) && !c.isFact(i) {
				own++
			}
		}
	}
	first := clauses[0].tokens[0].word
	begins := v.lower[first] || v.upper[first] || v.from[first] || v.until[first] || v.negative[first] && !v.none[first]
	return v.restricts(first) || begins && (own <= most || slices.ContainsFunc(clauses, clause.limits))
}

// Restricts reports whether a line begins with a word such as "only" or "except". passage is where it stands.
func Restricts(line, passage string) bool {
	v := vocabularyOf(line, vocabularyOf(passage, nil))
	clauses := v.clauses(line)
	return len(clauses) > 0 && v.restricts(clauses[0].tokens[0].word)
}

func (v *vocabulary) restricts(word string) bool { return v.only[word] || v.except[word] }

// hasPrice reports whether a clause has an amount of money, or says that something is free.
func (c clause) hasPrice() bool {
	return slices.ContainsFunc(c.tokens, func(t token) bool { return t.currency != "" && t.currency != "percent" || t.names("free") })
}

// findBeside finds a limit beside what the sentence cites that it says nothing of, and that the question leaves open.
func (p wholeCheck) findBeside() Finding {
	known := slices.Concat(p.said, p.asked)
	isDate := func(t token) bool { return t.day >= 0 || t.month >= 0 }
	namesDate := slices.ContainsFunc(known, func(c clause) bool { return slices.ContainsFunc(c.tokens, isDate) })
	for _, line := range p.claim.Beside {
		for _, s := range vocabularyOf(line, p.vocabulary()).clauses(line) {
			for i, t := range s.tokens {
				if s.says(i) && !(namesDate && isDate(t)) && !p.isSaid(s, i, known) {
					return unknown("the next line limits this: “" + line + "”; say and cite it, too")
				}
			}
		}
	}
	return Finding{}
}
