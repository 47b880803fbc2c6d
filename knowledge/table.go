package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"multis/text"
)

// rowMark begins a line that is a row of a table: it is quoted whole and alone.
const rowMark = "| "

// maxRepeated is the length, in bytes, of the longest cell that is repeated in each column and row it reaches over.
const maxRepeated = 300

// tableRule is the line below the names of a table's columns.
var tableRule = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$`)

// tableRows writes each row of the tables in a text with the names of its columns, "| Item: Baguette; Price: 1.80 €", so that it can
// be found, read and quoted alone. The names have no line of their own: they answer nothing. All lines stay where they are.
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

// rewriteTable rewrites the table that lines begin with, and returns how many lines it has. 0: there is none.
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
	header := -1
	switch {
	case ruled && strings.Join(first, "") != "":
		header = 0
	case ruled && size > 2 && namesColumns(rows[2], rows[3:]):
		header = 2
	case !ruled && namesColumns(first, rows[1:]):
		header = 0
	}
	copy(lines, rowLines(rows, header))
	return size
}

// rowLines writes the rows of a table, one line each. header is the row that names the columns; -1 if none does.
func rowLines(rows [][]string, header int) []string {
	var names []string
	if header >= 0 && slices.ContainsFunc(rows[header+1:], isFilled) {
		names = rows[header]
	}
	lines := make([]string, len(rows))
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
			group = title // of the rows below it
		default:
			lines[i] = rowMark + plainCell(title)
		}
	}
	return lines
}

func isFilled(row []string) bool { return strings.Join(row, "") != "" }

// groupTitle is what a row says that has one cell over all columns, or text in its first one alone; empty if it has more.
func groupTitle(row []string) string {
	first := row[0]
	for _, cell := range row[1:] {
		if cell != "" && cell != first {
			return ""
		}
	}
	return first
}

// rowText is one row on one line.
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

// plainCell is a cell's text on one line. A bar in it would look like the end of the cell.
func plainCell(cell string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(strings.ReplaceAll(cell, "<br />", " ")), " "), "|", "/")
}

// tableCells are the cells of a line, between bars. A bar behind a backslash is part of the text.
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

// isHeader tells whether a row may name the columns: words, all different.
func isHeader(row []string) bool {
	seen := map[string]bool{}
	for _, cell := range row {
		cell = strings.ToLower(strings.TrimSpace(cell))
		if cell == "" || seen[cell] || len(cell) > 100 || !strings.ContainsFunc(cell, unicode.IsLetter) {
			return false
		}
		seen[cell] = true
	}
	return len(row) > 1
}

// namesColumns tells whether the first row of a table that does not say so names its columns. Of two columns one must have numbers
// below words: "Monday, closed" is a row like those that follow it.
func namesColumns(first []string, rest [][]string) bool {
	if !isHeader(first) || len(rest) == 0 {
		return false
	}
	if len(first) > 2 {
		return true
	}
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
