package admin

import (
	"cmp"
	"slices"
	"strings"
)

// nearest gives those of names that word may be a slip of, the nearest first, at most limit.
func nearest(word string, names []string, limit int) []string {
	type near struct {
		name string
		off  int
	}
	word = fold(word)
	var found []near
	for _, name := range names {
		off := distance([]rune(word), []rune(fold(name)))
		if off <= slips(word) {
			found = append(found, near{name, off})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.off, b.off) })
	out := make([]string, 0, limit)
	for _, n := range found {
		if len(out) < limit && !slices.Contains(out, n.name) {
			out = append(out, n.name)
		}
	}
	return out
}

// slips is how many letters of a word may be wrong.
func slips(word string) int {
	switch n := len([]rune(word)); {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	default:
		return 2
	}
}

// fold makes names comparable, as they are shown: small letters, one blank between words, nothing invisible, and the mark
// that stands for a backtick where something is to be typed.
func fold(s string) string { return strings.ToLower(strings.ReplaceAll(line(s), "`", "'")) }

// distance counts the letters to insert, drop, change or swap with their neighbour to turn a into b.
func distance(a, b []rune) int {
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
