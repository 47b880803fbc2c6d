package knowledge

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// maxUnpacked is the maximum unpacked size of a part of the file, in bytes. Parts are read as streams.
const maxUnpacked = 128 << 20

// readDOCX reads a Word file: paragraphs below their headings, tables with a row on each line, footnotes and endnotes.
func readDOCX(data []byte) (document, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return document{}, ErrBroken
	}
	levels := map[string]int{}
	if styles := findPart(archive, stylesPart); styles != nil {
		if err := unpack(styles, func(d *xml.Decoder) error { return headingStyles(d, levels) }); err != nil {
			return document{}, err
		}
	}
	main := findPart(archive, mainPart)
	if main == nil {
		return document{}, ErrBroken
	}
	reader := docxReader{levels: levels}
	if err := unpack(main, reader.read); err != nil {
		return document{}, err
	}
	if err := reader.notes(archive); err != nil {
		return document{}, err
	}
	return document{Format: formatWord, Sections: reader.finish()}, nil
}

var (
	stylesPart = regexp.MustCompile(`^word/styles\d*\.xml$`)
	mainPart   = regexp.MustCompile(`^word/document\d*\.xml$`)
	footPart   = regexp.MustCompile(`^word/footnotes\d*\.xml$`)
	endPart    = regexp.MustCompile(`^word/endnotes\d*\.xml$`)
)

func findPart(archive *zip.Reader, name *regexp.Regexp) *zip.File {
	for _, f := range archive.File {
		if name.MatchString(f.Name) {
			return f
		}
	}
	return nil
}

// unpack calls read with one part of the file. It reads no more than the size that the part declares.
func unpack(f *zip.File, read func(*xml.Decoder) error) error {
	if f.UncompressedSize64 > maxUnpacked {
		return ErrZipBomb
	}
	r, err := f.Open()
	if err != nil {
		return ErrBroken
	}
	defer r.Close()
	err = read(xml.NewDecoder(r))
	if err != nil && !errors.Is(err, ErrZipBomb) {
		return ErrBroken
	}
	return err
}

// maxNested is how deep elements may be nested. The decoder keeps all open ones in memory.
const maxNested = 10_000

// walkTokens calls begin and end for each element of d, and text for each text.
func walkTokens(d *xml.Decoder, begin func(xml.StartElement) error, end func(name string), text func([]byte) error) error {
	for nested := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			switch t := token.(type) {
			case xml.StartElement:
				if nested++; nested > maxNested {
					return ErrZipBomb
				}
				err = begin(t)
			case xml.EndElement:
				nested--
				end(t.Name.Local)
			case xml.CharData:
				err = text(t)
			}
		}
		if err != nil {
			return err
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// outlineLevel converts an outline level (0 to 5) to the level of a heading (1 to 6). It returns 0, which means plain
// text, for any other value; also for Word's levels 6 to 8.
func outlineLevel(value string) int {
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0
	}
	if n < 0 || n > 5 {
		return 0
	}
	return n + 1
}

// maxStyles is the maximum number of styles of a file.
const maxStyles = 10_000

// headingStyles adds the heading levels of styles to levels: by their outline level, their name, or the style they are based on.
func headingStyles(d *xml.Decoder, levels map[string]int) error {
	parents := map[string]string{}
	style := ""
	err := walkTokens(d, func(e xml.StartElement) error {
		switch e.Name.Local {
		case "style":
			style = attribute(e, "styleId")
		case "name":
			if level, found := strings.CutPrefix(strings.ToLower(attribute(e, "val")), "heading "); found && levels[style] == 0 {
				if n, err := strconv.Atoi(level); err == nil {
					levels[style] = outlineLevel(strconv.Itoa(n - 1))
				}
			}
		case "outlineLvl":
			levels[style] = outlineLevel(attribute(e, "val"))
		case "basedOn":
			parents[style] = attribute(e, "val")
		}
		if len(parents)+len(levels) > maxStyles {
			return ErrZipBomb
		}
		return nil
	}, func(string) {}, func([]byte) error { return nil })
	for id := range parents {
		if _, own := levels[id]; own {
			continue
		}
		for parent, steps := parents[id], 0; parent != "" && steps < 10; parent, steps = parents[parent], steps+1 {
			if level := levels[parent]; level > 0 {
				levels[id] = level
				break
			}
		}
	}
	return err
}

// docxReader reads the body of a Word file element by element.
type docxReader struct {
	levels   map[string]int // levels of headings, by style
	sections []section
	above    headings
	text     strings.Builder // text of the open section
	size     int             // bytes of text so far, in all sections
	title    string          // title of the open section, while the section has no text

	paragraph     strings.Builder
	level         int // heading level of the open paragraph; 0 if it is no heading
	isListItem    bool
	inText        bool
	skip          int      // nesting depth inside a skipped element, from 1; 0 outside
	rows          int      // how many table rows are open: more than 1 in a nested table
	row, rowAbove []string // cells of the open row, and of the one above it
	cell          strings.Builder
	span          int  // columns that the open cell spans
	merged        bool // the open cell continues the one above
	isHeaderRow   bool // the open row is the header
}

func (r *docxReader) read(d *xml.Decoder) error { return walkTokens(d, r.begin, r.end, r.characters) }

func (r *docxReader) begin(e xml.StartElement) error {
	name := e.Name.Local
	if r.skip > 0 || name == "Fallback" || name == "del" || name == "moveFrom" { // duplicates and deleted text
		r.skip++
		return nil
	}
	switch name {
	case "p":
		r.level, r.isListItem = 0, false
	case "pStyle":
		r.level = r.levels[attribute(e, "val")]
	case "outlineLvl":
		r.level = outlineLevel(attribute(e, "val"))
	case "numPr":
		r.isListItem = true
	case "t":
		r.inText = true
	case "tab":
		r.paragraph.WriteByte(' ')
	case "br", "cr":
		r.paragraph.WriteByte('\n')
	case "noBreakHyphen":
		r.paragraph.WriteByte('-')
	case "tbl":
		r.addBlankLine()
		if r.rows == 0 {
			r.rowAbove = nil
		}
	default:
		r.beginInTable(e)
	}
	return nil
}

func (r *docxReader) beginInTable(e xml.StartElement) {
	switch e.Name.Local {
	case "tr":
		if r.rows++; r.rows == 1 {
			r.row, r.isHeaderRow = nil, false
		}
	case "tc":
		if r.rows == 1 {
			r.span, r.merged = 1, false
		}
	case "gridSpan":
		if n, err := strconv.Atoi(attribute(e, "val")); err == nil && r.rows == 1 {
			r.span = min(max(n, 1), maxColumns)
		}
	case "vMerge":
		r.merged = r.merged || r.rows == 1 && attribute(e, "val") != "restart"
	case "tblHeader":
		r.isHeaderRow = r.isHeaderRow || r.rows == 1 && attribute(e, "val") != "0" && attribute(e, "val") != "false"
	}
}

func (r *docxReader) characters(text []byte) error {
	if !r.inText || r.skip > 0 {
		return nil
	}
	if r.size += len(text); r.size > maxText {
		return ErrZipBomb
	}
	r.paragraph.Write(text)
	return nil
}

func (r *docxReader) end(name string) {
	if r.skip > 0 {
		r.skip--
		return
	}
	switch name {
	case "t":
		r.inText = false
	case "p":
		r.endParagraph()
	case "tc":
		if r.rows == 1 {
			r.endCell()
		}
	case "tr":
		if r.rows--; r.rows == 0 {
			r.endRow()
		}
	}
}

// maxColumns is how many columns a cell may span, as in Word.
const maxColumns = 63

// endCell adds a cell to the row, once for each column that it spans. A cell that continues the one above repeats its text. A text over
// maxRepeated bytes is not repeated: the further cells are empty.
func (r *docxReader) endCell() {
	said := strings.TrimSpace(r.cell.String())
	r.cell.Reset()
	if at := len(r.row); said == "" && r.merged && at < len(r.rowAbove) && len(r.rowAbove[at]) <= maxRepeated {
		said = r.rowAbove[at]
	}
	r.row = append(r.row, said)
	if len(said) > maxRepeated {
		said = ""
	}
	for range r.span - 1 {
		r.row = append(r.row, said)
	}
}

// endRow writes a row as Markdown. tableRows finds the header if no row is marked as one.
func (r *docxReader) endRow() {
	line := "| " + strings.Join(r.row, " | ") + " |\n"
	if r.size += len(line); r.size > maxText {
		return
	}
	if r.text.WriteString(line); r.isHeaderRow && r.rowAbove == nil {
		r.text.WriteString("|" + strings.Repeat(" --- |", len(r.row)) + "\n")
	}
	r.rowAbove = r.row
}

func (r *docxReader) endParagraph() {
	said := strings.TrimSpace(r.paragraph.String())
	r.paragraph.Reset()
	switch {
	case said == "":
	case r.rows > 0:
		r.cell.WriteString(" " + strings.ReplaceAll(strings.Join(strings.Fields(said), " "), "|", "/"))
	case r.level > 0:
		r.heading(said)
	case r.isListItem:
		r.text.WriteString("- " + said + "\n")
	default:
		r.addBlankLine()
		r.text.WriteString(said + "\n\n")
	}
	r.level = 0
}

// addBlankLine ends the text so far with an empty line, so that the next text begins a new paragraph.
func (r *docxReader) addBlankLine() {
	if r.rows == 0 && r.text.Len() > 0 && !strings.HasSuffix(r.text.String(), "\n\n") {
		r.text.WriteByte('\n')
	}
}

// heading ends the open section and begins another. A heading without text, followed by a deeper heading, gets no
// section: it is in the path of the deeper ones.
func (r *docxReader) heading(title string) {
	r.close(!r.above.below(r.level))
	r.above.open(r.level, title)
	r.title = title
}

// close ends the open section. If alone is set, a heading without text below it becomes a section whose text is the heading.
func (r *docxReader) close(alone bool) {
	text := r.text.String()
	r.text.Reset()
	if strings.TrimSpace(text) == "" {
		if text = r.title; !alone || text == "" {
			return
		}
	}
	r.sections = append(r.sections, section{Path: r.above.path, Text: text})
	r.title = ""
}

// notes reads footnotes and endnotes, each as a section.
func (r *docxReader) notes(archive *zip.Reader) error {
	for _, notes := range []struct {
		part  *regexp.Regexp
		title string
	}{{footPart, "Footnotes"}, {endPart, "Endnotes"}} {
		f := findPart(archive, notes.part)
		if f == nil {
			continue
		}
		r.close(true)
		r.above = headings{path: []string{notes.title}, levels: []int{1}}
		if err := unpack(f, r.read); err != nil {
			return err
		}
	}
	return nil
}

func (r *docxReader) finish() []section {
	r.close(true)
	return r.sections
}
