package search

import "strings"

// TitlesAt returns the titles above a place of the passage, a byte offset in its text, the nearest first: a line of the text, and the
// innermost heading.
func (h Hit) TitlesAt(at int) (titles []string) {
	for _, title := range []string{h.titleLine(at), h.Heading()} {
		if title != "" {
			titles = append(titles, strings.TrimRight(title, ": "))
		}
	}
	return titles
}

// titleLine returns the line of the text that is the title of a place: what introduces it, or else the nearest title before it; empty if
// there is none.
func (h Hit) titleLine(at int) string {
	list := units(h.Text)
	own := 0
	for own+1 < len(list) && list[own+1].from <= at {
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
