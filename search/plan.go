package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"multis/store"
)

const (
	// maxTerms is how many terms of a query are scored, the rarest first.
	maxTerms = 32
	// smallScope is the number of passages below which every match is scored: planning would save nothing.
	smallScope = 1500
	// A long question says what it means with many middling words, a short one with its rarest.
	shortQuery, shortPlan, longPlan = 8, 6, 12
	// maxCells bounds how many cells a plan weighs.
	maxCells = 4096
	// candidateBudget is about how many passages a planned query should match; below enoughCandidates so many times more may be
	// taken in, and secondBudget times more where the first query found too few.
	candidateBudget, enoughCandidates, overBudget, secondBudget = 400, 150, 3, 10
	// A cell with fewer passages than negligible is not worth a set of its own.
	negligible = 0.05
	// maxSets of words are looked for, and no more once they find enoughGain of what is wanted: a query of many takes long to evaluate.
	maxSets, enoughGain = 14, 0.9
	// maxWork bounds the index entries that are read, and lookupCost is what looking for one takes, beside reading it.
	maxWork, lookupCost = 3_000_000, 11
	// From so many index entries on, two connections share the sets of a search that runs alone. The server works a tenth more for it.
	minSplitWork = 300_000
)

// anyOf is the tsquery that matches every passage with one of the terms. Terms must not be empty.
func anyOf(terms []Term) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = t.query(0)
	}
	return strings.Join(quoted, "|")
}

// query is the tsquery for this term alone, standing in a passage at least as often as level says.
func (t Term) query(level uint8) string {
	lexeme := t.Lexeme
	if level > 1 {
		lexeme += store.Marks[level-2].Lexeme
	}
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(lexeme) + "'"
}

// A cell is how often each planned term stands in a passage: 0 for not at all, 1 for once or more, each further one for the
// next of store.Marks.
type cell [longPlan]uint8

// within tells whether every passage of cell c is matched by who asks for the passages of s or more.
func (c cell) within(s cell) bool {
	for i := range s {
		if s[i] > c[i] {
			return false
		}
	}
	return true
}

// weightedCell is a cell with what a passage in it scores, about, and how many passages are expected in it.
type weightedCell struct {
	cell
	score, expected float64
	worth           float64 // of finding them: less, the more there are that score higher
}

// A set is tsqueries that a passage must match all of, and the work to find those that do.
type set struct {
	queries []string
	work    int64
}

// plan is sets that match most of the passages that can rank high and few others: about budget. Terms are in order of
// rarity; scope is the number of passages searched, chunks the number that the terms' counts refer to. The cells are taken
// in order of their score, so that what is taken is what scores more than some bound; of sets that hold one another the
// smallest are asked for.
func plan(terms []Term, scope, chunks int64, budget float64) []set {
	if scope < smallScope {
		return []set{{queries: []string{anyOf(terms)}}}
	}
	limit := shortPlan
	if len(terms) > shortQuery {
		limit = longPlan
	}
	terms = terms[:min(len(terms), limit)]
	taken, total := rareTerms(terms, scope, chunks, budget)
	var wanted []weightedCell
	for _, w := range listCells(terms, scope, chunks) {
		most := budget
		if total < budget*enoughCandidates/candidateBudget {
			most *= overBudget
		}
		if total+w.expected > most && len(taken)+len(wanted) > 0 {
			break
		}
		if !slices.ContainsFunc(taken, w.within) {
			w.worth = w.expected / (1 + total/rerankDepth)
			wanted, total = append(wanted, w), total+w.expected
		}
	}
	taken = append(taken, chooseSets(terms, wanted, maxSets-len(taken), maxWork*chunks/scope)...)
	sets := make([]set, len(taken))
	for i, c := range taken {
		sets[i] = set{c.queries(terms), work(terms, c)}
	}
	return sets
}

// shared is sets in two parts that take about as long to find, the longer one first, if that is worth it; otherwise in one.
func splitSets(sets []set) [][]set {
	var whole int64
	for _, s := range sets {
		whole += s.work
	}
	if whole < minSplitWork || len(sets) < 2 {
		return [][]set{sets}
	}
	var parts [2][]set
	var sum [2]int64
	for _, s := range slices.SortedStableFunc(slices.Values(sets), func(a, b set) int { return cmp.Compare(b.work, a.work) }) {
		lighter := 0
		if sum[1] < sum[0] {
			lighter = 1
		}
		parts[lighter], sum[lighter] = append(parts[lighter], s), sum[lighter]+s.work
	}
	if sum[1] > sum[0] {
		parts[0], parts[1] = parts[1], parts[0]
	}
	return parts[:]
}

// rareTerms are the terms that are so rare that all passages with one of them can be looked at.
func rareTerms(terms []Term, scope, chunks int64, budget float64) (sets []cell, total float64) {
	for i, t := range terms {
		expected := float64(max(t.Chunks, 1)) * float64(scope) / float64(max(chunks, 1))
		if total+expected > budget/2 {
			break
		}
		var alone cell
		alone[i] = 1
		sets, total = append(sets, alone), total+expected
	}
	return sets, total
}

// cells lists the cells in which passages are expected, the best first. Words are taken to stand together by chance: where they
// do so more often, more is found than is needed, while expecting that would leave good passages out where they do not. How often
// a word stands in a passage is not told apart if it is rare, nor, of many words, for the commoner ones.
func listCells(terms []Term, scope, chunks int64) []weightedCell {
	list := []weightedCell{{expected: float64(scope)}}
	for i, t := range terms {
		n := float64(max(chunks, 1))
		counts := []int64{max(t.Chunks, 1)}
		if t.Chunks > candidateBudget {
			for _, often := range t.Often {
				if often > 0 {
					counts = append(counts, often)
				}
			}
		}
		if rest := len(terms) - i - 1; len(list)*(len(counts)+1)<<rest > maxCells {
			counts = counts[:1]
		}
		next := make([]weightedCell, 0, len(list)*(len(counts)+1))
		for _, w := range list {
			without := w
			without.expected *= 1 - min(float64(counts[0])/n, 1)
			next = append(next, without)
			for l, count := range counts {
				with := w
				with.cell[i] = uint8(l + 1)
				stands := 1.0
				if l > 0 {
					stands = store.Marks[l-1].Least
				}
				with.score += t.rankWeight() * stands / (stands + k1)
				exactly := float64(count)
				if l+1 < len(counts) {
					exactly -= float64(counts[l+1])
				}
				with.expected *= min(exactly/n, 1)
				next = append(next, with)
			}
		}
		list = next
	}
	list = slices.DeleteFunc(list, func(w weightedCell) bool { return w.cell == cell{} || w.expected < negligible })
	slices.SortFunc(list, func(a, b weightedCell) int {
		return cmp.Or(cmp.Compare(b.score, a.score), slices.Compare(a.cell[:], b.cell[:]))
	})
	return list
}

// work is about how long it takes to find the passages of a set, in index entries that are read: all those of each word, and
// those of the rarest are looked for among the others.
func work(terms []Term, set cell) (sum int64) {
	rarest, words := int64(math.MaxInt64), int64(0)
	for i, level := range set {
		if level > 0 {
			n := terms[i].chunksAt(level)
			rarest, words, sum = min(rarest, n), words+1, sum+n
		}
	}
	return sum + rarest*words*lookupCost
}

// standing is in how many passages the term stands as often as level says.
func (t Term) chunksAt(level uint8) int64 {
	if level > 1 {
		return t.Often[level-2]
	}
	return t.Chunks
}

// choose picks some of the smallest sets that match wanted, those first that match the most for the work they make, until they
// match enough; one at least, if there is any.
func chooseSets(terms []Term, wanted []weightedCell, most int, allowed int64) (chosen []cell) {
	smallest := slices.DeleteFunc(slices.Clone(wanted), func(w weightedCell) bool {
		return slices.ContainsFunc(wanted, func(o weightedCell) bool { return o.cell != w.cell && w.within(o.cell) })
	})
	negligibleRest := (1 - enoughGain) * totalWorth(wanted)
	for len(chosen) < most && (len(chosen) == 0 || totalWorth(wanted) > negligibleRest) {
		var best cell
		var bestWork int64
		var bestGain float64
		for _, s := range smallest {
			var gain float64
			for _, w := range wanted {
				if w.within(s.cell) {
					gain += w.worth
				}
			}
			cost := work(terms, s.cell)
			if (cost <= allowed || len(chosen) == 0) && gain/float64(cost) > bestGain/float64(max(bestWork, 1)) {
				best, bestWork, bestGain = s.cell, cost, gain
			}
		}
		if bestGain == 0 {
			break
		}
		chosen, allowed = append(chosen, best), allowed-bestWork
		wanted = slices.DeleteFunc(wanted, func(w weightedCell) bool { return w.within(best) })
	}
	return chosen
}

func totalWorth(list []weightedCell) (sum float64) {
	for _, w := range list {
		sum += w.worth
	}
	return sum
}

// queries are the tsqueries that match a passage where each term stands as often as in c, or more.
func (c cell) queries(terms []Term) (list []string) {
	for i, t := range terms {
		if c[i] > 0 {
			list = append(list, t.query(c[i]))
		}
	}
	return list
}
