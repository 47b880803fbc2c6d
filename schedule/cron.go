package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/netresearch/go-cron"
)

// cronPlan is a cron expression in a zone.
type cronPlan struct {
	spec *cron.SpecSchedule
	zone *time.Location
	// flows says that the expression goes by the hours that pass, not by what the clock shows: its hour field begins with a star.
	flows bool
}

// cronSearch is how many years are looked through for the next time; two leap days can be eight years apart.
const cronSearch = 9

// parser reads the five classic fields. A day of the month and a day of the week are alternatives, as in every crontab.
var parser = cron.MustNewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor | cron.DowOrDom).WithMaxSearchYears(cronSearch)

// parseCron reads a cron expression, and refuses one that never happens with ErrNever.
func parseCron(expr string, zone *time.Location) (cronPlan, error) {
	fields := strings.Fields(expr)
	if len(fields) == 0 || strings.Contains(expr, "=") || strings.HasPrefix(fields[0], "@every") {
		return cronPlan{}, fmt.Errorf("%q is no cron expression", expr)
	}
	parsed, err := parser.Parse(strings.Join(fields, " "))
	if err != nil {
		return cronPlan{}, fmt.Errorf("%q is no cron expression: %w", expr, err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return cronPlan{}, fmt.Errorf("%q is no cron expression", expr)
	}
	spec.Location = time.UTC
	c := cronPlan{spec: spec, zone: zone, flows: fields[0] == "@hourly" || (len(fields) == 5 && strings.HasPrefix(fields[1], "*"))}
	if c.next(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return cronPlan{}, fmt.Errorf("%q: %w", expr, ErrNever)
	}
	return c, nil
}

// next is the first time after another. Clocks that are put forward make a time that they skip happen when they are; a time
// that they show twice happens the first time. What happens every hour goes on happening every hour.
func (c cronPlan) next(after time.Time) time.Time {
	if c.flows {
		return c.nextFlowing(after)
	}
	for wall := wallClock(after.In(c.zone)); ; {
		wall = c.spec.Next(wall)
		if wall.IsZero() {
			return time.Time{}
		}
		if t := Instant(wall, c.zone); t.After(after) {
			return t.UTC()
		}
	}
}

// nextFlowing goes through the stretches of even time one by one.
func (c cronPlan) nextFlowing(after time.Time) time.Time {
	t := after.In(c.zone)
	for range 4 * cronSearch {
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
		// From the second before the change on the new clock, so that a time right at the change counts.
		if c.spec.Next(wallClock(end).Add(-time.Second)).Equal(wallClock(end)) {
			return end.UTC()
		}
		t = end
	}
	return time.Time{}
}
