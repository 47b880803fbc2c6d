package hooks

import (
	"strings"

	"multis/internal/text"
)

// diff has the lines that were added to a page and removed from it, in the page's order.
type diff struct{ added, removed []string }

// diffLines compares two versions of a page. Lines that only moved are ignored.
func diffLines(before, after []string) diff {
	return diff{added: linesOnlyIn(after, before), removed: linesOnlyIn(before, after)}
}

// linesOnlyIn returns the lines of one that other lacks, counting repetitions: a line that one has three times and other
// once is returned twice.
func linesOnlyIn(one, other []string) []string {
	have := map[string]int{}
	for _, line := range other {
		have[line]++
	}
	var lines []string
	for _, line := range one {
		if have[line]--; have[line] < 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// clipLines joins as many whole lines as fit into maxBytes. It normalizes spaces, so that a change of spaces is no difference.
func clipLines(lines []string, maxBytes int) string {
	var b strings.Builder
	for _, line := range lines {
		line = text.OneLine(line)
		if line == "" {
			continue
		}
		if b.Len()+len(line)+1 > maxBytes {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}
