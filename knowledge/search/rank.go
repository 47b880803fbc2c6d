package search

import (
	"cmp"
	"slices"
	"strings"

	"multis/internal/language"
	"multis/store/index"
)

// The parameters of BM25. Neighbouring passages count too, with a lower weight. Words of headings count like those of the
// text; see IndexText. k1, b, minPassageWords, neighbourReach and rerankDepth are also in
// migrations/functions/passages.sql, where Postgres finds the best candidates by them;
// TestRank_ConstantsAreThoseOfPostgres compares both.
const (
	k1              = 1.2
	b               = 0.75
	minPassageWords = 32 // shorter passages count as this long: a chat message is not better for being short

	previousShare = 0.4 // weight of a term that occurs in the passage before
	answerShare   = 0.6 // added to previousShare if the passage before is a question, because this one is its answer
	nextShare     = 0.2 // weight of a term that occurs in the passage after
	distantShare  = 0.3 // weight of a term that occurs two passages away, which in a chat of two people is mostly by the same author
	// maxSharingWords is the length in words from which a passage adds nothing to the scores of its neighbours. A shorter passage adds more.
	maxSharingWords = 100
	questionShare   = 0.6 // factor for what neighbours add to a question, because a question is rarely the answer
	authorFactor    = 1.6 // factor for messages whose author the query names
	neighbourReach  = 2   // passages before and after that count as neighbours

	conversationShare     = 0.05 // share of the scores of other passages of the same conversation that is added
	conversationDecay     = 0.6  // each of these passages, best first, adds this share of what the previous one adds
	maxConversationBoosts = 5
)

// activationShare is the largest share that activation adds to a score. It is small, so that it only decides between passages
// of about the same score.
const activationShare = 0.01

// scored is a passage with its score.
type scored struct {
	id           int64
	score        float64
	coverage     float64 // set by setCoverage
	language     language.Language
	conversation conversation // zero for a passage that is in no conversation
	neighbours   neighbourhood
}

// conversation identifies a conversation: a document of index.KindConversation, or one day of a chat.
type conversation struct {
	doc  int64
	part int
}

// neighbourhood is a passage, in the middle, with the passages before and after it. An entry is nil where the section has none.
type neighbourhood [2*neighbourReach + 1]*index.Passage

// rank returns the matching passages by descending score. Passage.Frequencies covers the leading terms only, because the
// remaining ones occur in no passage.
func rank(passages []index.Passage, terms []Term, words []string, corpus index.Corpus) []*scored {
	slices.SortFunc(passages, func(a, b index.Passage) int { return cmp.Or(cmp.Compare(a.DocID, b.DocID), cmp.Compare(a.Ord, b.Ord)) })
	weights := make([]float64, len(terms))
	for t := range terms {
		weights[t] = terms[t].rankWeight()
	}
	average := averageWords(corpus)
	ranked := make([]*scored, 0, len(passages))
	for i := range passages {
		p := &passages[i]
		near := neighboursOf(passages, i)
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
		s := &scored{id: p.ID, score: score * authorBoost(words, p), language: p.Language, neighbours: near}
		if p.Kind == index.KindConversation {
			s.conversation = conversation{p.DocID, p.Part}
		}
		ranked = append(ranked, s)
	}
	slices.SortFunc(ranked, byScore)
	boostConversations(ranked)
	slices.SortFunc(ranked, byScore)
	return ranked
}

// neighboursOf returns the neighbourhood of passage i. Passages are sorted by document and position.
func neighboursOf(passages []index.Passage, i int) (near neighbourhood) {
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

// setCoverage computes the coverage of each ranked passage.
func setCoverage(ranked []*scored, terms []Term, corpus index.Corpus) {
	for i := range ranked {
		frequencies := ranked[i].neighbours[neighbourReach].Frequencies
		ranked[i].coverage = coverage(terms, corpus.StatsChunks, func(t int) bool { return t < len(frequencies) && frequencies[t] > 0 })
	}
}

// boostConversations raises the score of a passage by the other matches of its conversation. ranked is sorted by score.
func boostConversations(ranked []*scored) {
	scores := map[conversation][]float64{}
	for _, s := range ranked {
		if s.conversation != (conversation{}) && len(scores[s.conversation]) <= maxConversationBoosts {
			scores[s.conversation] = append(scores[s.conversation], s.score)
		}
	}
	rankIn := map[conversation]int{}
	for i, s := range ranked {
		if s.conversation == (conversation{}) {
			continue
		}
		weight := conversationShare
		for j, other := range scores[s.conversation] {
			if j != rankIn[s.conversation] {
				ranked[i].score += weight * other
				weight *= conversationDecay
			}
		}
		rankIn[s.conversation]++
	}
}

// lengthNorm returns the length normalization of BM25 for a passage: the term frequency at which a term has half of its maximum weight.
func lengthNorm(p *index.Passage, average float64) float64 {
	return k1 * (1 - b + b*max(float64(p.Words), minPassageWords)/average)
}

// authorBoost returns the factor for a passage by its author.
func authorBoost(words []string, p *index.Passage) float64 {
	if namesAuthor(words, p.Author) {
		return authorFactor
	}
	return 1
}

func byScore(a, b *scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
}

// averageWords returns the average passage length for BM25.
func averageWords(c index.Corpus) float64 {
	return max(float64(c.StatsWords)/float64(max(c.StatsChunks, 1)), minPassageWords)
}

// rankWeight returns what the term adds to a score at the highest term frequency.
func (t Term) rankWeight() float64 {
	weight := float64(t.Count) * t.IDF * (k1 + 1)
	if t.class == filler && !t.Correction { // a correction is already discounted
		weight *= fillerShare
	}
	return weight
}

// frequency returns the frequency of a term in a passage plus the weighted frequencies of its neighbours. A message is
// understood from the messages around it, and a piece of a section from the rest of the section.
func frequency(near *neighbourhood, term int) float64 {
	p := near[neighbourReach]
	borrowed := 0.0
	for i, n := range near {
		d := i - neighbourReach
		if d == 0 || n == nil || n.Words >= maxSharingWords || n.Frequencies[term] == 0 {
			continue
		}
		share := distantShare
		switch {
		case d == -1 && n.IsQuestion:
			share = previousShare + answerShare
		case d == -1:
			share = previousShare
		case d == 1:
			share = nextShare
		}
		borrowed += share * (1 - float64(n.Words)/maxSharingWords)
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

// coverage returns the share, by support, of the question's terms for which has is true; 0 if no term has support. Stems of
// the same word in several languages count once.
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

// sameWord reports whether o is a stem of the same word of the question, in another language.
func (t Term) sameWord(o Term) bool {
	return !t.Correction && !o.Correction && len(t.words) > 0 && len(o.words) > 0 && t.words[0] == o.words[0]
}

// inAnyLanguage returns a function that reports whether has is true for a term or for the same word in another language.
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

// maxActivation is the largest factor of withActivation.
const maxActivation = 1 + activationShare

// withActivation raises a score by the activation of its passage, which grows with recent use.
func withActivation(score, activation float64) float64 {
	return score * (1 + activationShare*activation/(1+activation))
}
