package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pictureDir is where the pictures of README are, from the folder of the source.
const pictureDir = "docs/pictures"

// The measures of a picture, in pixels; a letter is taken as wide as one of its wide ones, so that no line leaves its bubble.
const (
	phoneWidth   = 420
	bubbleWidth  = 352
	margin       = 16
	padding      = 12
	lineHeight   = 19
	letters      = 42 // on a line
	nameHeight   = 18
	bubbleGap    = 12
	cornerRadius = 12
)

// bubble is a message of a picture.
type bubble struct {
	who   string
	lines []string
	// own is true for what the owner or multis in the owner's name says: it stands to the right.
	own bool
}

// changing matches what differs from run to run without being other words: times and dates.
var changing = regexp.MustCompile(`\d+:\d\d|(Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d+ [A-Z][a-z]+`)

// writePicture draws what was said as a phone shows it, and returns the path of the SVG. A picture with the same words
// stays as it is, so that a run does not change the repository by its times alone. Outside of the repository the picture
// goes into the folder for temporary files.
func writePicture(name string, said []line) (string, error) {
	dir := pictureDir
	if _, err := os.Stat(dir); err != nil {
		dir = os.TempDir()
	}
	path := filepath.Join(dir, name)
	drawn := draw(said)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if bytes.Equal(changing.ReplaceAll(old, nil), changing.ReplaceAll(drawn, nil)) {
		return path, nil
	}
	return path, os.WriteFile(path, drawn, 0o644)
}

// draw returns what was said as an SVG.
func draw(said []line) []byte {
	var body strings.Builder
	y := margin
	for _, l := range said {
		b := newBubble(l)
		y += b.draw(&body, y) + bubbleGap
	}
	var svg bytes.Buffer
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="14">`+"\n",
		phoneWidth, y)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" rx="%d" fill="#f2f3f5"/>`+"\n", phoneWidth, y, cornerRadius)
	svg.WriteString(body.String())
	svg.WriteString("</svg>\n")
	return svg.Bytes()
}

// markup matches the marks of Markdown that a client does not show.
var markup = regexp.MustCompile("\\*\\*|`")

// blankLines matches two or more line ends.
var blankLines = regexp.MustCompile(`\n{2,}`)

func newBubble(l line) bubble {
	b := bubble{who: l.who, own: strings.HasPrefix(l.who, "you") || strings.HasPrefix(l.who, "to ")}
	words := blankLines.ReplaceAllString(markup.ReplaceAllString(strings.TrimSpace(l.words), ""), "\n")
	for paragraph := range strings.SplitSeq(words, "\n") {
		b.lines = append(b.lines, wrap(strings.TrimRight(paragraph, " "))...)
	}
	return b
}

// wrap breaks a paragraph into lines of at most the letters of a bubble. A quoted one stays quoted.
func wrap(paragraph string) []string {
	mark := ""
	if rest, isQuote := strings.CutPrefix(paragraph, "> "); isQuote {
		mark = "│ "
		paragraph = rest
	}
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(paragraph) {
		if current != "" && utf8.RuneCountInString(mark+current+" "+word) > letters {
			lines = append(lines, mark+current)
			current = ""
		}
		current = strings.TrimPrefix(current+" "+word, " ")
	}
	return append(lines, mark+current)
}

// draw writes a bubble whose name begins at y, and returns its height.
func (b bubble) draw(to *strings.Builder, y int) int {
	left, color := margin, "#ffffff"
	if b.own {
		left = phoneWidth - margin - bubbleWidth
		color = "#dcf3e3"
	}
	height := len(b.lines)*lineHeight + padding
	fmt.Fprintf(to, `<text x="%d" y="%d" font-size="12" fill="#5c6470">%s</text>`+"\n", left+4, y+padding, escaped(b.who))
	fmt.Fprintf(to, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s"/>`+"\n",
		left, y+nameHeight, bubbleWidth, height, cornerRadius, color)
	for i, words := range b.lines {
		fmt.Fprintf(to, `<text x="%d" y="%d" fill="#1b1f24">%s</text>`+"\n",
			left+padding, y+nameHeight+(i+1)*lineHeight, escaped(words))
	}
	return nameHeight + height
}

func escaped(words string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(words)) // writing to memory cannot fail
	return b.String()
}
