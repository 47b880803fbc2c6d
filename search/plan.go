package search

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
)

const (
	// maxTerms is how many terms of a query are scored, the rarest first.
	maxTerms = 32
	// smallScope is the number of passages below which every match is scored: planning would save nothing.
	smallScope = 1500
	// A long question says what it means with many middling words; a short one with its rarest.
	shortQuery, shortPlan, longPlan = 8, 6, 12
	// candidateBudget is about how many passages a planned query should match; below enoughCandidates more are taken in.
	candidateBudget, enoughCandidates = 800, 200
	// anchorChunks is how many index entries the rarest words of a plan may have together.
	anchorChunks = 15_000
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
// scope is the number of passages searched, chunks the number that the terms' counts refer to.
func plan(terms []Term, scope, chunks int64) string {
	if scope < smallScope {
		return anyOf(terms)
	}
	limit := shortPlan
	if len(terms) > shortQuery {
		limit = longPlan
	}
	terms = terms[:min(len(terms), limit)]
	anchored := anchors(terms, scope, chunks)
	sets := combinations(terms, anchored, scope, chunks)

	var taken []uint
	total := 0.0
	for _, s := range sets {
		over := total+s.expected > candidateBudget
		if len(taken) > 0 && over && (total >= enoughCandidates || total+s.expected > 8*candidateBudget) {
			break
		}
		total += s.expected
		taken = append(taken, s.members)
	}
	return disjunction(terms, minimal(taken))
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

// disjunction writes sets of terms as a tsquery.
func disjunction(terms []Term, sets []uint) string {
	var parts []string
	for _, s := range sets {
		var together []string
		for i, t := range terms {
			if s&(1<<i) != 0 {
				together = append(together, t.query())
			}
		}
		parts = append(parts, "("+strings.Join(together, "&")+")")
	}
	return strings.Join(parts, "|")
}
