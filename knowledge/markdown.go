package knowledge

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown cuts a Markdown file at its headings. Lines inside code, lists and quotes are not headings.
func markdown(source []byte) []section {
	front := frontMatter(source)
	visible := bytes.Clone(source)
	for i := range visible[:front] {
		if visible[i] != '\n' {
			visible[i] = ' '
		}
	}
	for _, deep := range deepNesting.FindAllIndex(visible, -1) {
		copy(visible[deep[0]:deep[1]], bytes.Repeat([]byte(" "), deep[1]-deep[0]))
	}
	blocks := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	doc := blocks.Parse(text.NewReader(visible))

	inline := parser.NewParser(parser.WithBlockParsers(util.Prioritized(parser.NewParagraphParser(), 1)),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...))
	cutter := sectionCutter{source: source, inline: inline}
	if front > 0 {
		cutter.close(front)
	}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Lines().Len() > 0 {
			cutter.heading(h)
		}
	}
	cutter.close(len(source))
	return cutter.sections
}

// deepNesting matches lists and quotes that are nested deeper than people write. The parser needs quadratic time for them.
var deepNesting = regexp.MustCompile(`(?m)^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){20,}`)

// frontMatter returns the length of the front matter: settings above the text between lines of three dashes.
func frontMatter(source []byte) int {
	if !bytes.HasPrefix(source, []byte("---\n")) {
		return 0
	}
	end := bytes.Index(source[3:], []byte("\n---\n"))
	if end < 0 {
		return 0
	}
	return 3 + end + len("\n---\n")
}

// sectionCutter cuts a file into sections, heading by heading.
type sectionCutter struct {
	source       []byte
	inline       parser.Parser // for the text of headings
	sections     []section
	above        headings
	headingStart int // offset of the last heading
	from         int // offset of the text below the last heading
	countedTo    int // offset up to which line ends are counted
	lines        int // line ends before countedTo
}

// heading ends the section before h and begins the one below it.
func (c *sectionCutter) heading(h *ast.Heading) {
	lines := h.Lines()
	start := bytes.LastIndexByte(c.source[:lines.At(0).Start], '\n') + 1
	end := lineEnd(c.source, lines.At(lines.Len()-1).Stop-1)
	if !bytes.HasPrefix(bytes.TrimLeft(c.source[start:end], " "), []byte("#")) {
		end = lineEnd(c.source, end) // the line of dashes below it
	}
	if c.above.below(h.Level) && len(bytes.TrimSpace(c.source[c.from:start])) == 0 {
		c.from = start // a heading without text, followed by a deeper heading, gets no section: it is in the path of the deeper ones
	} else {
		c.close(start)
	}
	c.above.open(h.Level, headingText(c.inline, h, c.source))
	c.headingStart, c.from = start, end
}

// close ends the open section. A heading without text below it becomes a section with its own text.
func (c *sectionCutter) close(end int) {
	from, path := c.from, c.above.path
	if len(bytes.TrimSpace(c.source[from:end])) == 0 {
		if len(path) == 0 {
			c.from = end
			return
		}
		from = c.headingStart
	}
	c.sections = append(c.sections, section{Path: path, Text: string(c.source[from:end]), Line: c.lineOf(from)})
	c.headingStart, c.from = end, end
}

// lineOf returns the line, from 1, that begins at an offset. Offsets of successive calls must not decrease.
func (c *sectionCutter) lineOf(at int) int {
	c.lines += bytes.Count(c.source[c.countedTo:at], []byte("\n"))
	c.countedTo = at
	return 1 + c.lines
}

// lineEnd returns the offset after the first line end at or after at.
func lineEnd(source []byte, at int) int {
	if at < len(source) {
		if i := bytes.IndexByte(source[at:], '\n'); i >= 0 {
			return at + i + 1
		}
	}
	return len(source)
}

// headingText returns the text of a heading without markup.
func headingText(inline parser.Parser, h *ast.Heading, source []byte) string {
	line := h.Lines().Value(source)
	line = bytes.ToValidUTF8(line[:min(len(line), maxHeading)], nil)
	return plainText(inline.Parse(text.NewReader(line)), line)
}

// plainText returns the text of the nodes below n, without markup.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Segment.Value(source))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.URL(source))
		default:
			b.WriteString(plainText(c, source))
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
