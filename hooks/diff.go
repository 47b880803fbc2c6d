package hooks

import (
	"strings"

	"multis/text"
)

// diff is what tells two versions of a page apart, in the order of the page.
type diff struct{ added, removed []string }

// difference compares lines. One that only moved is no difference.
func difference(before, after []string) diff {
	return diff{added: missing(after, before), removed: missing(before, after)}
}

// missing are the lines that there are more of in one than in other.
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

// clipLines joins lines up to a number of bytes, whole lines only; spaces do not count as a difference.
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
