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

	"multis/internal/text"
)

// maxUnpacked is the maximum unpacked size of a part of the file, in bytes. Parts are read as streams.
const maxUnpacked = 128 << 20

// readDOCX reads a Word file: paragraphs below their headings, tables with a row on each line, footnotes and endnotes.
func readDOCX(data []byte) (document, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return document{}, ErrBroken
	}
	styles := docxStyles{byID: map[string]docxStyle{}}
	if part := findPart(archive, stylesPart); part != nil {
		if err := unpack(part, styles.read); err != nil {
			return document{}, err
		}
	}
	main := findPart(archive, mainPart)
	if main == nil {
		return document{}, ErrBroken
	}
	reader := docxReader{styles: styles, shared: &docxTotals{}}
	if err := unpack(main, reader.read); err != nil {
		return document{}, err
	}
	if err := reader.notes(archive); err != nil {
		return document{}, err
	}
	return document{Format: formatWord, Sections: reader.finish(), Notes: reader.shared.unseen.notes()}, nil
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

// docxReader reads the body of a Word file element by element.
type docxReader struct {
	styles   docxStyles
	shared   *docxTotals
	sections []section
	above    headings
	text     strings.Builder // text of the open section
	title    string          // title of the open section, while the section has no text

	paragraph  strings.Builder
	hidden     strings.Builder // text of the open paragraph that cannot be seen
	style      string          // of the open paragraph
	outline    int             // heading level that the open paragraph itself has; -1 if it has none
	isListItem bool
	isBox      bool   // it reads a text box
	isHidden   bool   // that cannot be seen
	background bool   // the open paragraph has a background of its own
	runs       []look // looks of the open runs; more than one in text above text
	inText     bool
	skip       int             // nesting depth inside a skipped element, from 1; 0 outside
	box        *docxReader     // reads the open text box; nil outside
	boxDepth   int             // nesting depth inside the text box
	boxes      strings.Builder // text of the boxes of the open paragraph

	rows          int      // how many table rows are open: more than 1 in a nested table
	row, rowAbove []string // cells of the open row, and of the one above it
	cell          strings.Builder
	span          int  // columns that the open cell spans
	merged        bool // the open cell continues the one above
	isHeaderRow   bool // the open row is the header
	isHiddenRow   bool // the open row cannot be seen
}

// docxTotals are shared by the readers of a file and of its text boxes.
type docxTotals struct {
	size      int  // bytes of text so far
	hasColour bool // the pages have a background
	unseen    unseen
}

func (r *docxReader) read(d *xml.Decoder) error { return walkTokens(d, r.begin, r.end, r.characters) }

// isSkipped reports whether an element repeats others, or holds what was there before a tracked change.
func isSkipped(name string) bool {
	return name == "Fallback" || name == "del" || name == "moveFrom" || strings.HasSuffix(name, "PrChange")
}

func (r *docxReader) begin(e xml.StartElement) error {
	name := e.Name.Local
	if r.box != nil {
		r.boxDepth++
		return r.box.begin(e)
	}
	if r.skip > 0 || isSkipped(name) {
		r.skip++
		return nil
	}
	switch name {
	case "txbxContent":
		n := len(r.runs)
		r.box = &docxReader{
			styles:     r.styles,
			shared:     r.shared,
			isBox:      true,
			background: true,
			isHidden:   r.isHidden || n > 0 && !r.isSeen(r.runs[n-1]),
		}
	case "background":
		r.shared.hasColour = true
	case "p":
		r.style = ""
		r.isListItem = false
		r.outline = -1
	case "r":
		r.runs = append(r.runs, look{})
	case "t":
		r.inText = true
	case "tab", "ptab":
		r.write(" ")
	case "br", "cr":
		r.write("\n")
	case "noBreakHyphen":
		r.write("-")
	case "tbl":
		r.addBlankLine()
		if r.rows == 0 {
			r.rowAbove = nil
		}
	default:
		r.beginProperty(e)
	}
	return nil
}

// beginProperty takes in a property of a run, a paragraph, or a table. The mark at the end of a paragraph has properties of a run, too,
// but no text.
func (r *docxReader) beginProperty(e xml.StartElement) {
	if n := len(r.runs); n > 0 {
		r.runs[n-1].set(e)
		return
	}
	switch e.Name.Local {
	case "pStyle":
		r.style = attribute(e, "val")
	case "outlineLvl":
		r.outline = outlineLevel(attribute(e, "val"))
	case "numPr":
		r.isListItem = true
	case "shd":
		r.background = r.background || isColoured(e)
	default:
		r.beginInTable(e)
	}
}

// level returns the level of the open paragraph as a heading; 0 if it is none.
func (r *docxReader) level() int {
	if r.outline >= 0 {
		return r.outline
	}
	return r.styles.level(r.style)
}

// write appends to the open paragraph, or to its hidden text.
func (r *docxReader) write(said string) {
	if n := len(r.runs); r.isHidden || n > 0 && !r.isSeen(r.runs[n-1]) {
		r.hidden.WriteString(said)
		return
	}
	r.paragraph.WriteString(said)
}

// isSeen reports whether a reader sees the text of a run. White text is hidden on white paper; a table or a text box may have a background.
func (r *docxReader) isSeen(run look) bool {
	run = r.styles.look(r.style, run)
	isOnPaper := r.rows == 0 && !r.background && !r.shared.hasColour
	return run.hidden != on && (run.size == 0 || run.size > maxUnreadable) && !(isOnPaper && run.color == white && !run.background)
}

func (r *docxReader) beginInTable(e xml.StartElement) {
	switch e.Name.Local {
	case "tr":
		if r.rows++; r.rows == 1 {
			r.row = nil
			r.isHeaderRow = false
			r.isHiddenRow = false
		}
	case "tc":
		if r.rows == 1 {
			r.span, r.merged = 1, false
		}
	case "gridBefore": // the row begins in a later column
		if n, err := strconv.Atoi(attribute(e, "val")); err == nil && r.rows == 1 {
			r.row = append(r.row, make([]string, min(max(n, 0), maxColumns))...)
		}
	case "gridSpan":
		if n, err := strconv.Atoi(attribute(e, "val")); err == nil && r.rows == 1 {
			r.span = min(max(n, 1), maxColumns)
		}
	case "vMerge":
		r.merged = r.merged || r.rows == 1 && attribute(e, "val") != "restart"
	case "tblHeader":
		r.isHeaderRow = r.isHeaderRow || r.rows == 1 && toggleOf(e) == on
	case "hidden":
		r.isHiddenRow = r.isHiddenRow || r.rows == 1 && toggleOf(e) == on
	}
}

func (r *docxReader) characters(text []byte) error {
	if r.box != nil {
		return r.box.characters(text)
	}
	if !r.inText || r.skip > 0 {
		return nil
	}
	if r.shared.size += len(text); r.shared.size > maxText {
		return ErrZipBomb
	}
	r.write(string(text))
	return nil
}

func (r *docxReader) end(name string) {
	switch {
	case r.box != nil && r.boxDepth > 0:
		r.boxDepth--
		r.box.end(name)
		return
	case r.box != nil:
		r.endBox()
		return
	case r.skip > 0:
		r.skip--
		return
	}
	switch name {
	case "t":
		r.inText = false
	case "r":
		r.runs = r.runs[:max(len(r.runs)-1, 0)]
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

// endBox keeps the text of a text box until the paragraph that it is anchored in ends.
func (r *docxReader) endBox() {
	for _, s := range r.box.finish() {
		if len(s.Path) > 0 && s.Text != s.Path[len(s.Path)-1] {
			r.boxes.WriteString(s.Path[len(s.Path)-1] + "\n\n")
		}
		r.boxes.WriteString(strings.TrimSpace(s.Text) + "\n\n")
	}
	r.box = nil
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
	if r.isHiddenRow {
		r.shared.unseen.add(strings.Join(r.row, " | "))
		return
	}
	line := "| " + strings.Join(r.row, " | ") + " |\n"
	if r.shared.size += len(line); r.shared.size > maxText {
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
	r.shared.unseen.add(strings.ReplaceAll(r.hidden.String(), "\n", " "))
	r.hidden.Reset()
	boxes := strings.TrimSpace(r.boxes.String())
	r.boxes.Reset()
	level := r.level()
	switch {
	case r.rows > 0:
		r.writeInCell(said + " " + boxes)
		boxes = ""
	case said == "":
	case level > 0:
		r.heading(level, said)
	case r.isListItem:
		r.text.WriteString("- " + said + "\n")
	default:
		r.writeBlock(said)
	}
	if boxes != "" {
		r.writeBlock(boxes)
	}
	r.style = ""
	r.outline = -1
	r.background = r.isBox
}

func (r *docxReader) writeInCell(said string) {
	if said = strings.ReplaceAll(text.CollapseSpaces(said), "|", "/"); said != "" {
		r.cell.WriteString(" " + said)
	}
}

// writeBlock writes a text with an empty line above and below it.
func (r *docxReader) writeBlock(said string) {
	r.addBlankLine()
	r.text.WriteString(said + "\n\n")
}

// addBlankLine ends the text so far with an empty line, so that the next text begins a new paragraph.
func (r *docxReader) addBlankLine() {
	if r.rows == 0 && r.text.Len() > 0 && !strings.HasSuffix(r.text.String(), "\n\n") {
		r.text.WriteByte('\n')
	}
}

// heading ends the open section and begins another. A heading without text, followed by a deeper heading, gets no
// section: it is in the path of the deeper ones.
func (r *docxReader) heading(level int, title string) {
	r.close(!r.above.below(level))
	r.above.open(level, title)
	r.title = title
	if len(title) > maxHeading { // a paragraph by its length: all of it is text
		r.writeBlock(title)
	}
}

// close ends the open section. If alone is set, a heading without text below it becomes a section whose text is the heading.
func (r *docxReader) close(alone bool) {
	said := r.text.String()
	r.text.Reset()
	if strings.TrimSpace(said) == "" {
		if said = r.title; !alone || said == "" {
			return
		}
	}
	r.sections = append(r.sections, section{Path: r.above.path, Text: said})
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
