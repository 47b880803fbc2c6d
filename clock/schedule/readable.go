package schedule

import (
	"strings"
	"time"
)

// Readable returns a text for ParseTime and ParseRecurrence: as it is if English reads a time at its beginning, and else
// InEnglish.
func Readable(text string, now time.Time) string {
	if _, rest, err := ParseTime(text, now, English()); err == nil && strings.HasSuffix(text, rest) {
		return text
	}
	if _, _, _, err := ParseRecurrence(text, now, English()); err == nil {
		return text
	}
	return InEnglish(text)
}
