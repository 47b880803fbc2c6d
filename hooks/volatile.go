package hooks

import (
	"slices"
	"strings"
	"unicode"

	"multis/store"
)

// maxChanges is how many checks in a row a line may change before it is no longer compared.
const maxChanges = 5

// shapeOf returns a line without what changes in counters and times: each word with a digit becomes "#".
func shapeOf(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsDigit) {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// compared returns the lines of a page that are compared.
func compared(lines, leftOut []string) []string {
	if len(leftOut) == 0 {
		return lines
	}
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(leftOut, shapeOf(line)) })
}

// noteChange counts a check that found a change. It returns the shapes of the lines that have changed in maxChanges checks in a row, which
// are left out from then on.
func noteChange(row *store.Watch, d diff) (always []string) {
	var shapes []string
	for _, line := range d.added {
		if shape := shapeOf(line); shape != line && !slices.Contains(shapes, shape) {
			shapes = append(shapes, shape)
		}
	}
	if row.Changes > 0 {
		shapes = slices.DeleteFunc(shapes, func(shape string) bool { return !slices.Contains(row.Changing, shape) })
	}
	row.Changes++
	row.Changing = shapes
	if row.Changes < maxChanges {
		return nil
	}
	row.LeftOut = append(row.LeftOut, shapes...)
	forgetChanges(row)
	return shapes
}

// forgetChanges notes a check that found no change.
func forgetChanges(row *store.Watch) { row.Changes, row.Changing = 0, nil }
