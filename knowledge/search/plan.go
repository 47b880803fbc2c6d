package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"multis/store/index"
)

const (
	// maxTerms is how many terms of a query are scored, rarest first.
	maxTerms = 32
	// smallScope is the number of passages below which every match is scored, because planning would save nothing.
	smallScope = 1500
	// A query of up to shortQuery terms is planned with its shortPlan rarest terms, a longer one with longPlan of them, because
	// there many terms of medium rarity carry the meaning.
	shortQuery, shortPlan, longPlan = 8, 6, 12
	// maxCells limits the cells that a plan considers.
	maxCells = 4096
	// A plan aims at candidateBudget matching passages. It may exceed that by the factor overBudget while it expects fewer than
	// enoughCandidates, and by the factor secondBudget if the first request found too few.
	candidateBudget, enoughCandidates, overBudget, secondBudget = 400, 150, 3, 10
	// Words that often occur together match more than expected. No further set is evaluated once the sets have found
	// stopFactor times the budget.
	stopFactor = 4
	// negligible is the expected number of passages below which a cell is left out.
	negligible = 0.05
	// A plan has at most maxSets term sets, because evaluating many takes long. It has fewer if they already match the share
	// enoughGain of the wanted passages.
	maxSets, enoughGain = 10, 0.9
	// maxWork bounds the index entries that a plan reads. Finding an entry costs as much as reading lookupCost entries.
	maxWork, lookupCost = 2_000_000, 11
	// minSplitWork is the number of index entries from which a search that runs alone uses two connections, each for some of the
	// sets. Splitting costs Postgres a tenth more work in total.
	minSplitWork = 300_000
)

// anyTermQuery returns the tsquery that matches every passage with at least one of the terms, which must not be empty.
func anyTermQuery(terms []Term) string {
	quoted := make([]string, len(terms))
	for i, t := range terms {
		quoted[i] = t.query(0)
	}
	return strings.Join(quoted, "|")
}

// query returns the tsquery that matches the passages in which the term occurs at least as often as level says; see cell.
func (t Term) query(level uint8) string {
	lexeme := t.Lexeme
	if level > 1 {
		lexeme += index.FrequencyMarks[level-2].Lexeme
	}
	return "'" + strings.NewReplacer("'", "''", `\`, `\\`).Replace(lexeme) + "'"
}

// cell is one combination of frequency levels, one level for each planned term, and stands for all passages with that
// combination. Level 0 means that the term does not occur, level 1 that it occurs, and each higher level is a step of
// index.FrequencyMarks.
type cell [longPlan]uint8

// isMatchedBy reports whether a set that requires the levels of s, or higher ones, matches every passage of c.
func (c cell) isMatchedBy(s cell) bool {
	for i := range s {
		if s[i] > c[i] {
			return false
		}
	}
	return true
}

// weightedCell is a cell with estimates about its passages.
type weightedCell struct {
	cell
	score, expected float64 // the score of a passage, and the number of passages
	gain            float64 // the value of finding these passages; it falls with the number of passages that score higher
}

// termSet is a conjunction of tsqueries.
type termSet struct {
	queries []string
	work    int64   // cost of evaluating the set, in index entries
	score   float64 // the lowest score of a passage that it matches
}

func bestFirst(a, b termSet) int { return cmp.Compare(b.score, a.score) }

// planSets returns sets that match most of the passages that can rank high, and few others: about budget in all. Terms
// are in order of rarity; scope is the number of searched passages, chunks the number that the terms' statistics refer
// to. Cells are taken in order of score until the budget is spent; the sets are then chosen to match these cells. The
// sets with the best scores come first.
func planSets(terms []Term, scope, chunks int64, budget float64) []termSet {
	if scope < smallScope {
		return []termSet{{queries: []string{anyTermQuery(terms)}}}
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
		if !slices.ContainsFunc(taken, w.isMatchedBy) {
			w.gain = w.expected / (1 + total/rerankDepth)
			wanted, total = append(wanted, w), total+w.expected
		}
	}
	taken = append(taken, chooseSets(terms, wanted, maxSets-len(taken), maxWork*chunks/scope)...)
	sets := make([]termSet, len(taken))
	for i, c := range taken {
		sets[i] = termSet{c.queries(terms), setWork(terms, c), c.score(terms)}
	}
	slices.SortStableFunc(sets, bestFirst)
	return sets
}

// splitSets splits sets into two parts of about the same work, the larger one first, each with its best sets first. Below
// minSplitWork it returns one part.
func splitSets(sets []termSet) [][]termSet {
	var whole int64
	for _, s := range sets {
		whole += s.work
	}
	if whole < minSplitWork || len(sets) < 2 {
		return [][]termSet{sets}
	}
	var parts [2][]termSet
	var sum [2]int64
	for _, s := range slices.SortedStableFunc(slices.Values(sets), func(a, b termSet) int { return cmp.Compare(b.work, a.work) }) {
		lighter := 0
		if sum[1] < sum[0] {
			lighter = 1
		}
		parts[lighter], sum[lighter] = append(parts[lighter], s), sum[lighter]+s.work
	}
	if sum[1] > sum[0] {
		parts[0], parts[1] = parts[1], parts[0]
	}
	for _, p := range parts {
		slices.SortStableFunc(p, bestFirst)
	}
	return parts[:]
}

// rareTerms returns a cell for each term that is so rare that all its passages fit in half of the budget.
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

// listCells lists the cells in which passages are expected, best score first. It assumes that terms occur independently. Where
// they occur together more often, more is found than needed; the opposite assumption would miss good passages. Rare terms have
// one level only, and so have the more frequent ones of a long query.
func listCells(terms []Term, scope, chunks int64) []weightedCell {
	list := []weightedCell{{expected: float64(scope)}}
	for i, t := range terms {
		n := float64(max(chunks, 1))
		counts := []int64{max(t.Chunks, 1)}
		if t.Chunks > candidateBudget {
			for _, n := range t.ChunksAtLeast {
				if n > 0 {
					counts = append(counts, n)
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
				with.score += t.levelScore(with.cell[i])
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

// setWork estimates the cost of evaluating a set, in index entries. Postgres reads the entries of all terms, and looks up each entry
// of the rarest term among those of the others.
func setWork(terms []Term, set cell) (sum int64) {
	rarest, words := int64(math.MaxInt64), int64(0)
	for i, t := range terms[:min(len(terms), len(set))] {
		if level := set[i]; level > 0 {
			n := t.chunksAt(level)
			rarest = min(rarest, n)
			words++
			sum += n
		}
	}
	return sum + rarest*words*lookupCost
}

// chunksAt returns the number of passages in which the term occurs at least as often as level says.
func (t Term) chunksAt(level uint8) int64 {
	if level > 1 {
		return t.ChunksAtLeast[level-2]
	}
	return t.Chunks
}

// levelScore returns what the term adds to the score of a passage in which it occurs as often as level says.
func (t Term) levelScore(level uint8) float64 {
	frequency := 1.0
	if level > 1 {
		frequency = index.FrequencyMarks[level-2].Least
	}
	return t.rankWeight() * frequency / (frequency + k1)
}

// chooseSets greedily picks sets with the best ratio of gain to work, until they match enough of the wanted cells. It picks at
// least one if there is any, and at most limit.
func chooseSets(terms []Term, wanted []weightedCell, limit int, allowed int64) (chosen []cell) {
	smallest := slices.DeleteFunc(slices.Clone(wanted), func(w weightedCell) bool {
		return slices.ContainsFunc(wanted, func(o weightedCell) bool { return o.cell != w.cell && w.isMatchedBy(o.cell) })
	})
	negligibleRest := (1 - enoughGain) * totalGain(wanted)
	for len(chosen) < limit && (len(chosen) == 0 || totalGain(wanted) > negligibleRest) {
		var best cell
		var bestWork int64
		var bestGain float64
		for _, s := range smallest {
			var gain float64
			for _, w := range wanted {
				if w.isMatchedBy(s.cell) {
					gain += w.gain
				}
			}
			cost := setWork(terms, s.cell)
			if (cost <= allowed || len(chosen) == 0) && gain/float64(cost) > bestGain/float64(max(bestWork, 1)) {
				best = s.cell
				bestWork = cost
				bestGain = gain
			}
		}
		if bestGain == 0 {
			break
		}
		chosen, allowed = append(chosen, best), allowed-bestWork
		wanted = slices.DeleteFunc(wanted, func(w weightedCell) bool { return w.isMatchedBy(best) })
	}
	return chosen
}

func totalGain(list []weightedCell) (sum float64) {
	for _, w := range list {
		sum += w.gain
	}
	return sum
}

// score returns the lowest score of a passage with the levels of c.
func (c cell) score(terms []Term) (sum float64) {
	for i, t := range terms {
		if c[i] > 0 {
			sum += t.levelScore(c[i])
		}
	}
	return sum
}

// queries returns the tsqueries that match the passages with at least the levels of c, the rarest first.
func (c cell) queries(terms []Term) []string {
	var present []int
	for i := range terms {
		if c[i] > 0 {
			present = append(present, i)
		}
	}
	slices.SortStableFunc(present, func(i, j int) int { return cmp.Compare(terms[i].chunksAt(c[i]), terms[j].chunksAt(c[j])) })
	list := make([]string, len(present))
	for i, t := range present {
		list[i] = terms[t].query(c[t])
	}
	return list
}
