package search

import "strings"

// Headings returns the headings above the hit, the innermost first.
func (h Hit) Headings() []string {
	var list []string
	for rest := h.Section; rest != ""; {
		inner := innermost(rest)
		list = append(list, inner)
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, inner), SectionSeparator)
	}
	return list
}

// TitleLine returns the line of the text that is the title of a place, a byte offset: what introduces it, such as a line with a colon,
// or else the nearest short line that begins a paragraph before it. It is empty if there is none.
func (h Hit) TitleLine(at int) string {
	list := units(h.Text)
	own := 0
	for own+1 < len(list) && list[own].to <= at {
		own++
	}
	for i := own - 1; i >= 0; i-- {
		line := h.Text[list[i].from:list[i].to]
		if list[i].introduces && (list[own].lead == i || !strings.HasSuffix(line, ":")) {
			return line
		}
	}
	return ""
}
