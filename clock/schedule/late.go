package schedule

import (
	"fmt"
	"time"

	"multis/internal/text"
)

// MinLate is the shortest delay that is reported as late.
const MinLate = time.Minute

// LateNotice returns a note about a late start: "(40 min late: it was due Fri 20 Nov, 19:00)". missed is how many later
// times were missed, too. The note is empty if the delay is shorter than MinLate.
func LateNotice(due, started time.Time, missed int, zone *time.Location) string {
	late := started.Sub(due)
	if late < MinLate {
		return ""
	}
	text := fmt.Sprintf("%s late: it was due %s", text.Duration(late), FormatTime(due, started, zone))
	switch {
	case missed == 1:
		text += ", and 1 time after that"
	case missed > 1:
		text += fmt.Sprintf(", and %d times after that", missed)
	}
	return "(" + text + ")"
}
