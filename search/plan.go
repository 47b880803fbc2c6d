package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"

	"multis/store"
)

const (
	// maxTerms is how many terms of a query are scored, the rarest first.
	maxTerms = 32
	// smallScope is the number of passages below which every match is scored: planning would save nothing.
	smallScope = 1500
	// A long question says what it means with many middling words; a short one with its rarest.
	shortQuery, shortPlan, longPlan = 8, 6, 12
	// candidateBudget is about how many passages a planned query should match; below enoughCandidates so many times more may be
	// taken in.
	candidateBudget, enoughCandidates, overBudget = 500, 200, 3
	// mostSets of words are looked for: a query of many takes long to evaluate.
	mostSets = 8
	// mostRaised is how many sets of up to raisedWords words are looked for with one of them standing there several times, and
	// the shares are how many of the passages with a common word are expected to hold it so often.
	mostRaised, raisedWords, raisedBudget      = 4, 3, 1000
	twiceShare, bothTwiceShare, fourTimesShare = 0.2, 0.08, 0.03
	// anchorChunks is how many index entries the rarest words of a plan may have together.
	anchorChunks = 8_000
	// togetherness is how much more often than by chance two words of one question stand together.
	togetherness = 2
)

// anyOf is the tsquery that matches every passage with one of the terms. Terms must not be empty.
func anyOf(terms []Term) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = t.query()
	}
	return strings.Join(quoted, "|")
}

// query is the tsquery for this term alone.
func (t Term) query() string {
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(t.Lexeme) + "'"
}

// plan is a tsquery that matches most of the passages that can rank high and few others. Terms are in order of rarity;
// scope is the number of passages searched, chunks the number that the terms' counts refer to. Where words are so common
// that too many passages hold them, those that hold one of them several times stand for all, if raise says that the index
// knows them; raised says that this was done, and that others might be needed after all.
func plan(terms []Term, scope, chunks int64, raise bool) (query string, raised bool) {
	if scope < smallScope {
		return anyOf(terms), false
	}
	limit := shortPlan
	if len(terms) > shortQuery {
		limit = longPlan
	}
	terms = terms[:min(len(terms), limit)]
	sets := combinations(terms, anchors(terms, scope, chunks), scope, chunks)

	taken, total := loners(terms, scope, chunks)
	next := 0
	for ; next < len(sets); next++ {
		s := sets[next]
		if slices.ContainsFunc(taken, func(k uint) bool { return s.members&k == k }) {
			continue // whoever matches it matches that one, too
		}
		most := float64(candidateBudget)
		if total < enoughCandidates {
			most *= overBudget
		}
		if total+s.expected > most && (raise || len(taken) > 0) {
			break
		}
		if more := minimal(append(slices.Clone(taken), s.members)); len(more) <= mostSets {
			taken, total = more, total+s.expected
		}
	}
	parts := conjunctions(terms, taken)
	if raise {
		above := raisedSets(terms, sets[next:], len(taken) == 0)
		parts, raised = append(parts, above...), len(above) > 0
	}
	if len(parts) == 0 {
		parts = conjunctions(terms, []uint{sets[0].members})
	}
	return strings.Join(parts, "|"), raised
}

// loners are the terms that are so rare that all passages with one of them can be looked at.
func loners(terms []Term, scope, chunks int64) (sets []uint, total float64) {
	for i, t := range terms {
		expected := float64(max(t.Chunks, 1)) * float64(scope) / float64(max(chunks, 1))
		if total+expected > candidateBudget/2 {
			break
		}
		sets, total = append(sets, 1<<i), total+expected
	}
	return sets, total
}

// raisedSets are sets of which too many passages hold each word once: one of their words has to stand there more often. Sets
// of many words are not among them: the query must not take longer to evaluate than the passages it saves. If there is nothing
// else to look for, the first is taken at any rate.
func raisedSets(terms []Term, sets []combination, alone bool) (parts []string) {
	budget := float64(raisedBudget)
	for _, s := range sets[:min(len(sets), mostRaised)] {
		if bits.OnesCount(s.members) > raisedWords {
			continue
		}
		for i := range terms {
			if s.members&(1<<i) == 0 {
				continue
			}
			switch {
			case s.expected*twiceShare <= budget:
				budget -= s.expected * twiceShare
				parts = append(parts, conjunction(terms, s.members, 1<<i, store.Twice))
			case s.expected*fourTimesShare <= budget || alone && len(parts) == 0:
				budget -= s.expected * fourTimesShare
				parts = append(parts, conjunction(terms, s.members, 1<<i, store.FourTimes))
				if others := s.members &^ (1<<(i+1) - 1); others != 0 && s.expected*bothTwiceShare <= budget {
					other := others & -others
					budget -= s.expected * bothTwiceShare
					parts = append(parts, conjunction(terms, s.members, 1<<i|other, store.Twice))
				}
			}
		}
	}
	return parts
}

// anchors marks the rarest terms, one of which every candidate must hold: walking the index entries of a common word is
// what makes a search slow.
func anchors(terms []Term, scope, chunks int64) uint {
	allowed := anchorChunks * float64(max(chunks, 1)) / float64(scope)
	var marked uint
	var sum float64
	for i, t := range terms {
		sum += float64(t.Chunks)
		if i > 0 && sum > allowed && sum-float64(t.Chunks) >= allowed/10 {
			break
		}
		marked |= 1 << i
	}
	return marked
}

// combination is a set of terms, as bits, that a passage may hold exactly.
type combination struct {
	members  uint
	weight   float64
	expected float64 // passages that hold these terms and none of the others
}

// combinations lists the sets of terms with an anchor in them, the most telling first.
func combinations(terms []Term, anchored uint, scope, chunks int64) []combination {
	share := make([]float64, len(terms))
	for i, t := range terms {
		share[i] = min(float64(max(t.Chunks, 1))/float64(max(chunks, 1)), 1)
	}
	var sets []combination
	for members := uint(1); members < 1<<len(terms); members++ {
		if members&anchored == 0 {
			continue
		}
		c := combination{members: members, expected: float64(scope) / togetherness}
		for i, t := range terms {
			if members&(1<<i) != 0 {
				c.weight += t.IDF
				c.expected *= share[i] * togetherness
			} else {
				c.expected *= 1 - share[i]
			}
		}
		c.expected = math.Min(c.expected, float64(scope))
		sets = append(sets, c)
	}
	slices.SortFunc(sets, func(a, b combination) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.members, b.members))
	})
	return sets
}

// minimal drops the sets that hold another one: whoever matches them matches that one too.
func minimal(sets []uint) []uint {
	slices.SortFunc(sets, func(a, b uint) int {
		return cmp.Or(cmp.Compare(bits.OnesCount(a), bits.OnesCount(b)), cmp.Compare(a, b))
	})
	var kept []uint
	for _, s := range sets {
		if !slices.ContainsFunc(kept, func(k uint) bool { return s&k == k }) {
			kept = append(kept, s)
		}
	}
	return kept
}

// conjunctions writes each set of terms as a tsquery.
func conjunctions(terms []Term, sets []uint) (parts []string) {
	for _, s := range sets {
		parts = append(parts, conjunction(terms, s, 0, ""))
	}
	return parts
}

// conjunction is the tsquery for passages with all terms of a set, some of them with a mark.
func conjunction(terms []Term, set, marked uint, mark string) string {
	var together []string
	for i, t := range terms {
		if set&(1<<i) == 0 {
			continue
		}
		if marked&(1<<i) != 0 {
			t.Lexeme += mark
		}
		together = append(together, t.query())
	}
	return "(" + strings.Join(together, "&") + ")"
}
