package config

import (
	"fmt"
	"slices"
	"strings"
)

// suggest says what may have been meant by an unknown name: a key of the same section that is spelt much like it,
// else the same name in another section, else all there is in this one.
func (r *reader) suggest(section, name string) string {
	if text := brought(join(section, name)); text != "" {
		return text
	}
	here := r.names(section)
	best, least := "", 1+max(2, len(name)/3)
	for _, known := range here {
		if d := distance(strings.ToLower(name), known); d < least {
			best, least = known, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	for _, key := range r.order {
		if last(key) == name {
			return fmt.Sprintf("did you mean %q?", key)
		}
	}
	return "known here: " + strings.Join(here, ", ")
}

// names lists what may stand in a section, in the order of the table.
func (r *reader) names(section string) []string {
	var names []string
	keys := slices.Clone(r.order)
	for _, g := range r.groups {
		keys = append(keys, g.section)
	}
	for _, key := range keys {
		rest, inside := strings.CutPrefix("."+key, strings.TrimSuffix("."+section, ".")+".")
		name, _, _ := strings.Cut(rest, ".")
		if inside && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// distance counts the letters to insert, delete or change to get from a to b. A long a is not worth the work: it is
// as far away as it is long.
func distance(a, b string) int {
	if len(a) > 2*len(b)+2 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
