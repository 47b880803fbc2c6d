package knowledge

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isHidden reports whether nobody sees an element, by itself or by one of the selectors that hiddenByStyles returned.
// That is no evidence for a whole page, which a script may show later.
func isHidden(n *html.Node, selectors map[string]bool) bool {
	if n.DataAtom == atom.Html || n.DataAtom == atom.Body {
		return false
	}
	isClosed := n.DataAtom == atom.Dialog
	for _, a := range n.Attr {
		switch {
		case a.Key == "hidden", a.Key == "aria-hidden" && strings.EqualFold(a.Val, "true"), a.Key == "style" && hides(a.Val),
			a.Key == "id" && selectors["#"+a.Val]:
			return true
		case a.Key == "class" && slices.ContainsFunc(strings.Fields(a.Val), func(class string) bool { return selectors["."+class] }):
			return true
		}
		isClosed = isClosed && a.Key != "open"
	}
	return isClosed
}

var (
	styleComment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	styleSpace   = regexp.MustCompile(`\s`)
	// hidingStyle knows text that is far outside of the page by its offset of at least 999. A negative margin is none: it centres whole pages.
	hidingStyle = regexp.MustCompile(`^(display:none|visibility:(hidden|collapse)|font-size:[+-]?0*\.?0*(%|[a-z]+)?|` +
		`(text-indent|left|right|top|bottom):-(999|\d{4,})(\.\d+)?[a-z]+)(!important)?$`)
	showingStyle = regexp.MustCompile(`^(display|visibility|font-size|text-indent|left|right|top|bottom):`)
	styleRule    = regexp.MustCompile(`([^{}]*)\{([^{}]*)\}`)
	styleName    = regexp.MustCompile(`[.#][\w-]+`)
)

// declarations returns the declarations of a style, such as "display:none".
func declarations(style string) []string {
	return strings.Split(styleSpace.ReplaceAllString(styleComment.ReplaceAllString(strings.ToLower(style), ""), ""), ";")
}

// hides reports whether the style of an element hides its text. Much that has no opacity is faded in by a script.
func hides(style string) bool {
	return slices.ContainsFunc(declarations(style), hidingStyle.MatchString)
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
