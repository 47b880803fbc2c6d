package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"multis/internal/text"
)

// rowMark begins a line that is a row of a table. Such a line is quoted whole.
const rowMark = "| "

// maxRepeated is the maximum length, in bytes, of a cell that is repeated in each column and row it spans.
const maxRepeated = 300

// tableRule matches the line below the header of a Markdown table.
var tableRule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)

// tableRows rewrites each row of the Markdown tables in a text with the names of its columns, "| Item: Baguette; Price: 1.80 €", so that it
// can be found and quoted alone. The header becomes an empty line. Line numbers do not change.
func tableRows(source string) string {
	if !strings.Contains(source, "|") {
		return source
	}
	lines := strings.Split(source, "\n")
	fenced := false
	for i := 0; i < len(lines); {
		if text.IsFence(lines[i]) {
			fenced = !fenced
		}
		size := 0
		if !fenced {
			size = rewriteTable(lines[i:])
		}
		i += max(size, 1)
	}
	return strings.Join(lines, "\n")
}

// rewriteTable rewrites the table at the beginning of lines and returns how many lines it has; 0 if there is none.
func rewriteTable(lines []string) int {
	if len(lines) < 2 || !strings.Contains(lines[0], "|") {
		return 0
	}
	first := tableCells(lines[0])
	ruled := strings.Contains(lines[1], "|") && tableRule.MatchString(lines[1]) && len(tableCells(lines[1])) == len(first)
	size := 0
	for size < len(lines) && (strings.HasPrefix(strings.TrimSpace(lines[size]), "|") || ruled && strings.Contains(lines[size], "|")) {
		size++
	}
	if !ruled && (size < 2 || len(first) < 2 || len(tableCells(lines[1])) < 2) {
		return 0
	}
	rows := make([][]string, size)
	for i, line := range lines[:size] {
		if !ruled || i != 1 {
			rows[i] = tableCells(line)
		}
	}
	header := 0
	if !ruled || !isFilled(first) || isTitle(first) {
		header = findHeader(rows, false)
	}
	copy(lines, rowLines(rows, header))
	return size
}

// rowLines returns the rows of a table as lines. header is the index of the row that names the columns; -1 if none does.
func rowLines(rows [][]string, header int) []string {
	var names []string
	if header >= 0 && slices.ContainsFunc(rows[header+1:], isFilled) {
		names = rows[header]
	}
	lines := make([]string, len(rows))
	if unused := unusedNames(names, rows, header); unused != "" {
		lines[header] = rowMark + unused
	}
	group := ""
	for i, row := range rows {
		if i == header && names != nil || !isFilled(row) {
			continue
		}
		title := groupTitle(row)
		switch {
		case title == "" && group != "":
			lines[i] = rowMark + plainCell(group) + "; " + rowText(names, row)
		case title == "" || len(row) == 1:
			lines[i] = rowMark + rowText(names, row)
		case i+1 < len(rows) && isFilled(rows[i+1]) && groupTitle(rows[i+1]) == "":
			group = title // it also applies to the rows below
		default:
			lines[i] = rowMark + plainCell(title)
		}
	}
	return lines
}

// unusedNames returns the names of the columns that several rows leave empty, as in a form: no row would show them.
func unusedNames(names []string, rows [][]string, header int) string {
	var unused []string
	below := slices.DeleteFunc(slices.Clone(rows[header+1:]), func(row []string) bool { return !isFilled(row) })
	if len(below) < 2 {
		return ""
	}
	for i, name := range names {
		isUsed := slices.ContainsFunc(below, func(row []string) bool { return i < len(row) && row[i] != "" })
		if name = plainCell(name); name != "" && !isUsed {
			unused = append(unused, name)
		}
	}
	return strings.Join(unused, "; ")
}

func isFilled(row []string) bool { return strings.Join(row, "") != "" }

// groupTitle returns the text of a row that has one cell over all columns, or text in the first one only; empty for other rows.
func groupTitle(row []string) string {
	first := row[0]
	for _, cell := range row[1:] {
		if cell != "" && cell != first {
			return ""
		}
	}
	return first
}

// rowText returns a row as one line in which each cell follows the name of its column.
func rowText(names, row []string) string {
	if len(names) == 0 && len(row) == 2 && row[0] != "" && row[1] != "" {
		return plainCell(row[0]) + ": " + plainCell(row[1])
	}
	var parts []string
	for i, cell := range row {
		if cell = plainCell(cell); cell == "" || len(names) == 0 && i > 0 && cell == plainCell(row[i-1]) {
			continue
		}
		if i < len(names) {
			if name := strings.Trim(plainCell(names[i]), "*_`: "); name != "" && name != cell {
				cell = name + ": " + cell
			}
		}
		parts = append(parts, cell)
	}
	return strings.Join(parts, "; ")
}

// plainCell returns a cell's text on one line, without bars, which would look like the end of the cell.
func plainCell(cell string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(strings.ReplaceAll(cell, "<br />", " ")), " "), "|", "/")
}

// tableCells returns the cells of a line, which are separated by bars. A bar after a backslash is part of the text.
func tableCells(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var cells []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			i++
			cell.WriteByte('|')
		case line[i] == '|':
			cells = append(cells, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	if rest := strings.TrimSpace(cell.String()); rest != "" || len(cells) == 0 {
		cells = append(cells, rest)
	}
	return cells
}

// isTitle reports whether a row is one cell over all columns.
func isTitle(row []string) bool {
	return len(row) > 1 && row[0] != "" && !slices.ContainsFunc(row, func(cell string) bool { return cell != row[0] })
}

// maxAbove is how many rows may be above the header.
const maxAbove = 10

// findHeader returns the index of the row that names the columns; -1 if there is none for sure, because a wrong name is worse than none.
// Above it may be titles and other rows with fewer columns than the table. By convention the first row of a CSV file is the header.
func findHeader(rows [][]string, isConvention bool) int {
	narrow := -1
	for i, row := range rows[:min(len(rows), maxAbove)] {
		if !isFilled(row) || isTitle(row) {
			continue
		}
		rest := rows[i+1:]
		isName := isHeader(row) && !isLikeBelow(row, rest)
		isWide := columnsOf(row) >= usualColumns(rest)
		switch {
		case isName && isWide && isConvention && isTitleAbove(row, rest):
			continue
		case isName && isWide && (isConvention || namesColumns(row, rest)):
			return i
		case isWide:
			return narrow
		case isName && narrow < 0 && isConvention && namesNumbers(row, rest):
			narrow = i
		}
	}
	return narrow
}

// isTitleAbove reports whether a row that could name the columns is a title with remarks beside it, such as "Prices;as of
// May;;incl. VAT": a cell between others is empty, and all of the next row's are names of columns with numbers.
func isTitleAbove(row []string, rest [][]string) bool {
	if len(rest) == 0 || !slices.Contains(row[:columnsOf(row)], "") || row[0] == "" {
		return false
	}
	next := rest[0]
	return isHeader(next) && !slices.Contains(next, "") && columnsOf(next) >= columnsOf(row) && !isLikeBelow(next, rest[1:]) &&
		namesNumbers(next, rest[1:])
}

// columnsOf returns how many columns a row has up to its last cell with text.
func columnsOf(row []string) int {
	for i := len(row); i > 0; i-- {
		if row[i-1] != "" {
			return i
		}
	}
	return 0
}

// usualColumns returns how many columns most rows have.
func usualColumns(rows [][]string) int {
	counts := map[int]int{}
	usual := 0
	for _, row := range rows {
		n := columnsOf(row)
		counts[n]++
		if n > 0 && (counts[n] > counts[usual] || counts[n] == counts[usual] && n > usual) {
			usual = n
		}
	}
	return usual
}

var digits = regexp.MustCompile(`\d+`)

// isLikeBelow reports whether a row looks like the rows below it: a cell occurs again in its column, or has numbers of the same kind.
func isLikeBelow(row []string, rest [][]string) bool {
	for i, cell := range row {
		if cell == "" {
			continue
		}
		shape := digits.ReplaceAllString(cell, "0")
		for _, below := range rest {
			if i < len(below) && (below[i] == cell || hasDigit(cell) && digits.ReplaceAllString(below[i], "0") == shape) {
				return true
			}
		}
	}
	return false
}

// year matches a year, which may name a column.
var year = regexp.MustCompile(`^(19|20)\d\d$`)

// isHeader reports whether a row may be the header: it has at least two cells, none of which is a number, and no two are equal.
func isHeader(row []string) bool {
	seen := map[string]bool{}
	for _, cell := range row {
		cell = strings.ToLower(strings.TrimSpace(cell))
		if cell == "" {
			continue
		}
		isName := strings.ContainsFunc(cell, unicode.IsLetter) || year.MatchString(cell) || !hasDigit(cell) && strings.Trim(cell, "-–—./? ") != ""
		if seen[cell] || len(cell) > 100 || !isName {
			return false
		}
		seen[cell] = true
	}
	return len(seen) > 1
}

// namesColumns reports whether the first row of a table without a marked header is the header. In a table of two columns,
// one column must also have numbers below a first cell without numbers: otherwise "Monday, closed" would be taken for a
// header.
func namesColumns(first []string, rest [][]string) bool {
	if !isHeader(first) || len(rest) == 0 {
		return false
	}
	return len(first) > 2 || namesNumbers(first, rest)
}

// namesNumbers reports whether a column mostly has numbers below a first cell without numbers.
func namesNumbers(first []string, rest [][]string) bool {
	for i, name := range first {
		numbers := 0
		for _, row := range rest {
			if i < len(row) && hasDigit(row[i]) {
				numbers++
			}
		}
		if !hasDigit(name) && 2*numbers > len(rest) {
			return true
		}
	}
	return false
}

func hasDigit(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }
