package proof

import "slices"

// maxTitle is the maximum length of a title that denies, in bytes.
const maxTitle = 200

// Denial reports whether a title denies what stands under it, as "What we do not do" does: it has a word such as "not", and at most so
// many others with content. One such as "no" or "without" denies only the word behind it ("No-show", "Without an appointment"). passage is
// where the title stands: its few words may not tell its language.
func Denial(title, passage string, most int) bool {
	if len(title) > maxTitle {
		return false
	}
	v := vocabularyOf(title, vocabularyOf(passage, nil))
	denies := false
	own := 0
	for _, c := range v.clauses(title) {
		for _, t := range c.tokens {
			switch {
			case v.negative[t.word]:
				denies = denies || !v.none[t.word]
			case v.isContent(t):
				own++
			}
		}
	}
	return denies && own <= most
}

// findUnderDenial finds that a title denies what the sentence cites: whether the sentence denies it, too, only a judge can say.
func (p denialCheck) findUnderDenial() Finding {
	reason := "“" + p.claim.Denied + "” stands above what you cite; say that, too"
	if slices.ContainsFunc(p.said, clause.denies) {
		return unknown(reason)
	}
	return contradicts(reason)
}
