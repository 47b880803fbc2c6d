package knowledge

import (
	"slices"
	"strings"

	"multis/internal/text"
)

const (
	// maxUnseenShown is how many of the lines that cannot be seen are quoted to the owner.
	maxUnseenShown = 3
	// maxUnseenLine is the length to which such a line is cut, in characters.
	maxUnseenLine = 80
)

// unseen collects the text of a file that a reader of the file does not see, such as hidden text of Word. It is not indexed, and the owner
// is told.
type unseen struct {
	lines int
	first []string
}

// add adds a text. Text without letters and digits is not worth a word.
func (u *unseen) add(said string) {
	for line := range strings.Lines(said) {
		if letters(line) == "" {
			continue
		}
		if u.lines++; len(u.first) < maxUnseenShown {
			u.first = append(u.first, "“"+text.Clip(text.OneLine(strings.ToValidUTF8(line, "")), maxUnseenLine)+"”")
		}
	}
}

// notes returns what the owner is told: nothing, or one sentence.
func (u *unseen) notes() []string {
	if u.lines == 0 {
		return nil
	}
	shown := slices.Clone(u.first)
	if more := u.lines - len(shown); more > 0 {
		shown = append(shown, text.Count(more, "other"))
	}
	return []string{text.Count(u.lines, "line") + " of it cannot be seen, so I left " + text.Plural(u.lines, "it", "them") + " out: " +
		text.List(shown) + "."}
}
