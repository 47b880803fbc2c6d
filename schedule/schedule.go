// Package schedule knows times: what people write for one ("tomorrow 9am"), what comes again and when, and how a time is
// written back to people. It is pure: the clock and the zone are given to it.
package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Kind says how often something happens.
type Kind string

// The kinds.
const (
	At    Kind = "at"    // once
	Every Kind = "every" // at a fixed distance, such as every 30 minutes
	Cron  Kind = "cron"  // by the wall clock, as cron says it
)

// Valid reports whether k is one of the kinds.
func (k Kind) Valid() bool { return k == At || k == Every || k == Cron }

// MinInterval is the shortest distance between two times of one plan.
const MinInterval = time.Minute

// ErrNever is returned by Open for a plan without a next time, such as one for 30 February.
var ErrNever = errors.New("that never happens")

// Plan is when something happens. Its zero value never happens again.
type Plan struct {
	kind     Kind
	interval time.Duration
	clock    cronPlan
}

// Open reads a plan as it is stored: its kind, its specification and its zone. That of Every is a Go duration, that of Cron a
// cron expression, and At has none.
func Open(kind Kind, spec string, zone *time.Location) (Plan, error) {
	switch kind {
	case At:
		return Plan{kind: At}, nil
	case Every:
		every, err := time.ParseDuration(spec)
		if err != nil || every < MinInterval {
			return Plan{}, fmt.Errorf("%q is no distance between two times", spec)
		}
		return Plan{kind: Every, interval: every}, nil
	case Cron:
		c, err := parseCron(spec, zone)
		return Plan{kind: Cron, clock: c}, err
	default:
		return Plan{}, fmt.Errorf("a plan of kind %q is unknown", kind)
	}
}

// Next is the first time after the one at planned. Zero: there is none.
func (p Plan) Next(planned time.Time) time.Time {
	switch p.kind {
	case Every:
		return planned.Add(p.interval)
	case Cron:
		return p.clock.next(planned)
	default:
		return time.Time{}
	}
}

// maxCountedMissed bounds how many missed times are counted one by one.
const maxCountedMissed = 1000

// Skip is the first time after the one at planned that is later than now, and how many times lie between, at most maxCountedMissed.
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

// Upcoming lists the next n times after one.
func (p Plan) Upcoming(after time.Time, n int) []time.Time {
	var times []time.Time
	for t := p.Next(after); !t.IsZero() && len(times) < n; t = p.Next(t) {
		times = append(times, t)
	}
	return times
}

// Instant is when the clocks of a zone show a wall-clock time: the first time, where they show it twice; the first instant
// after, where they skip it. Only the wall clock of wall counts, not its own zone.
func Instant(wall time.Time, zone *time.Location) time.Time {
	wall = wallClock(wall)
	t := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	// What Date makes of a time that is skipped or shown twice lies beside the change, which is then an end of the stretch of
	// even time around it.
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

// wallClock is the wall clock of t to the second, read as if it were UTC's.
func wallClock(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// FormatTime writes a time as people read it: "Sat 21 Nov, 09:00", with the year when it is another than now's.
func FormatTime(t, now time.Time, zone *time.Location) string {
	local := t.In(zone)
	if local.Year() == now.In(zone).Year() {
		return local.Format("Mon 2 Jan, 15:04")
	}
	return local.Format("Mon 2 Jan 2006, 15:04")
}
