package knowledge

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// toggle is the value of a property that is on, off, or not set.
type toggle int8

const (
	unset toggle = iota
	on
	off
)

func toggleOf(e xml.StartElement) toggle {
	switch attribute(e, "val") {
	case "0", "false", "off":
		return off
	default:
		return on
	}
}

const (
	// maxUnreadable is the size up to which nobody can read a text, in half points.
	maxUnreadable = 2
	white         = "FFFFFF"
)

// look is what decides whether a reader sees a text. Properties that are not set have their zero value.
type look struct {
	hidden     toggle
	size       int // in half points
	color      string
	background bool // the text has a background of its own
	style      string
}

// set takes in a property of a run.
func (l *look) set(e xml.StartElement) {
	switch e.Name.Local {
	case "rStyle":
		l.style = attribute(e, "val")
	case "vanish":
		l.hidden = toggleOf(e)
	case "sz":
		l.size, _ = strconv.Atoi(attribute(e, "val")) // 0, which means unset, for a value that is no number
	case "color":
		l.color = strings.ToUpper(attribute(e, "val"))
	case "shd":
		l.background = l.background || isColoured(e)
	case "highlight":
		l.background = l.background || attribute(e, "val") != "none"
	}
}

// mergeLooks returns l with the properties of below where l has none.
func mergeLooks(l, below look) look {
	if l.hidden == unset {
		l.hidden = below.hidden
	}
	if l.size == 0 {
		l.size = below.size
	}
	if l.color == "" {
		l.color = below.color
	}
	l.background = l.background || below.background
	return l
}

// isColoured reports whether an element fills the background with a colour other than that of paper.
func isColoured(e xml.StartElement) bool {
	switch fill := strings.ToUpper(attribute(e, "fill")); {
	case fill != "" && fill != "AUTO" && fill != white, attribute(e, "themeFill") != "":
		return true
	default:
		value := attribute(e, "val")
		return value != "" && value != "clear" && value != "nil"
	}
}

// docxStyle is a style of a Word file.
type docxStyle struct {
	parent string
	level  int // of a heading; 0 for plain text; noLevel if the style does not say
	look   look
}

const noLevel = -1

// docxStyles are the styles of a Word file.
type docxStyles struct {
	byID     map[string]docxStyle
	standard string // the style of paragraphs that name none
	defaults look
}

// maxStyles is the maximum number of styles of a file, and maxStyleDepth is how many of them are followed, each based on the next.
const (
	maxStyles     = 10_000
	maxStyleDepth = 10
)

// read reads the part of a file that has its styles. A style is a heading by its outline level or its name.
func (w *docxStyles) read(d *xml.Decoder) error {
	id := ""
	conditional := 0 // nesting depth inside what a table style says of some cells
	style := docxStyle{level: noLevel}
	return walkTokens(d, func(e xml.StartElement) error {
		if conditional > 0 || e.Name.Local == "tblStylePr" {
			conditional++
			return nil
		}
		switch e.Name.Local {
		case "style":
			id, style = attribute(e, "styleId"), docxStyle{level: noLevel}
			if attribute(e, "type") == "paragraph" && attribute(e, "default") == "1" {
				w.standard = id
			}
		case "name":
			if style.level == noLevel {
				style.level = levelOfName(attribute(e, "val"))
			}
		case "outlineLvl":
			style.level = outlineLevel(attribute(e, "val"))
		case "basedOn":
			style.parent = attribute(e, "val")
		default:
			style.look.set(e)
		}
		return nil
	}, func(name string) {
		switch {
		case conditional > 0:
			conditional--
		case name == "rPrDefault":
			w.defaults, style = style.look, docxStyle{level: noLevel}
		case name == "style" && id != "" && len(w.byID) < maxStyles: // nothing can use a style without an id
			w.byID[id] = style
		}
	}, func([]byte) error { return nil })
}

// levelOfName returns the level of a heading by the name of its style: "heading 1".
func levelOfName(name string) int {
	level, found := strings.CutPrefix(strings.ToLower(name), "heading ")
	if !found {
		return noLevel
	}
	n, err := strconv.Atoi(level)
	if err != nil {
		return noLevel
	}
	return outlineLevel(strconv.Itoa(n - 1))
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

// level returns the level of a style as a heading: its own, or that of the style it is based on; 0 for plain text.
func (w *docxStyles) level(id string) int {
	for range maxStyleDepth {
		style, found := w.byID[id]
		if !found {
			return 0
		}
		if style.level != noLevel {
			return style.level
		}
		id = style.parent
	}
	return 0
}

// ofStyle returns the look of a style with those that it is based on.
func (w *docxStyles) ofStyle(id string) look {
	var sum look
	for range maxStyleDepth {
		style, found := w.byID[id]
		if !found {
			break
		}
		sum = mergeLooks(sum, style.look)
		id = style.parent
	}
	return sum
}

// look returns the look of a run in a paragraph: its own properties, those of its style, those of the paragraph's style, and the defaults.
// Where both styles hide the text, it is seen, as Word has it.
func (w *docxStyles) look(paragraph string, run look) look {
	if paragraph == "" {
		paragraph = w.standard
	}
	character, below := w.ofStyle(run.style), w.ofStyle(paragraph)
	if character.hidden == on && below.hidden == on {
		character.hidden = off
	}
	return mergeLooks(mergeLooks(mergeLooks(run, character), below), w.defaults)
}
