package search

import (
	"cmp"
	"slices"
	"strings"

	"multis/language"
	"multis/store"
)

// BM25, over the words of a passage and, in a conversation, those of the passages around it, weaker.
const (
	k1              = 1.2
	b               = 0.75
	minPassageWords = 32 // shorter passages count as this long: a chat turn is not better for being short

	before         = 0.4 // what a word counts that stands in the passage before
	answers        = 0.6 // more, if that one is a question: then this one is the answer
	after          = 0.2
	further        = 0.3 // two before or after: in a chat of two, the same speaker
	reachWords     = 100 // the shorter a passage, the more it tells about its neighbours; one of so many words tells nothing
	questionShare  = 0.6 // a question borrows less: it is rarely the answer itself
	authorFactor   = 1.6 // for what somebody named in the query said
	neighbourReach = 2

	conversationShare     = 0.05 // what a conversation's other passages add to one of them: it is about the same
	conversationDecay     = 0.6  // the second best of them counts less than the best, and so on
	maxConversationBoosts = 5
)

// activationShare is what activation adds to a score at the most: it decides between passages that are as good, and never lifts one
// above a better one.
const activationShare = 0.01

type scored struct {
	id       int64
	score    float64
	coverage float64 // set by cover
	language language.Language
	company  conversation // zero for a document
	near     neighbourhood
}

// conversation is what was said together: a document of that kind, or a day of a chat.
type conversation struct {
	doc  int64
	part int
}

// neighbourhood is a passage, in the middle, with those around it; nil where there is none in its section.
type neighbourhood [2*neighbourReach + 1]*store.Passage

// rank orders passages by score, without those that nothing speaks for. Passages count the frequencies of the first terms;
// the others stand nowhere.
func rank(passages []store.Passage, terms []Term, words []string, corpus store.Corpus) []*scored {
	slices.SortFunc(passages, func(a, b store.Passage) int { return cmp.Or(cmp.Compare(a.DocID, b.DocID), cmp.Compare(a.Ord, b.Ord)) })
	weights := make([]float64, len(terms))
	for t := range terms {
		weights[t] = terms[t].rankWeight()
	}
	average := averageWords(corpus)
	ranked := make([]*scored, 0, len(passages))
	for i := range passages {
		p := &passages[i]
		near := around(passages, i)
		score := 0.0
		norm := lengthNorm(p, average)
		for t := range p.Frequencies {
			if x := frequency(&near, t); x > 0 {
				score += weights[t] * x / (x + norm)
			}
		}
		if score == 0 {
			continue
		}
		s := &scored{id: p.ID, score: score * authorBoost(words, p), language: p.Language, near: near}
		if p.Kind == store.KindConversation {
			s.company = conversation{p.DocID, p.Part}
		}
		ranked = append(ranked, s)
	}
	slices.SortFunc(ranked, byScore)
	boostConversations(ranked)
	slices.SortFunc(ranked, byScore)
	return ranked
}

// around is the neighbourhood of passage i. Passages are in order of document and place.
func around(passages []store.Passage, i int) (near neighbourhood) {
	p := &passages[i]
	near[neighbourReach] = p
	for _, step := range []int{-1, 1} {
		for j := i + step; j >= 0 && j < len(passages); j += step {
			n := &passages[j]
			d := n.Ord - p.Ord
			if n.DocID != p.DocID || d < -neighbourReach || d > neighbourReach {
				break
			}
			if n.Part == p.Part && d != 0 {
				near[d+neighbourReach] = n
			}
		}
	}
	return near
}

// cover finds out how much of the question stands in each of the ranked.
func setCoverage(ranked []*scored, terms []Term, corpus store.Corpus) {
	for i := range ranked {
		frequencies := ranked[i].near[neighbourReach].Frequencies
		ranked[i].coverage = coverage(terms, corpus.StatsChunks, func(t int) bool { return t < len(frequencies) && frequencies[t] > 0 })
	}
}

// boostConversations raises what was said in a conversation by what else was said there. ranked is in order of score.
func boostConversations(ranked []*scored) {
	said := map[conversation][]float64{}
	for _, s := range ranked {
		if s.company != (conversation{}) && len(said[s.company]) <= maxConversationBoosts {
			said[s.company] = append(said[s.company], s.score)
		}
	}
	place := map[conversation]int{}
	for i, s := range ranked {
		if s.company == (conversation{}) {
			continue
		}
		weight := conversationShare
		for j, other := range said[s.company] {
			if j != place[s.company] {
				ranked[i].score += weight * other
				weight *= conversationDecay
			}
		}
		place[s.company]++
	}
}

// lengthNorm is the frequency at which a term of this passage counts half of what it can.
func lengthNorm(p *store.Passage, average float64) float64 {
	return k1 * (1 - b + b*max(float64(p.Words), minPassageWords)/average)
}

// authorShare is what a passage's score is multiplied with for who said it.
func authorBoost(words []string, p *store.Passage) float64 {
	if namesAuthor(words, p.Author) {
		return authorFactor
	}
	return 1
}

func byScore(a, b *scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
}

// averageWords is the length of an average passage, as BM25 uses it.
func averageWords(c store.Corpus) float64 {
	return max(float64(c.StatsWords)/float64(max(c.StatsChunks, 1)), minPassageWords)
}

// rankWeight is what a saturated match of the term adds to a score.
func (t Term) rankWeight() float64 {
	weight := float64(t.Count) * t.IDF * (k1 + 1)
	if t.weight == filler && !t.Correction { // a correction is already discounted
		weight *= fillerShare
	}
	return weight
}

// frequency is how often a term stands in a passage, and what its neighbours add to that. What people say is understood
// from what was said around it, and so are the pieces of one section; two sections each speak for themselves.
func frequency(near *neighbourhood, term int) float64 {
	p := near[neighbourReach]
	borrowed := 0.0
	for i, n := range near {
		d := i - neighbourReach
		if d == 0 || n == nil || n.Words >= reachWords || n.Frequencies[term] == 0 {
			continue
		}
		share := further
		switch {
		case d == -1 && n.IsQuestion:
			share = before + answers
		case d == -1:
			share = before
		case d == 1:
			share = after
		}
		borrowed += share * (1 - float64(n.Words)/reachWords)
	}
	if p.IsQuestion {
		borrowed *= questionShare
	}
	return float64(p.Frequencies[term]) + borrowed
}

func namesAuthor(words []string, author string) bool {
	for name := range strings.FieldsSeq(author) {
		if slices.Contains(words, name) {
			return true
		}
	}
	return false
}

// coverage is the share of what the question is about that has says yes to; 0 if it is about nothing in particular. Words
// that stand for the same one of the question in several languages count once.
func coverage(terms []Term, chunks int64, has func(term int) bool) float64 {
	var all, covered float64
	for i, t := range terms {
		if slices.ContainsFunc(terms[:i], t.sameWord) {
			continue
		}
		s := t.support(chunks)
		all += s
		if inAnyLanguage(terms, has)(i) {
			covered += s
		}
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// sameWord tells whether o is the same word of the question, in another language.
func (t Term) sameWord(o Term) bool {
	return !t.Correction && !o.Correction && len(t.words) > 0 && len(o.words) > 0 && t.words[0] == o.words[0]
}

// inAnyLanguage is has for words that may be there in another language.
func inAnyLanguage(terms []Term, has func(term int) bool) func(term int) bool {
	return func(i int) bool {
		if has(i) {
			return true
		}
		for j := range terms {
			if terms[i].sameWord(terms[j]) && has(j) {
				return true
			}
		}
		return false
	}
}

// maxActivation is what withActivation multiplies with at the most.
const maxActivation = 1 + activationShare

// withActivation raises the score of a passage that was used lately.
func withActivation(score, activation float64) float64 {
	return score * (1 + activationShare*activation/(1+activation))
}
