package knowledge

import (
	"strings"

	"multis/internal/text"
	"multis/policy"
)

// MaxTitle is the maximum length of the title of a document, in characters: it stands at the end of answers.
const MaxTitle = 60

// titleOf returns the title of a document: the heading above all of it. It is empty if there is none, if it is long, or if
// it looks like an order to an assistant or has an address.
func titleOf(sections []section) string {
	title := ""
	for i, s := range sections {
		switch {
		case len(s.Path) == 0 && strings.TrimSpace(s.Text) == "":
			continue
		case len(s.Path) == 0, i > 0 && title != "" && s.Path[0] != title:
			return ""
		}
		title = s.Path[0]
	}
	if clean, ok := CleanTitle(title); ok {
		return clean
	}
	return ""
}

// CleanTitle returns a title as it is stored. It reports false for one that customers must not read: it is empty or long,
// has an address or looks like an order to an assistant.
func CleanTitle(title string) (string, bool) {
	title = strings.TrimRight(text.CollapseSpaces(PrintableLine(text.Clean(title))), " .:;,")
	isFit := title != "" && len([]rune(title)) <= MaxTitle && !policy.GivesOrders(title) && !strings.ContainsAny(title, "()/@<>")
	return title, isFit
}
