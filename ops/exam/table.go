package exam

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"multis/internal/text"
)

// Write writes scorecards as a table, side by side, and after it what each model missed and what to set for it.
func Write(w io.Writer, cards ...Card) error {
	var b strings.Builder
	const columns = "%6s %5s %6s %6s %8s"
	b.WriteString(strings.Repeat(" ", areaWidth))
	for _, c := range cards {
		fmt.Fprintf(&b, "   %-*s", columnWidth, shorten(c.Model, columnWidth))
	}
	b.WriteString("\n" + strings.Repeat(" ", areaWidth))
	for _, c := range cards {
		fmt.Fprintf(&b, "   "+columns, "right", "safe", "wrong", "s", c.Currency)
	}
	b.WriteString("\n")
	for _, area := range allAreas(cards) {
		fmt.Fprintf(&b, "%-*s", areaWidth, area)
		for _, c := range cards {
			s, ok := c.score(area)
			if !ok {
				fmt.Fprintf(&b, "   "+columns, "-", "-", "-", "-", "-")
				continue
			}
			fmt.Fprintf(&b, "   "+columns, fmt.Sprintf("%d/%d", s.Right, s.Tasks), strconv.Itoa(s.Safe), strconv.Itoa(s.Wrong),
				fmt.Sprintf("%.1f", s.Seconds), fmt.Sprintf("%.4f", float64(s.Cost)/1e6))
		}
		b.WriteString("\n")
	}
	for _, c := range cards {
		c.write(&b)
	}
	_, err := io.WriteString(w, trimLines(b.String()))
	return err
}

// The widths of the table, in characters.
const (
	areaWidth   = 10
	columnWidth = 35
)

// write writes what a model costs, may do, missed, and needs.
func (c Card) write(b *strings.Builder) {
	how := ""
	if c.Small {
		how = ", with the profile for small models"
	}
	fmt.Fprintf(b, "\n%s%s: %s in %s, %s\n", c.Model, how, text.Count(c.Total.Tasks, "task"), text.Duration(c.Total.Took.Round(time.Second)),
		text.ExactMoney(c.Total.Cost, c.Currency))
	for _, m := range c.Missed {
		fmt.Fprintf(b, "  %-5s  %s: %s\n", m.Mark, m.Task, m.Why)
		if m.Text != "" {
			fmt.Fprintf(b, "         > %s\n", m.Text)
		}
	}
	if verdict := c.Verdict.Sentence(); verdict != "" {
		fmt.Fprintf(b, "It %s.\n", verdict)
	}
	for _, line := range c.Advice {
		fmt.Fprintf(b, "- %s\n", line)
	}
}

// score returns the sum of an area, or false if there is none.
func (c Card) score(area string) (Score, bool) {
	if area == c.Total.Area {
		return c.Total, true
	}
	i := slices.IndexFunc(c.Areas, func(s Score) bool { return s.Area == area })
	if i < 0 {
		return Score{}, false
	}
	return c.Areas[i], true
}

// allAreas returns the areas of all cards in their order, and the total.
func allAreas(cards []Card) (areas []string) {
	for _, c := range cards {
		for _, s := range c.Areas {
			if !slices.Contains(areas, s.Area) {
				areas = append(areas, s.Area)
			}
		}
	}
	return append(areas, "all")
}

// shorten returns the end of a text that is too long, because the names of models differ there.
func shorten(name string, limit int) string {
	if runes := []rune(name); len(runes) > limit {
		return "…" + string(runes[len(runes)-limit+1:])
	}
	return name
}

// trimLines removes the spaces at the ends of lines.
func trimLines(table string) string {
	lines := strings.Split(table, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
