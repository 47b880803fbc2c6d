package admin

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"multis/clock/schedule"
	"multis/internal/language/orders"
	"multis/store"
)

// moveCommand returns the command that moves a job to a time. One that recurs keeps its times and comes once more.
func moveCommand(job store.Schedule, at string) string {
	if schedule.Kind(job.Kind) == schedule.At {
		return fmt.Sprintf("jobs %d edit %s", job.ID, at)
	}
	return fmt.Sprintf("snooze %d %s", job.ID, at)
}

var (
	// clockPattern matches a time of day in English.
	clockPattern = regexp.MustCompile(`(?i)^(?:at )?(?:\d{1,2}:\d{2}|\d{1,2} ?[ap]m|noon|midnight)$`)
	// hourPattern matches an hour alone.
	hourPattern = regexp.MustCompile(`^(?:at )?(\d{1,2})$`)
)

// movedTo returns the time to which a line moves a job: "to friday at 11". A time of day is on the day of the job, and a day has the
// job's time of day.
func (sc *scheduleCommands) movedTo(r request, job store.Schedule, line string) (at time.Time, isTime bool) {
	if job.NextAt == nil {
		return time.Time{}, false
	}
	now := sc.room.writtenAt(r).In(sc.settings.Zone)
	next := job.NextAt.In(sc.settings.Zone)
	words := strings.Fields(orders.WithoutOldTime(line))
	for i := 1; i < len(words); i++ {
		tail := schedule.Readable(strings.Trim(strings.Join(words[i:], " "), ".!? "), now)
		if m := hourPattern.FindStringSubmatch(tail); m != nil {
			hour := int(parseNumber(m[1]))
			if hour < 12 && next.Hour() >= 12 {
				hour += 12
			}
			if hour > 23 {
				return time.Time{}, false
			}
			return onDayOf(next, hour, 0), true
		}
		at, rest, err := schedule.ParseTime(tail, now, schedule.English())
		if err != nil || rest != "" {
			continue
		}
		at = at.In(sc.settings.Zone)
		if clockPattern.MatchString(tail) {
			return onDayOf(next, at.Hour(), at.Minute()), true
		}
		const probe = " 04:37" // which is read behind a day, and not behind a time
		timed, rest, err := schedule.ParseTime(tail+probe, now, schedule.English())
		if err == nil && rest == "" && strings.HasSuffix(timed.In(sc.settings.Zone).Format(time.DateTime), "04:37:00") {
			return onDayOf(at, next.Hour(), next.Minute()), true
		}
		return at, true
	}
	return time.Time{}, false
}

// onDayOf returns a time of day on the day of another time.
func onDayOf(day time.Time, hour, minute int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, day.Location())
}
