package knowledge

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode"
)

// csvRows makes a line of each row of a table, which can be read and quoted alone: "Item: Baguette; Price: 1.80 €". Lines
// stay where they are in the file.
func csvRows(data []byte) []section {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = delimiter(data), true, -1, true
	var header []string
	var text strings.Builder
	lines := 0
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // no table after all
			return []section{{Text: string(data), Line: 1}}
		}
		line, _ := r.FieldPos(0)
		if first && isHeader(row) {
			header = append([]string(nil), row...)
			continue
		}
		for ; lines < line-1; lines++ {
			text.WriteByte('\n')
		}
		text.WriteString(rowText(header, row))
		if text.Len() > maxText {
			break // tidy refuses it
		}
	}
	if header != nil && strings.TrimSpace(text.String()) == "" {
		return []section{{Text: rowText(nil, header), Line: 1}}
	}
	return []section{{Text: text.String() + "\n", Line: 1}}
}

// rowText is one row on one line.
func rowText(header, row []string) string {
	var parts []string
	for i, cell := range row {
		cell = strings.Join(strings.Fields(cell), " ")
		if cell == "" {
			continue
		}
		if i < len(header) && strings.TrimSpace(header[i]) != "" {
			cell = strings.Join(strings.Fields(header[i]), " ") + ": " + cell
		}
		parts = append(parts, cell)
	}
	return strings.Join(parts, "; ")
}

// isHeader tells whether a first row names the columns: words, all different, and no numbers.
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

// delimiter is what stands most often in the first line; a comma when nothing does.
func delimiter(data []byte) rune {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	best, most := ',', 0
	for _, d := range ",;\t|" {
		if n := bytes.Count(line, []byte(string(d))); n > most {
			best, most = d, n
		}
	}
	return best
}
