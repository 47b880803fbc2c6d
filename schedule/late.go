package schedule

import (
	"fmt"
	"time"
)

// LateNote is the delay from which on something is called late.
const LateNote = time.Minute

// Late is the line below what came late: "(40 min late: it was due Fri 20 Nov, 19:00)", with how many further times were missed. Empty
// when it came in time.
func Late(due, began time.Time, missed int, zone *time.Location) string {
	late := began.Sub(due)
	if late < LateNote {
		return ""
	}
	text := fmt.Sprintf("%s late: it was due %s", Short(late), Text(due, began, zone))
	switch {
	case missed == 1:
		text += ", and 1 time after that"
	case missed > 1:
		text += fmt.Sprintf(", and %d times after that", missed)
	}
	return "(" + text + ")"
}

// Short writes how long something takes, in its biggest unit: "3 days", "2 h", "40 min", "30 s".
func Short(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	default:
		return fmt.Sprintf("%d s", int(max(d, 0).Seconds()))
	}
}
