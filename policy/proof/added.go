package proof

import "slices"

// findAdded finds a part of the sentence with nothing of its sources, behind parts that say all of them: it can mean nothing that is
// there. Before them stands courtesy, and an "if you like" says nothing.
func (p wholeCheck) findAdded() Finding {
	var parts []clause
	for _, c := range p.said {
		for _, s := range c.segments() {
			parts = append(parts, s.clause)
		}
	}
	for i, part := range parts {
		word := p.foreignWord(part)
		if word.word == "" || part.beginsCondition() || !slices.ContainsFunc(parts[:i], p.isOfSource) {
			continue
		}
		if others := slices.Delete(slices.Clone(parts), i, i+1); p.isAllSaid(others) {
			return contradicts("“" + p.asWritten(word) + "” is not in what you cite, and you say all of that without it")
		}
	}
	return Finding{}
}

// isOfSource reports whether a part of the sentence has a content word of the sources.
func (p wholeCheck) isOfSource(part clause) bool { return len(p.sourceWords(part)) > 0 }

// beginsCondition reports whether a word such as "if" begins a clause.
func (c clause) beginsCondition() bool {
	return !c.limits() && slices.ContainsFunc(c.tokens[:min(len(c.tokens), 2)], func(t token) bool { return c.words.condition[t.word] })
}

// foreignWord returns the first content word of a part of the sentence that has none of the sources, the headings and the question;
// the zero token if it has one of them.
func (p wholeCheck) foreignWord(part clause) (first token) {
	known := slices.Concat(p.source, p.headings, p.asked)
	for _, t := range part.tokens {
		switch {
		case !part.words.isContent(t):
		case t.isNumber || hasWord(known, t):
			return token{}
		case first.word == "":
			first = t
		}
	}
	return first
}

// isAllSaid reports whether some parts of the sentence say all of the sources: each content word but the names of columns.
func (p wholeCheck) isAllSaid(parts []clause) bool {
	for _, s := range p.source {
		for i, t := range s.tokens {
			if i >= s.name && s.words.isContent(t) && !p.isSaid(s, i, parts) {
				return false
			}
		}
	}
	return true
}
