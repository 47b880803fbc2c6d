package knowledge

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"multis/internal/text"
)

// pageStyles knows which elements of a page are seen.
type pageStyles struct {
	hidden   map[string]bool // classes and ids that hide, by hiddenByStyles
	unfolded map[string]bool // ids of elements that another element of the page unfolds, such as the answer below a question
	isPlain  bool            // the page has no styles of its own or of another file, so that its paper is white
}

func newPageStyles(page *html.Node) pageStyles {
	s := pageStyles{hidden: hiddenByStyles(page), unfolded: map[string]bool{}, isPlain: true}
	for n := range page.Descendants() {
		if n.DataAtom == atom.Style || n.DataAtom == atom.Link && strings.EqualFold(attr(n, "rel"), "stylesheet") {
			s.isPlain = false
		}
		for _, key := range []string{"aria-controls", "data-target", "data-bs-target", "href"} {
			value := attr(n, key)
			if id, found := strings.CutPrefix(value, "#"); found || key == "aria-controls" {
				s.unfolded[id] = true
			}
		}
	}
	return s
}

// isUnseen reports whether nobody sees an element. That is no evidence for a whole page, which a script may show later, nor for an answer
// that a click unfolds.
func (s pageStyles) isUnseen(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Html, atom.Body:
		return false
	case atom.Template:
		return true
	default:
		return n.Type == html.ElementNode && s.isHidden(n) && !s.isFolded(n)
	}
}

// isFolded reports whether a reader can unfold an element: the browser's own search does, another element controls it, or the element above
// it says whether it is open.
func (s pageStyles) isFolded(n *html.Node) bool {
	if strings.EqualFold(attr(n, "hidden"), "until-found") || s.unfolded[attr(n, "id")] && attr(n, "id") != "" {
		return true
	}
	above := n.PrevSibling
	for above != nil && above.Type != html.ElementNode {
		above = above.PrevSibling
	}
	if above == nil {
		return false
	}
	for inner := range above.Descendants() {
		if attr(inner, "aria-expanded") != "" {
			return true
		}
	}
	return attr(above, "aria-expanded") != ""
}

// isHidden reports whether an element is hidden, by itself or by the page's styles.
func (s pageStyles) isHidden(n *html.Node) bool {
	isClosed := n.DataAtom == atom.Dialog
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && strings.EqualFold(a.Val, "true"), a.Key == "style" && hides(a.Val),
			a.Key == "id" && s.hidden["#"+a.Val]:
			return true
		case a.Key == "class" && slices.ContainsFunc(strings.Fields(a.Val), func(class string) bool { return s.hidden["."+class] }):
			return true
		}
		isClosed = isClosed && a.Key != "open"
	}
	return isClosed || s.isPlain && isWhiteOnWhite(n)
}

// addNode adds the text below n.
func (u *unseen) addNode(n *html.Node) {
	for n := range n.Descendants() {
		if n.Type == html.TextNode && (n.Parent == nil || !isBoilerplate(n.Parent) || n.Parent.DataAtom == atom.Template) {
			u.add(text.CollapseSpaces(n.Data))
		}
	}
}

var (
	styleComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	styleSpace   = regexp.MustCompile(`\s+`)
	// hidingStyle knows text that is far outside of the page by its offset of at least 999. A negative margin is none: it centres whole pages.
	hidingStyle = regexp.MustCompile(`^(display:none|visibility:(hidden|collapse)|font-size:[+-]?0*\.?0*(%|[a-z]+)?|font-size:0?\.\d+(px|pt)|` +
		`(text-indent|left|right|top|bottom):-(999|\d{4,})(\.\d+)?[a-z]+|clip:rect\((0(px)?|1px)([ ,]+(0(px)?|1px)){3}\)|` +
		`clip-path:inset\((50|100)%\))(!important)?$`)
	showingStyle = regexp.MustCompile(`^(display|visibility|font-size|text-indent|left|right|top|bottom|clip|clip-path):`)
	styleRule    = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	styleName    = regexp.MustCompile(`[.#][\w-]+`)
	// noColour matches a colour without ink: transparent, or with an opacity of 0.
	noColour = regexp.MustCompile(`^(transparent|(rgb|hsl)a?\([^)]*[,/] *0*\.?0*%?\)|#[0-9a-f]{3}0|#[0-9a-f]{6}00)$`)
	// noAlpha matches the colours of noColour that have no fourth value, such as black, and are visible.
	noAlpha     = regexp.MustCompile(`^(rgb|hsl)\([^,/)]*,[^,/)]*,[^,/)]*\)$`)
	whiteColour = regexp.MustCompile(`^(white|#fff|#ffffff|rgb\(255, ?255, ?255\))$`)
)

// declarations returns the declarations of a style, such as "display:none", without needless spaces.
func declarations(style string) []string {
	style = styleSpace.ReplaceAllString(styleComment.ReplaceAllString(strings.ToLower(style), ""), " ")
	list := strings.Split(style, ";")
	for i, d := range list {
		name, value, _ := strings.Cut(d, ":")
		list[i] = strings.TrimSpace(name) + ":" + strings.ReplaceAll(strings.TrimSpace(value), " !", "!")
	}
	return list
}

// hides reports whether the style of an element hides its text. Much that has no opacity is faded in by a script.
func hides(style string) bool {
	list := declarations(style)
	if slices.ContainsFunc(list, hidingStyle.MatchString) {
		return true
	}
	color := lastValue(list, "color")
	if ink := lastValue(list, "-webkit-text-fill-color"); ink != "" {
		color = ink
	}
	if color == "" || lastValue(list, "background-clip") == "text" || lastValue(list, "-webkit-background-clip") == "text" {
		return false // such text shows the colours of its background
	}
	below := lastValue(list, "background-color")
	if below == "" {
		below = lastValue(list, "background")
	}
	return color == below || noColour.MatchString(color) && !noAlpha.MatchString(color)
}

// lastValue returns the value that counts of a property; empty if there is none.
func lastValue(declarations []string, name string) string {
	value := ""
	for _, d := range declarations {
		if v, found := strings.CutPrefix(d, name+":"); found {
			value = strings.TrimSuffix(v, "!important")
		}
	}
	return value
}

// isWhiteOnWhite reports whether an element of a page without styles has white text, and nothing around it says that its background is not
// white.
func isWhiteOnWhite(n *html.Node) bool {
	color := strings.ToLower(attr(n, "color"))
	if n.DataAtom != atom.Font {
		color = lastValue(declarations(attr(n, "style")), "color")
	}
	if !whiteColour.MatchString(color) {
		return false
	}
	for ; n != nil; n = n.Parent {
		if attr(n, "bgcolor") != "" || attr(n, "background") != "" || strings.Contains(attr(n, "style"), "background") {
			return false
		}
	}
	return true
}

// hiddenByStyles returns the classes and ids (".old", "#old") whose text a page's own styles hide. One that other rules
// show, such as that of an open menu or of a wide screen, is not hidden.
func hiddenByStyles(page *html.Node) map[string]bool {
	hidden, shown := map[string]bool{}, []string{}
	for n := range page.Descendants() {
		if n.DataAtom != atom.Style || slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
			return a.Key == "media" && a.Val != "" && a.Val != "all" && a.Val != "screen"
		}) {
			continue
		}
		styles := styleComment.ReplaceAllString(plain(n), "")
		depth := 0
		end := 0
		for _, at := range styleRule.FindAllStringSubmatchIndex(styles, -1) {
			// a rule in another one is conditional, such as for print
			depth += strings.Count(styles[end:at[0]], "{") - strings.Count(styles[end:at[0]], "}")
			end = at[1]
			for selector := range strings.SplitSeq(styles[at[2]:at[3]], ",") {
				selector = strings.TrimSpace(selector[strings.LastIndex(selector, ";")+1:])
				switch said := styles[at[4]:at[5]]; {
				case hides(said) && depth == 0 && styleName.FindString(selector) == selector:
					hidden[selector] = true
				case !hides(said) && slices.ContainsFunc(declarations(said), showingStyle.MatchString):
					shown = append(shown, styleName.FindAllString(selector, -1)...)
				}
			}
		}
	}
	for _, name := range shown {
		delete(hidden, name)
	}
	return hidden
}
