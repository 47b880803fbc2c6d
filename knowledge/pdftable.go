package knowledge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// box is the bounding box of a character or cell on a page. y grows upwards.
type box struct{ left, right, bottom, top float64 }

// cell is a part of a line between wide gaps.
type cell struct {
	box
	text string
}

const (
	// maxBoxes is the number of characters of a PDF whose positions are read. Tables after that stay plain lines.
	maxBoxes = 200_000
	// maxLooseLines is how many successive lines with a single cell, such as the rest of a wrapped cell, may be between two rows of a table.
	maxLooseLines = 2
)

// positionedText is the text of a page with the positions of its characters.
type positionedText struct {
	lines          []string
	lineStarts     []int                         // where each line begins, in characters
	isContinuation map[int]bool                  // by line: whether it belongs to the row of an earlier line
	cellsByLine    map[int][]cell                // by line: the cells of lines that were measured
	boxOf          func(at int) (b box, ok bool) // returns the position of the character at an index
}

// newPositionedText returns the text of a page, cut into lines.
func newPositionedText(text string, measure func(int) (box, bool)) *positionedText {
	p := &positionedText{lines: strings.Split(text, "\n"), isContinuation: map[int]bool{}, cellsByLine: map[int][]cell{}, boxOf: measure}
	at := 0
	for _, line := range p.lines {
		p.lineStarts = append(p.lineStarts, at)
		at += utf8.RuneCountInString(line) + 1
	}
	return p
}

// tables returns the text with each row of a table rewritten with the names of its columns. A table is a header and at least two rows
// whose cells are below the names, with numbers in one column. All other text is unchanged.
func (p *positionedText) tables() string {
	for i := 0; i < len(p.lines); {
		i += max(p.rewrite(i), 1)
	}
	var kept []string
	for i, line := range p.lines {
		if !p.isContinuation[i] {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// tableRow is a row of a table with its first line and its number of lines.
type tableRow struct {
	cells       []string
	line, lines int
}

// rewrite rewrites the table with its header on the line header, and returns the number of its lines; 0 if no table is there.
func (p *positionedText) rewrite(header int) int {
	if header+2 >= len(p.lines) || !slices.ContainsFunc(p.lines[header+1:min(header+2+maxLooseLines, len(p.lines))], hasDigit) {
		return 0
	}
	named, size := p.row(header)
	if len(named) < 2 || !isHeader(texts(named)) {
		return 0
	}
	names := named
	if first, _ := p.row(header + size); len(first) > 0 && first[0].right < named[0].left {
		names = slices.Insert(slices.Clone(named), 0, cell{box: first[0].box}) // the first column needs no name
	}
	rows := p.rowsBelow(header+size, names, lowest(named))
	if len(rows) < 2 || !hasNumbers(texts(names), rows) || isForm(texts(names), rows) {
		return 0
	}
	p.replaceRow(tableRow{line: header, lines: size}, "")
	for _, row := range rows {
		p.replaceRow(row, rowMark+rowText(texts(names), row.cells))
	}
	last := rows[len(rows)-1]
	return last.line + last.lines - header
}

// rowsBelow returns the table rows from a line on. names are the cells of the header, and bottom is its lower edge. Lines
// with one cell are left out.
func (p *positionedText) rowsBelow(line int, names []cell, bottom float64) (rows []tableRow) {
	columns := make([]box, len(names))
	for i, name := range names {
		columns[i] = name.box
	}
	for loose := 0; line < len(p.lines) && loose <= maxLooseLines; loose++ {
		cells, size := p.row(line)
		row := rowBelow(columns, bottom, cells)
		if row == nil {
			break
		}
		if len(cells) > 1 {
			rows, loose = append(rows, tableRow{row, line, size}), -1
		}
		bottom = lowest(cells)
		line += size
	}
	return rows
}

// replaceRow replaces the lines of a row by a text.
func (p *positionedText) replaceRow(row tableRow, text string) {
	p.lines[row.line] = text
	for i := row.line + 1; i < row.line+row.lines; i++ {
		p.isContinuation[i] = true
	}
}

// row returns the cells of a line and of the next lines that are beside it on the page, and the number of these lines.
// pdfium sometimes breaks one line of a page into several.
func (p *positionedText) row(line int) (cells []cell, lines int) {
	cells, lines = slices.Clone(p.cells(line)), 1
	for ; len(cells) > 0 && lines < maxColumns && line+lines < len(p.lines); lines++ {
		beside := p.cells(line + lines)
		last := cells[len(cells)-1]
		if len(beside) == 0 || beside[0].left < last.right || beside[0].middle() < last.bottom || beside[0].middle() > last.top {
			break
		}
		for _, c := range beside {
			cells = addCell(cells, c, c.top-c.bottom)
		}
	}
	return cells, lines
}

// addCell appends a part of a line to the last cell, or as a new cell if the gap before it is wider than maxGap.
func addCell(cells []cell, c cell, maxGap float64) []cell {
	n := len(cells) - 1
	if n < 0 || c.left-cells[n].right > maxGap {
		return append(cells, c)
	}
	cells[n] = cell{cells[n].union(c.box), cells[n].text + " " + c.text}
	return cells
}

// cells cuts a line into cells where the gap between two words is wider than the height of the characters; nil if words has none.
func (p *positionedText) cells(line int) []cell {
	if cells, done := p.cellsByLine[line]; done {
		return cells
	}
	var cells []cell
	words, height := p.words(line)
	for i, word := range words {
		if i > 0 && word.left < words[i-1].left {
			cells = nil // the line is not written from left to right
			break
		}
		cells = addCell(cells, word, height)
	}
	p.cellsByLine[line] = cells
	return cells
}

// words returns the words of a line and the height of its highest character. It returns nil if a position is unknown, or
// if the text does not run from left to right.
func (p *positionedText) words(line int) (words []cell, height float64) {
	text := []rune(p.lines[line])
	for i := 0; i < len(text); i++ {
		if unicode.IsSpace(text[i]) {
			continue
		}
		end := i
		for end+1 < len(text) && !unicode.IsSpace(text[end+1]) {
			end++
		}
		first, ok := p.boxOf(p.lineStarts[line] + i)
		last, known := p.boxOf(p.lineStarts[line] + end)
		if !ok || !known || last.right < first.left {
			return nil, 0
		}
		around := box{first.left, last.right, min(first.bottom, last.bottom), max(first.top, last.top)}
		words = append(words, cell{around, string(text[i : end+1])})
		height = max(height, around.top-around.bottom)
		i = end
	}
	return words, height
}

// rowBelow assigns the cells of a line to columns, and widens the columns to include them. It returns nil if the line is
// not below bottom or a cell is not below exactly one name.
func rowBelow(columns []box, bottom float64, cells []cell) []string {
	if len(cells) == 0 || len(cells) > len(columns) {
		return nil
	}
	row := make([]string, len(columns))
	wide := slices.Clone(columns)
	next := 0
	for _, c := range cells {
		i := slices.IndexFunc(columns, c.overlaps)
		if i < next || i+1 < len(columns) && c.overlaps(columns[i+1]) || c.middle() >= bottom {
			return nil
		}
		row[i] = c.text
		wide[i] = columns[i].union(c.box)
		next = i + 1
	}
	copy(columns, wide)
	return row
}

func (b box) overlaps(other box) bool { return b.left < other.right && other.left < b.right }

func (b box) middle() float64 { return (b.bottom + b.top) / 2 }

func (b box) union(other box) box {
	return box{min(b.left, other.left), max(b.right, other.right), min(b.bottom, other.bottom), max(b.top, other.top)}
}

func lowest(cells []cell) float64 {
	bottom := cells[0].bottom
	for _, c := range cells {
		bottom = min(bottom, c.bottom)
	}
	return bottom
}

func texts(cells []cell) []string {
	list := make([]string, len(cells))
	for i, c := range cells {
		list[i] = c.text
	}
	return list
}

// hasNumbers reports whether most rows have a number in the same column. With two columns, the column's name must have none.
func hasNumbers(names []string, rows []tableRow) bool {
	for i, name := range names {
		numbers := 0
		for _, row := range rows {
			if hasDigit(row.cells[i]) {
				numbers++
			}
		}
		if 2*numbers > len(rows) && (len(names) > 2 || !hasDigit(name)) {
			return true
		}
	}
	return false
}

// isForm reports whether the first row is the first of a form: it has a label where most rows have one, or a number above words.
func isForm(names []string, rows []tableRow) bool {
	isLabel := func(cell string) bool { return strings.HasSuffix(cell, ":") }
	for i, name := range names {
		labels, words := 0, 0
		for _, row := range rows {
			if isLabel(row.cells[i]) {
				labels++
			}
			if row.cells[i] != "" && !hasDigit(row.cells[i]) {
				words++
			}
		}
		if isLabel(name) && 2*labels > len(rows) || hasDigit(name) && 2*words > len(rows) {
			return true
		}
	}
	return false
}
