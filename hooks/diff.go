package hooks

import (
	"strings"

	"multis/text"
)

// diff holds the lines that were added to and removed from a page, in the page's order.
type diff struct{ added, removed []string }

// difference compares two versions of a page. A line that only moved is no difference.
func difference(before, after []string) diff {
	return diff{added: missing(after, before), removed: missing(before, after)}
}

// missing returns the lines that occur more often in one than in other.
func missing(one, other []string) []string {
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

// clipLines joins whole lines up to a number of bytes. Spaces are normalized, so that they make no difference.
func clipLines(lines []string, most int) string {
	var b strings.Builder
	for _, line := range lines {
		line = text.OneLine(line)
		if line == "" {
			continue
		}
		if b.Len()+len(line)+1 > most {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}
