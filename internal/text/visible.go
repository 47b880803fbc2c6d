package text

import (
	"fmt"
	"strings"
)

// Visible returns s with everything that Clean removes written as in a YAML text in quotes, such as \u202E for a mark of
// the writing direction. It is for values that a person should see as they are.
func Visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case Clean(string(r)) == string(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	return b.String()
}
