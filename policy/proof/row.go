package proof

import (
	"slices"
)

// findRow returns a row that the sentence names without its number, or the number of a row that it does not name.
func (p *prover) findRow() string {
	if len(p.source) == 0 || !p.source[0].isRow {
		return ""
	}
	last := -1
	for _, c := range p.said {
		for i, t := range c.tokens {
			if row := p.rowNamed(t); row >= 0 {
				last = row
			}
			if !t.isNumber || p.repeatsAsked(c, i) {
				continue
			}
			in := p.rowsWith(t)
			if len(in) == 0 || len(in) == p.rowCount() {
				continue
			}
			if !slices.Contains(in, p.nearestRow(c, i, last)) {
				return "“" + t.written() + "” is of another row"
			}
		}
	}
	return ""
}

// nearestRow returns the row that a number is said of: the one named last before it, or the only one named behind it.
func (p *prover) nearestRow(c clause, at, last int) int {
	if last >= 0 {
		return p.betterRow(c, at, last)
	}
	named := -1
	for _, later := range p.said {
		for _, t := range later.tokens {
			if row := p.rowNamed(t); row >= 0 {
				if named >= 0 && named != row {
					return -1
				}
				named = row
			}
		}
	}
	return named
}

// betterRow returns the row named directly behind a number ("£94 on the street side"), or the one named before it.
func (p *prover) betterRow(c clause, at, last int) int {
	before := -1
	for i := range at {
		if row := p.rowNamed(c.tokens[i]); row >= 0 {
			before = row
		}
	}
	if before >= 0 {
		return before
	}
	for i := at + 1; i < min(len(c.tokens), at+6); i++ {
		if c.tokens[i].isNumber {
			break
		}
		if row := p.rowNamed(c.tokens[i]); row >= 0 {
			return row
		}
	}
	return last
}

func (p *prover) rowCount() int { return p.source[len(p.source)-1].unit + 1 }

// rowNamed returns the only row that has a word; -1 if none or several have it.
func (p *prover) rowNamed(t token) int {
	found := -1
	if t.isNumber || !p.words.isContent(t) {
		return -1
	}
	for _, c := range p.source {
		if !c.has(t) || found == c.unit {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = c.unit
	}
	if p.rowCount() == 1 {
		return 0
	}
	return found
}

// rowsWith returns the rows that have a number.
func (p *prover) rowsWith(t token) (rows []int) {
	for _, c := range p.source {
		if slices.ContainsFunc(c.tokens, t.sameValue) && !slices.Contains(rows, c.unit) {
			rows = append(rows, c.unit)
		}
	}
	return rows
}
