package knowledge

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// articleShare is the minimum share of a page's text that a detected article must have. If it has less, or lacks a table of
// the page, the page is probably not an article but, for example, a price list, and all of its text is read.
const articleShare = 0.4

// wordJoiner is appended to headings while a page is converted to Markdown, because in Markdown a # at the end of a
// heading is not part of its text.
const wordJoiner = "\u2060"

// readHTML reads the article of a page, with its headings, lists and tables, and leaves out navigation and the like.
func readHTML(data []byte) (document, error) {
	page, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		return document{}, ErrBroken
	}
	view := newPageStyles(page)
	var left unseen
	remove(page, view.isUnseen, left.addNode) // before the article is copied, because the copy has no styles
	view.unfold(page)
	parser := readability.NewParser()
	title, content := "", page
	if article, err := parser.ParseDocument(page, nil); err == nil {
		title = article.Title()
		if article.Node != nil {
			content = article.Node
			remove(content, func(n *html.Node) bool { return n.DataAtom != atom.Form && isBoilerplate(n) }, nil)
		}
	}
	whole := textLength(page)
	remove(page, func(n *html.Node) bool {
		return isBoilerplate(n) && !(n.DataAtom == atom.Form && float64(textLength(n)) > articleShare*float64(whole))
	}, nil)
	if content != page && (float64(textLength(content)) < articleShare*float64(textLength(page)) || countTables(content) < countTables(page)) {
		content = page
	}
	separateCells(content)
	convert := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithSpanCellBehavior(table.SpanBehaviorMirror), table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))), converter.WithEscapeMode(converter.EscapeModeDisabled))
	removeLinks(content)
	limitSpans(content)
	text, err := convert.ConvertNode(content)
	if err != nil {
		return document{}, ErrBroken
	}
	sections := markdown(append(bytes.ReplaceAll(text, []byte(wordJoiner), nil), '\n'))
	for i := range sections {
		sections[i].Line = 0 // the lines are those of the Markdown, not of the file
		if title != "" && (len(sections[i].Path) == 0 || sections[i].Path[0] != title) {
			sections[i].Path = append([]string{title}, sections[i].Path...)
		}
	}
	return document{Format: formatHTML, Title: title, Sections: sections, Notes: left.notes()}, nil
}

// remove removes the elements below n that isUnwanted is true for. If removed is not nil, it is called with each of them.
func remove(n *html.Node, isUnwanted func(*html.Node) bool, removed func(*html.Node)) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		if !isUnwanted(child) {
			remove(child, isUnwanted, removed)
			child = next
			continue
		}
		if removed != nil {
			removed(child)
		}
		n.RemoveChild(child)
		child = next
	}
}

// countTables returns how many tables with text are at or below n.
func countTables(n *html.Node) int {
	count := 0
	if n.DataAtom == atom.Table && textLength(n) > 0 {
		count++
	}
	for child := range n.ChildNodes() {
		count += countTables(child)
	}
	return count
}

// isBoilerplate reports whether a part of a page is no text for readers.
func isBoilerplate(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Head, atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Nav, atom.Svg, atom.Iframe, atom.Form, atom.Button,
		atom.Object:
		return true
	default:
		return n.Type == html.CommentNode
	}
}

// unfold shows the elements that a reader can unfold, and makes a text of each button that is one: the question above its answer, or a
// heading.
func (s pageStyles) unfold(page *html.Node) {
	for n := range page.Descendants() {
		parent := n.Parent
		switch {
		case n.Type == html.ElementNode && s.isHidden(n):
			n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool {
				return slices.Contains([]string{"hidden", "aria-hidden", "style"}, a.Key)
			})
		case n.DataAtom != atom.Button:
		case isHeading(parent):
			n.DataAtom = atom.Span
			n.Data = "span"
			n.Attr = nil
		case parent.DataAtom == atom.Summary, parent.DataAtom == atom.Dt, attr(n, "aria-expanded") != "":
			n.DataAtom = atom.Div
			n.Data = "div"
			n.Attr = nil
		}
	}
}

func isHeading(n *html.Node) bool {
	switch n.DataAtom {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	default:
		return false
	}
}

// attr returns the value of an attribute; empty if the element does not have it.
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// removeLinks replaces links by their text and removes pictures, because addresses are neither searched nor quoted. It
// also removes a heading's link to itself, and a heading that consists of nothing else.
func removeLinks(n *html.Node) {
	for child := n.FirstChild; child != nil; {
		next := child.NextSibling
		removeLinks(child)
		switch child.DataAtom {
		case atom.Img:
			n.RemoveChild(child)
		case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.A:
			switch {
			case strings.Trim(plain(child), "#¶§ \t\n") == "":
				n.RemoveChild(child)
			case child.DataAtom != atom.A:
				child.AppendChild(&html.Node{Type: html.TextNode, Data: wordJoiner})
			default:
				child.DataAtom = atom.Span
				child.Data = "span"
				child.Attr = nil
			}
		default:
		}
		child = next
	}
}

// limitSpans limits the colspan and rowspan of table cells to the size of the table. A cell is repeated in each column
// and row it spans, and many pages have colspan="1000" for a cell over all columns.
func limitSpans(content *html.Node) {
	for n := range content.Descendants() {
		if n.DataAtom == atom.Table {
			limitTableSpans(n)
		}
	}
}

// separateCells puts a space behind each table cell, because the cells of a table in a table are joined.
func separateCells(content *html.Node) {
	for n := range content.Descendants() {
		if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
			n.AppendChild(&html.Node{Type: html.TextNode, Data: " "})
		}
	}
}

func limitTableSpans(table *html.Node) {
	var rows [][]*html.Node
	columns := 1
	for n := range table.Descendants() {
		switch last := len(rows) - 1; {
		case n.DataAtom == atom.Tr:
			rows = append(rows, nil)
		case (n.DataAtom == atom.Td || n.DataAtom == atom.Th) && last >= 0:
			rows[last] = append(rows[last], n)
			columns = max(columns, len(rows[last]))
		}
	}
	for i, cells := range rows {
		for _, cell := range cells {
			most := map[string]int{"colspan": columns, "rowspan": len(rows) - i}
			if len(plain(cell)) > maxRepeated {
				most = map[string]int{"colspan": 1, "rowspan": 1}
			}
			for j, a := range cell.Attr {
				if n, err := strconv.Atoi(a.Val); err == nil && most[a.Key] > 0 {
					cell.Attr[j].Val = strconv.Itoa(min(n, most[a.Key]))
				}
			}
		}
	}
}

// plain returns the text below n.
func plain(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var text strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		text.WriteString(plain(child))
	}
	return text.String()
}

// textLength returns the number of bytes of the text below n, without white space.
func textLength(n *html.Node) int {
	size := 0
	for word := range strings.FieldsSeq(plain(n)) {
		size += len(word)
	}
	return size
}
