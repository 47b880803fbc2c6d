package knowledge

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"multis/internal/text"
)

// csvRow is a row of a file.
type csvRow struct {
	cells []string
	line  int  // from 1
	isRaw bool // its quotes are out of place, so that its cells are as they are written
}

// csvRows writes each row of a table as a line that can be found and quoted alone: "| Item: Baguette; Price: 1.80 €".
// Each line keeps its number in the file. Rows that are no CSV are read as they are written, and named in the notes.
func csvRows(data []byte) (sections []section, notes []string) {
	table, comma := data, delimiter(data)
	if said := declaredDelimiter.FindSubmatch(data); said != nil {
		table, comma = data[len(said[0])-1:], rune(said[1][0]) // the line end is kept, so that line numbers stay right
	}
	file := splitRows(table, comma)
	rows := make([][]string, len(file))
	for i, row := range file {
		for c, cell := range row.cells {
			row.cells[c] = strings.TrimSpace(cell)
		}
		rows[i] = row.cells
	}
	header := findHeader(rows, true)
	var names []string
	if header >= 0 {
		names = rows[header]
		if header == len(rows)-1 { // names without rows are a row
			return []section{{Text: rowMark + rowText(nil, names), Line: file[header].line}}, nil
		}
	}
	kinds := columnsWithNumbers(rows, header)
	var b strings.Builder
	lines := 0
	var raw []int
	for i, row := range file {
		if i == header || !isFilled(row.cells) {
			continue
		}
		for ; lines < row.line-1; lines++ {
			b.WriteByte('\n')
		}
		if row.isRaw {
			raw = append(raw, row.line)
		}
		switch {
		case i < header:
			b.WriteString(rowMark + rowText(nil, row.cells))
		case len(names) > 0 && !fitsNames(names, row.cells, kinds):
			raw = append(raw, row.line)
			b.WriteString(rowMark + plainCell(strings.Join(row.cells, string(comma))))
		default:
			b.WriteString(rowMark + rowText(names, row.cells))
		}
		if b.Len() > maxText {
			break // sanitize refuses a document that is this big
		}
	}
	return []section{{Path: titleAbove(rows, header), Text: b.String() + "\n", Line: 1}}, rawNotes(slices.Compact(raw))
}

// maxTitle is the maximum length, in bytes, of a title above a table.
const maxTitle = 100

// titleAbove returns the first row above the header as the heading of the table: it often says what holds for all rows, such as
// the currency. It returns none without such a row.
func titleAbove(rows [][]string, header int) []string {
	for _, row := range rows[:max(header, 0)] {
		if title := rowText(nil, row); title != "" && len(title) <= maxTitle {
			return []string{title}
		}
	}
	return nil
}

// rawNotes names the rows that are no CSV.
func rawNotes(lines []int) []string {
	if len(lines) == 0 {
		return nil
	}
	return []string{numberList("Line", lines) + text.Plural(len(lines), " does", " do") +
		" not fit the columns or the quotes of the table; I read " + text.Plural(len(lines), "it", "them") + " as written."}
}

// maxOpenQuotes is how many quotes without an end are searched for theirs. Each search reads the rest of the file.
const maxOpenQuotes = 20

// splitRows cuts a file into rows. A row whose quotes are out of place ends at the end of its line: a lenient reader
// would take the next rows for a part of its cell.
func splitRows(data []byte, comma rune) []csvRow {
	var rows []csvRow
	line, open := 1, 0
	for len(data) > 0 {
		read, size, err := strictRows(data, comma)
		for _, row := range read {
			row.line += line - 1
			rows = append(rows, row)
		}
		line += bytes.Count(data[:size], []byte("\n"))
		data = data[size:]
		if err == nil {
			break
		}
		for len(data) > 0 { // this line, and all others after too many quotes without an end
			end := lineEnd(data, 0)
			if said := strings.TrimRight(string(data[:end]), "\n"); strings.TrimSpace(said) != "" {
				rows = append(rows, csvRow{cells: strings.Split(said, string(comma)), line: line, isRaw: true})
			}
			line++
			data = data[end:]
			if open < maxOpenQuotes {
				break
			}
		}
		if errors.Is(err, csv.ErrQuote) {
			open++
		}
	}
	return rows
}

// strictRows reads rows up to the first one that is no CSV, and returns how many bytes they have.
func strictRows(data []byte, comma rune) (rows []csvRow, size int, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = comma
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = comma != '\t' // a tab would be space
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows, len(data), nil
		}
		if err != nil {
			size += len(data[size:]) - len(bytes.TrimLeft(data[size:], "\n")) // empty lines above the row
			return rows, size, err
		}
		line, _ := r.FieldPos(0)
		rows = append(rows, csvRow{cells: cells, line: line})
		size = int(r.InputOffset())
	}
}

// fitsNames reports whether the cells of a row are surely below their names. A row with more cells than names may have one that was cut in
// two, such as a price with a comma.
func fitsNames(names, row []string, hasNumbers []bool) bool {
	extra := len(row) - len(names)
	if extra <= 0 || !isFilled(row[len(names):]) {
		return true
	}
	for i := range names {
		if hasNumbers[i] != hasDigit(row[i]) && row[i] != "" {
			return false
		}
	}
	last := strings.TrimSpace(row[len(names)])
	return !hasDigit(row[len(names)-1]) || !isCents.MatchString(last)
}

// isCents matches what may be the second half of a price.
var isCents = regexp.MustCompile(`^\d\d\D{0,4}$`)

// columnsWithNumbers returns for each column whether most cells below the header have a digit.
func columnsWithNumbers(rows [][]string, header int) []bool {
	if header < 0 {
		return nil
	}
	kinds := make([]bool, len(rows[header]))
	for i := range kinds {
		numbers, all := 0, 0
		for _, row := range rows[header+1:] {
			if i < len(row) && row[i] != "" {
				all++
				if hasDigit(row[i]) {
					numbers++
				}
			}
		}
		kinds[i] = 2*numbers > all
	}
	return kinds
}

// declaredDelimiter matches the line above a table in which Excel declares the delimiter.
var declaredDelimiter = regexp.MustCompile(`^(?i:sep=)([,;\t|])\n`)

// quotedCell matches a quoted cell, which may contain delimiters.
var quotedCell = regexp.MustCompile(`"[^"]*"`)

// delimiterLines is how many lines are used to detect the delimiter.
const delimiterLines = 50

// delimiter returns the delimiter that occurs on most of the first lines. Another one is preferred to a comma that occurs
// as often, because numbers contain commas, too.
func delimiter(data []byte) rune {
	lines := strings.SplitN(string(data), "\n", delimiterLines+1)
	best, most := ',', 0
	for _, d := range "\t;|," {
		n := 0
		for _, line := range lines[:min(len(lines), delimiterLines)] {
			if strings.ContainsRune(quotedCell.ReplaceAllString(line, ""), d) {
				n++
			}
		}
		if n > most {
			best, most = d, n
		}
	}
	return best
}
