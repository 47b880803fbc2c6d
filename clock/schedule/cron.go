package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// cronPlan is a cron expression in a time zone.
type cronPlan struct {
	spec *cron.SpecSchedule
	zone *time.Location
	// byElapsedTime says that the expression counts elapsed hours and ignores changes of the clocks: its hour field begins with a star.
	byElapsedTime bool
}

// maxCronYears is how many years are searched for the next time. Two leap days can be eight years apart, as 1896 and 1904.
const maxCronYears = 9

// cronParser parses the five classic fields. A day of the month and a day of the week are alternatives, as in every crontab.
var cronParser = cron.MustNewParser(
	cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom,
).WithMaxSearchYears(maxCronYears)

// parseCron parses a cron expression. It returns ErrNever for one that matches no time.
func parseCron(expr string, zone *time.Location) (cronPlan, error) {
	fields := strings.Fields(expr)
	if len(fields) == 0 || strings.Contains(expr, "=") || strings.HasPrefix(fields[0], "@every") {
		return cronPlan{}, fmt.Errorf("%q is not a cron expression", expr)
	}
	parsed, err := cronParser.Parse(strings.Join(fields, " "))
	if err != nil {
		return cronPlan{}, fmt.Errorf("%q is not a cron expression: %w", expr, err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return cronPlan{}, fmt.Errorf("%q is not a cron expression", expr)
	}
	spec.Location = time.UTC
	c := cronPlan{spec: spec, zone: zone, byElapsedTime: fields[0] == "@hourly" || (len(fields) == 5 && strings.HasPrefix(fields[1], "*"))}
	if c.next(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return cronPlan{}, fmt.Errorf("%q: %w", expr, ErrNever)
	}
	return c, nil
}

// next returns the first time after another. An hourly expression stays hourly across a change of the clocks.
func (c cronPlan) next(after time.Time) time.Time {
	if c.byElapsedTime {
		return c.nextElapsed(after)
	}
	return nextOnClock(after, c.zone, c.spec.Next)
}

// nextElapsed implements next for an expression that counts elapsed hours. It searches the periods of constant offset
// from UTC one after another.
func (c cronPlan) nextElapsed(after time.Time) time.Time {
	t := after.In(c.zone)
	for range 4 * maxCronYears {
		_, offset := t.Zone()
		_, end := t.ZoneBounds()
		wall := c.spec.Next(wallClock(t))
		if wall.IsZero() {
			return time.Time{}
		}
		found := wall.Add(-time.Duration(offset) * time.Second)
		if end.IsZero() || found.Before(end) {
			return found
		}
		// Search from the second before the change on the new clock, so that a time right at the change is found.
		if c.spec.Next(wallClock(end).Add(-time.Second)).Equal(wallClock(end)) {
			return end.UTC()
		}
		t = end
	}
	return time.Time{}
}
