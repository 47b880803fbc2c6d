package knowledge

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"strings"
)

// csvRows writes each row of a table as a line that can be found and quoted alone: "| Item: Baguette; Price: 1.80 €".
// Each line keeps its number in the file.
func csvRows(data []byte) []section {
	table, comma := data, delimiter(data)
	if said := declaredDelimiter.FindSubmatch(data); said != nil {
		table, comma = data[len(said[0])-1:], rune(said[1][0]) // the line end is kept, so that line numbers stay right
	}
	r := csv.NewReader(bytes.NewReader(table))
	r.Comma = comma
	r.LazyQuotes = true
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	var header []string
	var text strings.Builder
	lines := 0
	for first := true; ; first = false {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil { // it is not CSV
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
		if said := rowText(header, row); said != "" {
			text.WriteString(rowMark + said)
		}
		if text.Len() > maxText {
			break // sanitize refuses a document that is this big
		}
	}
	if header != nil && strings.TrimSpace(text.String()) == "" {
		return []section{{Text: rowMark + rowText(nil, header), Line: 1}}
	}
	return []section{{Text: text.String() + "\n", Line: 1}}
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
