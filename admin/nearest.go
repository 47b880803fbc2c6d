package admin

import (
	"cmp"
	"slices"
	"strings"

	"multis/internal/text"
)

// nearest returns the names that a word may be a misspelling of, the nearest first, at most limit.
func nearest(word string, names []string, limit int) []string {
	type near struct {
		name     string
		distance int
	}
	word = foldName(word)
	var found []near
	for _, name := range names {
		distance := text.EditDistance(word, foldName(name))
		if distance <= maxEdits(word) {
			found = append(found, near{name, distance})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.distance, b.distance) })
	out := make([]string, 0, limit)
	for _, n := range found {
		if len(out) < limit && !slices.Contains(out, n.name) {
			out = append(out, n.name)
		}
	}
	return out
}

// maxEdits returns the maximum edit distance of a misspelling of a word.
func maxEdits(word string) int {
	switch n := len([]rune(word)); {
	case n <= 2:
		return 0
	case n <= 4:
		return 1
	default:
		return 2
	}
}

// foldName makes names comparable: lower case, one space between words, no invisible characters, and an apostrophe for a backtick, as
// code shows it.
func foldName(s string) string { return strings.ToLower(strings.ReplaceAll(text.OneLine(s), "`", "'")) }
