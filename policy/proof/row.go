package proof

import (
	"slices"
)

// rowFact is a number or a weekday of the sentence that only some rows have.
type rowFact struct {
	token  token
	rows   []int // that have it
	before int   // the row named last before it; -1 if none is
	behind int   // the row named between it and the next fact; else as before
}

// rowCheck finds facts of another row than the one that the sentence names.
type rowCheck struct{ *prover }

// findRow finds a fact of another row than the one that the sentence names. The rows are named either before their facts,
// or behind them ("£94 on the street side").
func (p rowCheck) findRow() Finding {
	if len(p.source) == 0 || !p.source[0].isRow {
		return Finding{}
	}
	facts, named := p.rowFacts()
	if len(facts) == len(named) && areInTurn(facts, named) {
		return Finding{}
	}
	isWrong := func(row func(rowFact) int) (wrong rowFact, found bool) {
		i := slices.IndexFunc(facts, func(f rowFact) bool { return !slices.Contains(f.rows, row(f)) })
		if i < 0 {
			return rowFact{}, false
		}
		return facts[i], true
	}
	wrong, found := isWrong(func(f rowFact) int { return f.before })
	if !found {
		return Finding{}
	}
	if _, found := isWrong(func(f rowFact) int { return f.behind }); !found {
		return Finding{}
	}
	reason := "“" + p.asWritten(wrong.token) + "” is of another row"
	if p.hasOwnFact(wrong) || wrong.before < 0 && !haveSameRow(facts) && !p.areAsked(facts) {
		return contradicts(reason)
	}
	return unknown(reason)
}

// hasOwnFact reports whether the row that is named beside a fact has a fact of its own in the same column.
func (p rowCheck) hasOwnFact(f rowFact) bool {
	return slices.ContainsFunc(p.source, func(own clause) bool {
		return own.unit == f.before && slices.ContainsFunc(p.source, func(cell clause) bool {
			return cell.at == own.at && slices.Contains(f.rows, cell.unit) && cell.hasFactLike(own, f.token)
		})
	})
}

// hasFactLike reports whether the value of a cell is a fact, and that of a cell of another row is one of the same kind: a weekday, or a
// number with the same limit.
func (c clause) hasFactLike(own clause, fact token) bool {
	for i, t := range c.tokens {
		if fact.day >= 0 && t.day == fact.day {
			return slices.ContainsFunc(own.tokens, func(t token) bool { return t.day >= 0 })
		}
		for j := 0; t.sameValue(fact) && j < len(own.tokens); j++ {
			if own.tokens[j].isNumber && own.limitAt(j) == c.limitAt(i) {
				return true
			}
		}
	}
	return false
}

// areInTurn reports whether facts are of the rows that are named, in their order: "adults and children pay 9 € and 5 €".
func areInTurn(facts []rowFact, named []int) bool {
	for i, f := range facts {
		if !slices.Contains(f.rows, named[i]) {
			return false
		}
	}
	return true
}

// areAsked reports whether the question names a row of each fact.
func (p rowCheck) areAsked(facts []rowFact) bool {
	var asked []int
	for _, c := range p.asked {
		for _, t := range c.tokens {
			asked = append(asked, p.rowNamed(t))
		}
	}
	return !slices.ContainsFunc(facts, func(f rowFact) bool {
		return !slices.ContainsFunc(f.rows, func(row int) bool { return slices.Contains(asked, row) })
	})
}

// haveSameRow reports whether a row has all facts.
func haveSameRow(facts []rowFact) bool {
	return slices.ContainsFunc(facts[0].rows, func(row int) bool {
		return !slices.ContainsFunc(facts, func(f rowFact) bool { return !slices.Contains(f.rows, row) })
	})
}

// rowFacts returns the facts of the sentence that are of some rows only, each with the rows that are named beside it; and all rows that
// are named, in their order.
func (p rowCheck) rowFacts() (facts []rowFact, all []int) {
	named := -1
	open := false // no row was named since the last fact
	for _, c := range p.said {
		for i, t := range c.tokens {
			row := p.rowLabelled(c, i)
			if row < 0 && (t.isNumber || t.day >= 0) {
				in := p.rowsWith(t)
				if len(in) > 0 && len(in) < p.rowCount() && !p.repeatsAsked(c, i) {
					facts = append(facts, rowFact{t, in, named, named})
					open = true
				}
				continue
			}
			if row < 0 {
				row = p.rowNamed(t)
			}
			if row < 0 {
				continue
			}
			named = row
			all = append(all, row)
			if open {
				facts[len(facts)-1].behind = row
				open = false
			}
		}
	}
	if len(all) > 0 && slices.Min(all) == slices.Max(all) {
		for i := range facts {
			facts[i].before = all[0]
		}
	}
	return facts, all
}

// rowLabelled returns the only row that has a number of the sentence, which is in its label: "16 kg"; -1 if there is none.
func (p rowCheck) rowLabelled(c clause, at int) int {
	t := c.tokens[at]
	rows := p.rowsWith(t)
	if !t.isNumber || len(rows) != 1 {
		return -1
	}
	isInCell := func(s clause) bool { return s.unit == rows[0] && !s.isLabel() && s.has(t) }
	if slices.ContainsFunc(p.source, isInCell) {
		return -1
	}
	return rows[0]
}

func (p rowCheck) rowCount() int { return p.source[len(p.source)-1].unit + 1 }

// rowNamed returns the only row that has a word, or else the only one that has another form of it; -1 if none or several have it. The
// names of columns are of all rows.
func (p *prover) rowNamed(t token) int {
	if !p.source[0].words.isContent(t) || t.period != "" {
		return -1
	}
	isWord := func(other token) bool { return other.word == t.word }
	for _, has := range []func(clause) bool{
		func(c clause) bool { return slices.ContainsFunc(c.tokens, isWord) },
		func(c clause) bool { return c.value().has(t) },
	} {
		if rows := p.rowsThat(has); len(rows) > 0 {
			if len(rows) > 1 {
				return -1
			}
			return rows[0]
		}
	}
	return -1
}

// usesRow reports whether the sentence has a content word of a cell's row.
func (p *prover) usesRow(cell clause) bool {
	return cell.isRow && slices.ContainsFunc(p.source, func(c clause) bool { return c.unit == cell.unit && p.isUsed(c) })
}

// rowsWith returns the rows that have a word or a number.
func (p *prover) rowsWith(t token) []int { return p.rowsThat(func(c clause) bool { return c.has(t) }) }

// rowsThat returns the rows that have such a cell.
func (p *prover) rowsThat(has func(clause) bool) (rows []int) {
	for _, c := range p.source {
		if has(c) && !slices.Contains(rows, c.unit) {
			rows = append(rows, c.unit)
		}
	}
	return rows
}
