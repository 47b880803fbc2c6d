// Package schedule parses times that people write ("tomorrow 9am", "every monday", "last week"), computes the next time
// of a recurring plan, and formats times for people. It is pure: the current time and the time zone are arguments.
package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Kind says how a plan recurs.
type Kind string

// The kinds.
const (
	At    Kind = "at"    // once
	Every Kind = "every" // at a fixed interval, such as every 30 minutes
	Cron  Kind = "cron"  // by the wall clock, as a cron expression says
	Rule  Kind = "rule"  // by the wall clock, as a rule of RFC 5545 says: what cron cannot say
)

// Valid reports whether k is one of the kinds.
func (k Kind) Valid() bool { return k == At || k == Every || k == Cron || k == Rule }

// MinInterval is the shortest interval of a plan of kind Every.
const MinInterval = time.Minute

// ErrNever is returned by Open for a cron expression that matches no time, such as 30 February.
var ErrNever = errors.New("that never happens")

// Plan computes the times of a schedule. The zero value has no next time.
type Plan struct {
	kind     Kind
	interval time.Duration
	clock    cronPlan
	rule     rulePlan
}

// Open parses a plan from its kind, specification and time zone. The specification of Every is a Go duration, that of
// Cron a cron expression, that of Rule a rule of RFC 5545, and that of At is ignored.
func Open(kind Kind, spec string, zone *time.Location) (Plan, error) {
	switch kind {
	case At:
		return Plan{kind: At}, nil
	case Every:
		every, err := time.ParseDuration(spec)
		if err != nil || every < MinInterval {
			return Plan{}, fmt.Errorf("%q is not an interval", spec)
		}
		return Plan{kind: Every, interval: every}, nil
	case Cron:
		c, err := parseCron(spec, zone)
		return Plan{kind: Cron, clock: c}, err
	case Rule:
		r, err := parseRule(spec, zone)
		return Plan{kind: Rule, rule: r}, err
	default:
		return Plan{}, fmt.Errorf("a plan of kind %q is unknown", kind)
	}
}

// Next returns the plan's time after planned; the zero time if there is none.
func (p Plan) Next(planned time.Time) time.Time {
	switch p.kind {
	case Every:
		return planned.Add(p.interval)
	case Cron:
		return p.clock.next(planned)
	case Rule:
		return p.rule.next(planned)
	default:
		return time.Time{}
	}
}

// maxCountedMissed limits how many missed times Skip counts one by one.
const maxCountedMissed = 1000

// Skip returns the plan's first time after planned that is later than now, and how many times in between were missed, at
// most maxCountedMissed.
func (p Plan) Skip(planned, now time.Time) (next time.Time, missed int) {
	next = p.Next(planned)
	if p.kind == Every && next.Before(now) {
		past := now.Sub(planned)
		return now.Add(p.interval - past%p.interval), int(min(past/p.interval, maxCountedMissed))
	}
	for !next.IsZero() && !next.After(now) {
		missed++
		if missed == maxCountedMissed {
			return p.Next(now), missed
		}
		next = p.Next(next)
	}
	return next, missed
}

// Upcoming returns the next n times after a time of the plan.
func (p Plan) Upcoming(after time.Time, n int) []time.Time {
	var times []time.Time
	for t := p.Next(after); !t.IsZero() && len(times) < n; t = p.Next(t) {
		times = append(times, t)
	}
	return times
}

// InZone returns the instant at which the clocks of a zone show the date and time of wall. The zone of wall is ignored.
// If the clocks show that time twice, InZone returns the first instant; if they skip it, the first instant after the gap.
func InZone(wall time.Time, zone *time.Location) time.Time {
	wall = wallClock(wall)
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	// For a time that is skipped or shown twice, Date returns an instant next to the change of the clocks. The change is then one of
	// the bounds of the zone around t.
	start, end := t.ZoneBounds()
	switch shown := wallClock(t); {
	case shown.Before(wall) && !end.IsZero():
		return end
	case shown.After(wall) && !start.IsZero():
		return start
	case start.IsZero():
		return t
	}
	_, offset := start.Add(-time.Nanosecond).Zone()
	if first := wall.Add(-time.Duration(offset) * time.Second).In(zone); first.Before(start) && wallClock(first).Equal(wall) {
		return first
	}
	return t
}

// DayStart returns the first instant of a day in a zone. That is not always midnight: the clocks may skip it. Days before
// the first and after the last of a month belong to the months around it, as for time.Date.
func DayStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	return InZone(time.Date(year, month, day, 0, 0, 0, 0, time.UTC), zone)
}

// wallClock returns the date and time that the clock of t's zone shows, to the second, as a time in UTC.
func wallClock(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// FormatTime formats a time for people: "Sat 21 Nov, 09:00", with the year when it is not the year of now.
func FormatTime(t, now time.Time, zone *time.Location) string {
	local := t.In(zone)
	if local.Year() == now.In(zone).Year() {
		return local.Format("Mon 2 Jan, 15:04")
	}
	return local.Format("Mon 2 Jan 2006, 15:04")
}
